-- grain: one row is one task in one thinking mode, over its cells (models × input shown).
-- columns: thinking, task, n_cells (with items), n_empty_cells (asked for, without), n_items (summed over cells), n_clusters; predicted_change,
-- executed_change, gap (medians over cells) with _min and _max (their range) and _low and _high (interval of the median); resamples, seed; n_above, n_on, n_below (cells whose executed rate exceeds, equals,
-- falls short of the predicted one: their place about the diagonal of Fig. 2)
-- serves: Table 3 of seed 000 (its rows are thinking = false)
-- decided: the gap of a task is the median of its cells' gaps, not the difference of two medians; empty cells are skipped. Where all resamples give
-- one median, its ends are the medians of its cells' own ends.
WITH cell AS (
    SELECT
        thinking, task, count(*) FILTER (WHERE n_items > 0) AS n_cells, count(*) FILTER (WHERE n_items = 0) AS n_empty_cells,
        sum(n_items)::BIGINT AS n_items,
        median(predicted_change) AS predicted_change, min(predicted_change) AS predicted_change_min, max(predicted_change) AS predicted_change_max,
        median(executed_change) AS executed_change, min(executed_change) AS executed_change_min, max(executed_change) AS executed_change_max,
        median(gap) AS gap, min(gap) AS gap_min, max(gap) AS gap_max,
        median(predicted_change_low) AS predicted_change_cell_low, median(predicted_change_high) AS predicted_change_cell_high,
        median(executed_change_low) AS executed_change_cell_low, median(executed_change_high) AS executed_change_cell_high,
        median(gap_low) AS gap_cell_low, median(gap_high) AS gap_cell_high,
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
),
median_interval AS (
    SELECT
        task, pool = 'true' AS thinking,
        max(low) FILTER (WHERE statistic = 'predicted_change' AND low < high) AS predicted_change_low,
        max(high) FILTER (WHERE statistic = 'predicted_change' AND low < high) AS predicted_change_high,
        max(low) FILTER (WHERE statistic = 'executed_change' AND low < high) AS executed_change_low,
        max(high) FILTER (WHERE statistic = 'executed_change' AND low < high) AS executed_change_high,
        max(low) FILTER (WHERE statistic = 'gap' AND low < high) AS gap_low,
        max(high) FILTER (WHERE statistic = 'gap' AND low < high) AS gap_high,
        max(resamples) AS resamples, max(seed) AS seed
    FROM modality.prospective_median
    GROUP BY task, pool
)
SELECT
    thinking, task, n_cells, n_empty_cells, n_items, COALESCE(n_clusters, 0) AS n_clusters,
    predicted_change, predicted_change_min, predicted_change_max,
    COALESCE(predicted_change_low, predicted_change_cell_low) AS predicted_change_low,
    COALESCE(predicted_change_high, predicted_change_cell_high) AS predicted_change_high,
    executed_change, executed_change_min, executed_change_max,
    COALESCE(executed_change_low, executed_change_cell_low) AS executed_change_low,
    COALESCE(executed_change_high, executed_change_cell_high) AS executed_change_high,
    gap, gap_min, gap_max, COALESCE(gap_low, gap_cell_low) AS gap_low, COALESCE(gap_high, gap_cell_high) AS gap_high,
    resamples, seed, n_above, n_on, n_below
FROM cell
LEFT JOIN cluster_count USING (thinking, task)
LEFT JOIN median_interval USING (thinking, task)
