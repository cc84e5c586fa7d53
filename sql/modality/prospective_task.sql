-- grain: one row is one task in one thinking mode, over its cells (models × input shown).
-- columns: thinking, task, n_cells (with items), n_empty_cells (asked for, without), n_items (summed over cells), n_clusters; predicted_change,
-- executed_change, gap (medians over cells) with _min and _max (their range); n_above, n_on, n_below (cells whose executed rate exceeds, equals,
-- falls short of the predicted one: their place about the diagonal of Fig. 2)
-- serves: Table 3 of seed 000 (its rows are thinking = false)
-- decided: the gap of a task is the median of its cells' gaps, not the difference of two medians; empty cells are skipped.
WITH cell AS (
    SELECT
        thinking, task, count(*) FILTER (WHERE n_items > 0) AS n_cells, count(*) FILTER (WHERE n_items = 0) AS n_empty_cells,
        sum(n_items)::BIGINT AS n_items,
        median(predicted_change) AS predicted_change, min(predicted_change) AS predicted_change_min, max(predicted_change) AS predicted_change_max,
        median(executed_change) AS executed_change, min(executed_change) AS executed_change_min, max(executed_change) AS executed_change_max,
        median(gap) AS gap, min(gap) AS gap_min, max(gap) AS gap_max,
        count(*) FILTER (WHERE n_executed_changed > n_predicted_changed) AS n_above,
        count(*) FILTER (WHERE n_executed_changed = n_predicted_changed AND n_items > 0) AS n_on,
        count(*) FILTER (WHERE n_executed_changed < n_predicted_changed) AS n_below
    FROM modality.prospective_cell
    GROUP BY thinking, task
),
cluster_count AS (
    SELECT thinking, task, count(DISTINCT cluster_id) AS n_clusters
    FROM modality.prospective_item
    GROUP BY thinking, task
)
SELECT
    thinking, task, n_cells, n_empty_cells, n_items, COALESCE(n_clusters, 0) AS n_clusters,
    predicted_change, predicted_change_min, predicted_change_max, executed_change, executed_change_min, executed_change_max,
    gap, gap_min, gap_max, n_above, n_on, n_below
FROM cell
LEFT JOIN cluster_count USING (thinking, task)
