-- grain: one row is one item of a cell under one wiring, whose single and joint answers were read under both templates.
-- columns: model_id, thinking, task, arm (A|B: the input that was shown), wiring (mixed: single from assess, joint from plain, as in Table 3;
-- assess, plain: both from that template), item_id, cluster_id, executed_changed (the joint answer differs from the single one)
-- serves: A.3 of seed 000
WITH read_item AS (
    SELECT model_id, thinking, task, arm, item_id, cluster_id, assess_answer, plain_answer, joint_assess_answer, joint_plain_answer
    FROM modality.single
    WHERE assess_answer IS NOT NULL AND plain_answer IS NOT NULL AND joint_assess_answer IS NOT NULL AND joint_plain_answer IS NOT NULL
)
SELECT model_id, thinking, task, arm, 'mixed' AS wiring, item_id, cluster_id, assess_answer <> joint_plain_answer AS executed_changed
FROM read_item
UNION ALL
SELECT model_id, thinking, task, arm, 'assess' AS wiring, item_id, cluster_id, assess_answer <> joint_assess_answer AS executed_changed
FROM read_item
UNION ALL
SELECT model_id, thinking, task, arm, 'plain' AS wiring, item_id, cluster_id, plain_answer <> joint_plain_answer AS executed_changed
FROM read_item
