-- promise: arms never fan out in a join: one answer a request, one row an item.
-- severity: error
-- grain: one row is one key that several rows of arm.answer or arm.item share.
-- columns: view_name, key_value, n (rows)
SELECT
    'arm.answer' AS view_name, concat_ws(', ', model_id, thinking, task, item_id, arm, template, replicate) AS key_value, count(*) AS n
FROM arm.answer
GROUP BY model_id, thinking, task, item_id, arm, template, replicate
HAVING count(*) > 1
UNION ALL
SELECT 'arm.item', concat_ws(', ', model_id, thinking, task, item_id), count(*)
FROM arm.item
GROUP BY model_id, thinking, task, item_id
HAVING count(*) > 1
