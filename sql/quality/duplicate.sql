-- promise: no row of a raw table stands there twice under its key.
-- severity: error
-- grain: one row is one key of a raw table that several rows share.
-- columns: raw_table, key_columns, key_value, n (rows)
-- decided: a cell of the grid has one request, but where it is a rollout each turn may be a request of its own.
-- scans: completion 2, item 1, grid 2, run 1, rollout 1, observation 1, probe 1, image 1
SELECT 'completion' AS raw_table, 'completion_id' AS key_columns, completion_id AS key_value, count(*) AS n
FROM raw.completion
GROUP BY completion_id
HAVING count(*) > 1
UNION ALL
SELECT 'completion', 'request_key, attempt, rollout_id, turn', concat_ws(', ', request_key, attempt, rollout_id, turn), count(*)
FROM raw.completion
GROUP BY request_key, attempt, rollout_id, turn
HAVING count(*) > 1
UNION ALL
SELECT 'item', 'item_id', item_id, count(*)
FROM raw.item
GROUP BY item_id
HAVING count(*) > 1
UNION ALL
SELECT 'grid', 'study, grid_id, request_key', concat_ws(', ', study, grid_id, request_key), count(*)
FROM raw.grid
GROUP BY study, grid_id, request_key
HAVING count(*) > 1
UNION ALL
SELECT
    'grid', 'study, grid_id, model_id, thinking, task, item_id, arm, template, replicate',
    concat_ws(', ', study, grid_id, model_id, thinking, task, item_id, arm, template, replicate), count(*)
FROM raw.grid
WHERE protocol <> 'tool_use'
GROUP BY study, grid_id, protocol, model_id, thinking, task, item_id, arm, template, replicate
HAVING count(*) > 1
UNION ALL
SELECT 'run', 'run_id', run_id, count(*)
FROM raw.run
GROUP BY run_id
HAVING count(*) > 1
UNION ALL
SELECT 'rollout', 'rollout_id', rollout_id, count(*)
FROM raw.rollout
GROUP BY rollout_id
HAVING count(*) > 1
UNION ALL
SELECT 'observation', 'rollout_id, turn, call_index, draw', concat_ws(', ', rollout_id, turn, call_index, draw), count(*)
FROM raw.observation
GROUP BY rollout_id, turn, call_index, draw
HAVING count(*) > 1
UNION ALL
SELECT 'probe', 'rollout_id, turn, call_index, stage, draw, attempt', concat_ws(', ', rollout_id, turn, call_index, stage, draw, attempt), count(*)
FROM raw.probe
GROUP BY rollout_id, turn, call_index, stage, draw, attempt
HAVING count(*) > 1
UNION ALL
SELECT 'image', 'image_sha256', image_sha256, count(*)
FROM raw.image
GROUP BY image_sha256
HAVING count(*) > 1
