-- grain: one row is one cluster's contribution to one rate of tooluse.poer (see stat.sums).
-- columns: task, cell (model|thinking|position), statistic (poer), kind, cluster_id, numerator, denominator
-- serves: Fig. 5b of seed 001
-- cache: whole
WITH placed AS (
    SELECT model_id, thinking, task, cluster_id, position, saturated FROM tooluse.later_call
    UNION ALL
    SELECT model_id, thinking, task, cluster_id, 'all' AS position, saturated FROM tooluse.later_call
)
SELECT
    task, CAST(NULL AS VARCHAR) AS pool, concat_ws('|', model_id, thinking, position) AS cell, 'poer' AS statistic, 'rate' AS kind, cluster_id,
    count(*) FILTER (WHERE saturated)::DOUBLE AS numerator, count(*)::DOUBLE AS denominator
FROM placed
GROUP BY task, model_id, thinking, position, cluster_id
