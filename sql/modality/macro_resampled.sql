-- grain: one row is one macro-F1 of one cell, or the difference of two, in one resample.
-- columns: as stat.resampled, in value_1; bundle as modality.macro_series
-- serves: the intervals of Tables 6 and 10 of seed 000
WITH macro AS (
    SELECT series.cell, series.statistic, series.bundle, mean.resample, mean.value
    FROM modality.class_mean AS mean
    INNER JOIN modality.macro_series AS series ON mean.cell = concat_ws('|', series.cell, series.statistic)
),
cost AS (
    SELECT
        series.bundle, macro.resample,
        max(macro.value) FILTER (WHERE macro.statistic = 'score_assess') - max(macro.value) FILTER (WHERE macro.statistic = 'score_plain') AS value
    FROM macro
    INNER JOIN modality.macro_series AS series ON macro.cell = series.cell
    WHERE series.statistic = 'cost' AND macro.statistic IN ('score_assess', 'score_plain')
    GROUP BY series.bundle, macro.resample
),
value AS (
    SELECT bundle, resample, value FROM macro
    UNION ALL
    SELECT bundle, resample, value FROM cost
)
SELECT
    bundle, resample, value AS value_1, CAST(NULL AS DOUBLE) AS value_2, CAST(NULL AS DOUBLE) AS value_3, CAST(NULL AS DOUBLE) AS value_4
FROM value
