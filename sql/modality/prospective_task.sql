-- grain: one row is one task in one thinking mode, over its cells (models × input shown).
-- columns: thinking, task, n_cells (with items), n_empty_cells (asked for, without), n_items (summed over cells), n_clusters; predicted_change,
-- executed_change, gap (medians over cells) with _min and _max (their range) and _low and _high (interval of the median); n_above, n_on, n_below
-- (cells whose executed rate exceeds, equals, falls short of the predicted one: their place about the diagonal of Fig. 2); resamples, seed
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
),
task AS (
    SELECT *, concat_ws('|', task, thinking) AS pool
    FROM cell
    LEFT JOIN cluster_count USING (thinking, task)
)
SELECT
    task.thinking, task.task, task.n_cells, task.n_empty_cells, task.n_items, COALESCE(task.n_clusters, 0) AS n_clusters,
    task.predicted_change, task.predicted_change_min, task.predicted_change_max, predicted.low AS predicted_change_low, predicted.high AS predicted_change_high,
    task.executed_change, task.executed_change_min, task.executed_change_max, executed.low AS executed_change_low, executed.high AS executed_change_high,
    task.gap, task.gap_min, task.gap_max, gap.low AS gap_low, gap.high AS gap_high,
    task.n_above, task.n_on, task.n_below, gap.few_clusters, gap.resamples, gap.seed
FROM task
LEFT JOIN modality.prospective_interval AS predicted ON task.pool = predicted.cell AND predicted.statistic = 'predicted_change'
LEFT JOIN modality.prospective_interval AS executed ON task.pool = executed.cell AND executed.statistic = 'executed_change'
LEFT JOIN modality.prospective_interval AS gap ON task.pool = gap.cell AND gap.statistic = 'gap'
