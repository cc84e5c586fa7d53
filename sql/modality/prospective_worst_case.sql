-- grain: one row is one cell of modality.prospective_cell: model × thinking × task × input shown.
-- columns: model_id, thinking, task, arm, n_asked, n_clusters, n_lost (asked for, not in prospective_item), gap (of prospective_cell, over what was read);
-- over all asked for: gap_least, gap_most (lost answers imputed all downwards, all upwards), each with _low, _high (interval) and _se; gap_worst (the
-- one that lies against gap; NULL where gap is 0 or unknown), sign_holds (gap_worst still has gap's sign), interval_holds (and so has the whole
-- interval of gap_worst); few_clusters, resamples, seed
-- serves: the worst case behind Table 3 of seed 000: whether attrition could have made a gap
WITH asked_cell AS (
    SELECT
        model_id, thinking, task, arm, concat_ws('|', task, model_id, thinking, arm) AS cell, count(*) AS n_asked,
        count(DISTINCT cluster_id) AS n_clusters, count(*) FILTER (WHERE NOT is_read) AS n_lost,
        sum(least)::DOUBLE / count(*) AS gap_least, sum(most)::DOUBLE / count(*) AS gap_most,
        sum(least) FILTER (WHERE is_read)::DOUBLE / nullif(count(*) FILTER (WHERE is_read), 0) AS gap
    FROM modality.worst_case_item
    GROUP BY model_id, thinking, task, arm
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.arm, asked.n_asked, asked.n_clusters, asked.n_lost, asked.gap,
    asked.gap_least, gap_least.low AS gap_least_low, gap_least.high AS gap_least_high, gap_least.se AS gap_least_se,
    asked.gap_most, gap_most.low AS gap_most_low, gap_most.high AS gap_most_high, gap_most.se AS gap_most_se,
    CASE WHEN asked.gap > 0 THEN asked.gap_least WHEN asked.gap < 0 THEN asked.gap_most END AS gap_worst,
    CASE WHEN asked.gap > 0 THEN asked.gap_least > 0 WHEN asked.gap < 0 THEN asked.gap_most < 0 END AS sign_holds,
    CASE WHEN asked.gap > 0 THEN gap_least.low > 0 WHEN asked.gap < 0 THEN gap_most.high < 0 END AS interval_holds,
    gap_least.few_clusters, gap_least.resamples, gap_least.seed
FROM asked_cell AS asked
LEFT JOIN modality.worst_case_interval AS gap_least ON asked.cell = gap_least.cell AND gap_least.statistic = 'gap_least'
LEFT JOIN modality.worst_case_interval AS gap_most ON asked.cell = gap_most.cell AND gap_most.statistic = 'gap_most'
