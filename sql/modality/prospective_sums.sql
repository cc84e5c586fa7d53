-- grain: one row is one cluster's contribution to one rate of a cell of modality.prospective_cell (see stat.sums).
-- columns: task, pool (task|thinking, and all|thinking of predicted_change), cell (task|model|thinking|arm), statistic (predicted_change,
-- executed_change, gap), kind, cluster_id, numerator, denominator
-- serves: the intervals of Table 3 and of Fig. 2 and 5 of seed 000
WITH cluster_count AS (
    SELECT
        task, thinking, concat_ws('|', task, model_id, thinking, arm) AS cell, concat_ws('|', task, thinking) AS pool, cluster_id,
        count(*)::DOUBLE AS n_items, count(*) FILTER (WHERE predicted_changed)::DOUBLE AS n_predicted_changed,
        count(*) FILTER (WHERE executed_changed)::DOUBLE AS n_executed_changed
    FROM modality.prospective_item
    GROUP BY task, thinking, model_id, arm, cluster_id
)
SELECT
    task, concat(pool, ',all|', thinking) AS pool, cell, 'predicted_change' AS statistic, 'rate' AS kind, cluster_id,
    n_predicted_changed AS numerator, n_items AS denominator
FROM cluster_count
UNION ALL
SELECT task, pool, cell, 'executed_change', 'rate', cluster_id, n_executed_changed, n_items FROM cluster_count
UNION ALL
SELECT task, pool, cell, 'gap', 'difference', cluster_id, n_executed_changed - n_predicted_changed, n_items FROM cluster_count
