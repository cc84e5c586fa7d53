-- grain: one row is one series with the ends of its percentile interval.
-- columns: series, resamples (that gave a value), dropped (that gave none), low, high (NULL where no resample gave a value)
-- serves: Appendix A of seed 000; read over a family of resampled values (see stat.value)
-- The ends need only the outermost values: `tail` of them on either side, interpolated as numpy's default quantile does.
WITH valued AS (
    SELECT value.series, value.value, CAST(floor((setting.resamples - 1) * (1 - setting.confidence) / 2) AS BIGINT) + 2 AS tail
    FROM stat.value AS value
    CROSS JOIN stat.setting AS setting
),
outermost AS (
    SELECT
        series, count(value) AS resamples, count(*) - count(value) AS dropped,
        min(value, tail) AS lowest, max(value, tail) AS highest
    FROM valued
    GROUP BY series, tail
),
place AS (
    SELECT
        outermost.*,
        CAST(floor((outermost.resamples - 1) * (1 - setting.confidence) / 2) AS BIGINT) AS whole,
        (outermost.resamples - 1) * (1 - setting.confidence) / 2 - floor((outermost.resamples - 1) * (1 - setting.confidence) / 2) AS part
    FROM outermost
    CROSS JOIN stat.setting AS setting
)
SELECT
    series, resamples, dropped,
    lowest[whole + 1] + part * (COALESCE(lowest[whole + 2], lowest[whole + 1]) - lowest[whole + 1]) AS low,
    highest[whole + 1] + part * (COALESCE(highest[whole + 2], highest[whole + 1]) - highest[whole + 1]) AS high
FROM place
