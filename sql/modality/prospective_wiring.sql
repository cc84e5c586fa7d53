-- grain: one row is one cell under one wiring: model × thinking × task × input shown (arm A or B) × wiring.
-- columns: model_id, thinking, task, arm, wiring (mixed|assess|plain), n_items (the same in the three), n_clusters, n_executed_changed,
-- executed_change, predicted_change (of prospective_cell, on its own item set), each with _low, _high (interval) and _se; n_predicted_changed, n_predicted
-- (numerator and denominator of predicted_change); few_clusters, resamples, seed (of executed_change)
-- serves: the cells of Table 8 of seed 000
-- decided: predicted_change is Table 3's, the same under every wiring, as in the paper.
WITH asked_row AS (
    SELECT
        cell.model_id, cell.thinking, cell.task, cell.arm, wirings.wiring,
        cell.predicted_change, cell.predicted_change_low, cell.predicted_change_high, cell.predicted_change_se,
        cell.n_predicted_changed, cell.n_items AS n_predicted, concat_ws('|', cell.task, cell.model_id, cell.thinking, cell.arm, wirings.wiring) AS cell
    FROM modality.prospective_cell AS cell
    CROSS JOIN (VALUES ('mixed'), ('assess'), ('plain')) AS wirings (wiring)
),
item_count AS (
    SELECT
        model_id, thinking, task, arm, wiring, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        count(*) FILTER (WHERE executed_changed) AS n_executed_changed
    FROM modality.prospective_wiring_item
    GROUP BY model_id, thinking, task, arm, wiring
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.arm, asked.wiring,
    COALESCE(item.n_items, 0) AS n_items, COALESCE(item.n_clusters, 0) AS n_clusters, COALESCE(item.n_executed_changed, 0) AS n_executed_changed,
    item.n_executed_changed::DOUBLE / nullif(item.n_items, 0) AS executed_change,
    executed.low AS executed_change_low, executed.high AS executed_change_high, executed.se AS executed_change_se,
    asked.predicted_change, asked.predicted_change_low, asked.predicted_change_high, asked.predicted_change_se,
    asked.n_predicted_changed, asked.n_predicted, executed.few_clusters, executed.resamples, executed.seed
FROM asked_row AS asked
LEFT JOIN item_count AS item USING (model_id, thinking, task, arm, wiring)
LEFT JOIN modality.prospective_wiring_interval AS executed ON asked.cell = executed.cell
