-- grain: one row is one cluster's contribution to one shift of tooluse.comparison (see stat.sums).
-- columns: task, cell (model|thinking|base model|base thinking), statistic (calibrated_shift, miscalibrated_shift), kind, cluster_id, numerator, denominator
-- serves: section 5 of seed 001
-- cache: whole
WITH cluster_sum AS (
    SELECT
        task, concat_ws('|', model_id, thinking, base_model_id, base_thinking) AS cell, cluster_id, count(*)::DOUBLE AS n_items,
        sum(calibrated_shift)::DOUBLE AS calibrated_shift, sum(miscalibrated_shift)::DOUBLE AS miscalibrated_shift
    FROM tooluse.compared_item
    GROUP BY task, cell, cluster_id
),
contribution AS (
    SELECT task, cell, 'calibrated_shift' AS statistic, cluster_id, calibrated_shift AS numerator, n_items AS denominator FROM cluster_sum
    UNION ALL
    SELECT task, cell, 'miscalibrated_shift', cluster_id, miscalibrated_shift, n_items FROM cluster_sum
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, 'difference' AS kind, cluster_id, numerator, denominator
FROM contribution
