-- grain: one row is one cell under one wiring: model × thinking × task × input shown (arm A or B) × wiring.
-- columns: model_id, thinking, task, arm, wiring (mixed|assess|plain), n_items (the same in the three), n_clusters, n_executed_changed,
-- executed_change, predicted_change (of prospective_cell, on its own item set), n_predicted_changed, n_predicted (its numerator and denominator)
-- serves: the cells of Table 8 of seed 000
-- decided: predicted_change is Table 3's, the same under every wiring, as in the paper.
WITH asked_row AS (
    SELECT
        cell.model_id, cell.thinking, cell.task, cell.arm, wirings.wiring,
        cell.predicted_change, cell.n_predicted_changed, cell.n_items AS n_predicted
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
    model_id, thinking, task, arm, wiring, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    COALESCE(n_executed_changed, 0) AS n_executed_changed, n_executed_changed::DOUBLE / nullif(n_items, 0) AS executed_change,
    predicted_change, n_predicted_changed, n_predicted
FROM asked_row
LEFT JOIN item_count USING (model_id, thinking, task, arm, wiring)
