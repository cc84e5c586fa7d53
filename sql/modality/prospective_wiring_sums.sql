-- grain: one row is one cluster's contribution to the executed rate of a cell of modality.prospective_wiring (see stat.sums).
-- columns: task, pool (task|thinking|wiring, and all|thinking|wiring), cell (task|model|thinking|arm|wiring), statistic (executed_change), kind,
-- cluster_id, numerator, denominator
-- serves: the intervals of Table 8 of seed 000
SELECT
    task, concat(task, '|', thinking, '|', wiring, ',all|', thinking, '|', wiring) AS pool, concat_ws('|', task, model_id, thinking, arm, wiring) AS cell,
    'executed_change' AS statistic, 'rate' AS kind, cluster_id, count(*) FILTER (WHERE executed_changed)::DOUBLE AS numerator, count(*)::DOUBLE AS denominator
FROM modality.prospective_wiring_item
GROUP BY task, model_id, thinking, arm, wiring, cluster_id
