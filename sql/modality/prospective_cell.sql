-- grain: one row is one cell: model × thinking × task × input shown (arm A or B) that the study asks a self-report of.
-- columns: model_id, thinking, task, arm, n_asked (items asked for), n_items (those in prospective_item), n_clusters, n_predicted_changed,
-- n_executed_changed, predicted_change, executed_change (fractions of n_items), gap (executed - predicted)
-- serves: Fig. 2 and 5 of seed 000; the cells of Table 3
-- decided: a cell that was asked for and has no item is a row with n_items 0 and NULL rates.
WITH asked_cell AS (
    SELECT model_id, thinking, task, arm, count(*) AS n_asked
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
)
SELECT
    model_id, thinking, task, arm, n_asked,
    COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    COALESCE(n_predicted_changed, 0) AS n_predicted_changed, COALESCE(n_executed_changed, 0) AS n_executed_changed,
    n_predicted_changed::DOUBLE / nullif(n_items, 0) AS predicted_change,
    n_executed_changed::DOUBLE / nullif(n_items, 0) AS executed_change,
    (n_executed_changed - n_predicted_changed)::DOUBLE / nullif(n_items, 0) AS gap
FROM asked_cell
LEFT JOIN item_count USING (model_id, thinking, task, arm)
