-- grain: one row is one cluster's contribution to one rate of a cell of modality.prospective_cell (see stat.sums).
-- columns: task, pool (the thinking mode: the cells that a task's median is over), cell, statistic (predicted_change, executed_change, gap), kind,
-- cluster_id, numerator, denominator
-- serves: the intervals of Table 3 and of Fig. 2 and 5 of seed 000
WITH cluster_count AS (
    SELECT
        task, thinking::VARCHAR AS pool, concat_ws('|', model_id, thinking, arm) AS cell, cluster_id, count(*) AS n_items,
        count(*) FILTER (WHERE predicted_changed) AS n_predicted_changed, count(*) FILTER (WHERE executed_changed) AS n_executed_changed
    FROM modality.prospective_item
    GROUP BY task, pool, cell, cluster_id
)
SELECT
    task, pool, cell, 'predicted_change' AS statistic, 'rate' AS kind, cluster_id,
    n_predicted_changed::DOUBLE AS numerator, n_items::DOUBLE AS denominator
FROM cluster_count
UNION ALL
SELECT task, pool, cell, 'executed_change', 'rate', cluster_id, n_executed_changed::DOUBLE, n_items::DOUBLE FROM cluster_count
UNION ALL
SELECT task, pool, cell, 'gap', 'difference', cluster_id, (n_executed_changed - n_predicted_changed)::DOUBLE, n_items::DOUBLE FROM cluster_count
