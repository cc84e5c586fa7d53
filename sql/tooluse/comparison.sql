-- grain: one row is one model × thinking against another, its base, on one task; each pair stands in both directions.
-- columns: model_id, thinking, base_model_id, base_thinking, task, n_items (with a finished labelled tool rollout of both), n_clusters, calibrated_shift
-- (share of calibrated items, model - base), miscalibrated_shift (share of cwl and lwp together, model - base), each with _low and _high; improved
-- (the first above 0 and the second below)
-- serves: section 5 of seed 001: an intervention is graded by the shift of groups, whether or not accuracy moves
-- decided: paired by item; undiagnosed items count in the denominator.
WITH item_count AS (
    SELECT
        model_id, thinking, base_model_id, base_thinking, task, concat_ws('|', model_id, thinking, base_model_id, base_thinking) AS cell,
        count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        sum(calibrated_shift)::DOUBLE / count(*) AS calibrated_shift, sum(miscalibrated_shift)::DOUBLE / count(*) AS miscalibrated_shift
    FROM tooluse.compared_item
    GROUP BY model_id, thinking, base_model_id, base_thinking, task
),
ends AS (
    SELECT
        task, cell,
        max(low) FILTER (WHERE statistic = 'calibrated_shift') AS calibrated_shift_low, max(high) FILTER (WHERE statistic = 'calibrated_shift') AS calibrated_shift_high,
        max(low) FILTER (WHERE statistic = 'miscalibrated_shift') AS miscalibrated_shift_low, max(high) FILTER (WHERE statistic = 'miscalibrated_shift') AS miscalibrated_shift_high
    FROM tooluse.comparison_interval
    GROUP BY task, cell
)
SELECT
    model_id, thinking, base_model_id, base_thinking, task, n_items, n_clusters,
    calibrated_shift, calibrated_shift_low, calibrated_shift_high, miscalibrated_shift, miscalibrated_shift_low, miscalibrated_shift_high,
    calibrated_shift > 0 AND miscalibrated_shift < 0 AS improved
FROM item_count
LEFT JOIN ends USING (task, cell)
