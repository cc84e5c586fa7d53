-- grain: one row is one call of tooluse.open_call of the labelled tool rollouts (replicate arm.replicate) in one part of them.
-- columns: model_id, thinking, task, item_id, cluster_id, part (veg: all calls; veg_correct, veg_incorrect: by the rollout's answer), veg (NULL: not read)
-- serves: Table 14 of seed 001
WITH labelled AS (
    SELECT call.model_id, call.thinking, call.task, call.item_id, call.cluster_id, call.correct, call.veg
    FROM tooluse.open_call AS call
    INNER JOIN stat.parameter AS parameter ON parameter.name = 'arm.replicate' AND call.replicate = CAST(parameter.value AS INTEGER)
    WHERE call.arm = 'tool' AND call.template = 'free'
)
SELECT model_id, thinking, task, item_id, cluster_id, 'veg' AS part, veg FROM labelled
UNION ALL
SELECT model_id, thinking, task, item_id, cluster_id, CASE WHEN correct THEN 'veg_correct' ELSE 'veg_incorrect' END AS part, veg
FROM labelled
WHERE correct IS NOT NULL
