-- grain: one row is one cell: model x thinking x task x input shown (arm A or B) that the study asks a self-report of.
-- columns: model_id, thinking, task, arm, n_asked (items asked for), n_items (those in prospective_item), n_clusters, n_predicted_changed,
-- n_executed_changed, predicted_change, executed_change (fractions of n_items), gap (executed - predicted), each with _low, _high (interval) and _se;
-- few_clusters, resamples, seed (of the intervals)
-- serves: Fig. 2 and 5 of seed 000; the cells of Table 3
-- decided: a cell that was asked for and has no item is a row with n_items 0 and NULL rates.
WITH asked_cell AS (
    SELECT model_id, thinking, task, arm, concat_ws('|', model_id, thinking, arm) AS cell, count(*) AS n_asked
    FROM modality.single
    GROUP BY model_id, thinking, task, arm
),
item_count AS (
    SELECT
        model_id, thinking, task, arm, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        count(*) FILTER (WHERE predicted_changed) AS n_predicted_changed,
        count(*) FILTER (WHERE executed_changed) AS n_executed_changed
    FROM modality.prospective_item
    GROUP BY model_id, thinking, task, arm
),
cell_interval AS (
    SELECT
        task, cell,
        max(low) FILTER (WHERE statistic = 'predicted_change') AS predicted_change_low,
        max(high) FILTER (WHERE statistic = 'predicted_change') AS predicted_change_high,
        max(se) FILTER (WHERE statistic = 'predicted_change') AS predicted_change_se,
        max(low) FILTER (WHERE statistic = 'executed_change') AS executed_change_low,
        max(high) FILTER (WHERE statistic = 'executed_change') AS executed_change_high,
        max(se) FILTER (WHERE statistic = 'executed_change') AS executed_change_se,
        max(low) FILTER (WHERE statistic = 'gap') AS gap_low,
        max(high) FILTER (WHERE statistic = 'gap') AS gap_high,
        max(se) FILTER (WHERE statistic = 'gap') AS gap_se,
        bool_or(few_clusters) AS few_clusters, max(resamples) AS resamples, max(seed) AS seed
    FROM modality.prospective_interval
    GROUP BY task, cell
)
SELECT
    model_id, thinking, task, arm, n_asked,
    COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    COALESCE(n_predicted_changed, 0) AS n_predicted_changed, COALESCE(n_executed_changed, 0) AS n_executed_changed,
    n_predicted_changed::DOUBLE / nullif(n_items, 0) AS predicted_change, predicted_change_low, predicted_change_high, predicted_change_se,
    n_executed_changed::DOUBLE / nullif(n_items, 0) AS executed_change, executed_change_low, executed_change_high, executed_change_se,
    (n_executed_changed - n_predicted_changed)::DOUBLE / nullif(n_items, 0) AS gap, gap_low, gap_high, gap_se,
    few_clusters, resamples, seed
FROM asked_cell
LEFT JOIN item_count USING (model_id, thinking, task, arm)
LEFT JOIN cell_interval USING (task, cell)
