-- grain: one row is one task (or `all`) in one thinking mode under one wiring, over its cells.
-- columns: thinking, task (`all`: the cells of every task), wiring (mixed|assess|plain), n_cells (with items), predicted_change (median of Table 3's
-- cells), executed_change (median over cells), each with _low and _high (interval of the median), executed_change_min,
-- executed_change_max; n_above, n_on, n_below (cells whose executed rate exceeds, equals, falls short of the predicted one), n_positive (cells with any
-- executed change), n_at_least_mixed (cells whose rate is at least the mixed one), correlation_with_mixed (Pearson over cells, NULL where either side does not vary); few_clusters, resamples, seed (of executed_change)
-- serves: Table 8 of seed 000 and the counts of A.3
-- decided: the correlation describes these cells and has no interval.
-- Rates are compared as whole numbers, so that equal ones are equal; a correlation is rounded, for its sums have no fixed order.
WITH wired_cell AS (
    SELECT
        thinking, task, wiring, n_items, predicted_change, executed_change, n_executed_changed,
        max(CASE WHEN wiring = 'mixed' THEN executed_change END) OVER (PARTITION BY model_id, thinking, task, arm) AS mixed_change,
        max(CASE WHEN wiring = 'mixed' THEN n_executed_changed END) OVER (PARTITION BY model_id, thinking, task, arm) AS n_mixed_changed,
        CASE WHEN n_items > 0 AND n_predicted > 0 THEN n_executed_changed * n_predicted - n_predicted_changed * n_items END AS excess
    FROM modality.prospective_wiring
),
grouped_cell AS (
    SELECT thinking, task, wiring, n_items, predicted_change, executed_change, n_executed_changed, mixed_change, n_mixed_changed, excess
    FROM wired_cell
    UNION ALL
    SELECT thinking, 'all' AS task, wiring, n_items, predicted_change, executed_change, n_executed_changed, mixed_change, n_mixed_changed, excess
    FROM wired_cell
),
wired_task AS (
    SELECT
        thinking, task, wiring, count(*) FILTER (WHERE n_items > 0) AS n_cells, median(predicted_change) AS predicted_change,
        median(executed_change) AS executed_change, min(executed_change) AS executed_change_min, max(executed_change) AS executed_change_max,
        count(*) FILTER (WHERE excess > 0) AS n_above,
        count(*) FILTER (WHERE excess = 0) AS n_on,
        count(*) FILTER (WHERE excess < 0) AS n_below,
        count(*) FILTER (WHERE n_executed_changed > 0) AS n_positive,
        count(*) FILTER (WHERE n_items > 0 AND n_executed_changed >= n_mixed_changed) AS n_at_least_mixed,
        CASE
            WHEN min(executed_change) < max(executed_change) AND min(mixed_change) < max(mixed_change)
                THEN round(corr(executed_change, mixed_change), 12)
        END AS correlation_with_mixed
    FROM grouped_cell
    GROUP BY thinking, task, wiring
)
SELECT
    wired.thinking, wired.task, wired.wiring, wired.n_cells,
    wired.predicted_change, predicted.low AS predicted_change_low, predicted.high AS predicted_change_high,
    wired.executed_change, wired.executed_change_min, wired.executed_change_max, executed.low AS executed_change_low, executed.high AS executed_change_high,
    wired.n_above, wired.n_on, wired.n_below, wired.n_positive, wired.n_at_least_mixed, wired.correlation_with_mixed,
    executed.few_clusters, executed.resamples, executed.seed
FROM wired_task AS wired
LEFT JOIN modality.prospective_interval AS predicted
    ON concat_ws('|', wired.task, wired.thinking) = predicted.cell AND predicted.statistic = 'predicted_change'
LEFT JOIN modality.prospective_wiring_interval AS executed ON concat_ws('|', wired.task, wired.thinking, wired.wiring) = executed.cell
