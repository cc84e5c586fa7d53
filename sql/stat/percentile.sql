-- grain: one row is one bundle of values with the ends of their percentile intervals.
-- columns: bundle, resamples (that gave a value), dropped (that gave none), lows, highs (lists of the four ends, NULL where no resample gave a value),
-- at_most_zero, at_least_zero (lists of four: resamples whose value is 0 or less, 0 or more)
-- serves: Appendix A of seed 000; read over a family of resampled values (see stat.value)
-- The ends need only the outermost values: `tail` of them on either side, interpolated as numpy's default quantile does.
WITH outermost AS (
    SELECT
        bundle, count(value_1) AS resamples, count(*) - count(value_1) AS dropped,
        [min(value_1, tail), min(value_2, tail), min(value_3, tail), min(value_4, tail)] AS lowest,
        [max(value_1, tail), max(value_2, tail), max(value_3, tail), max(value_4, tail)] AS highest,
        [count_if(value_1 <= 0), count_if(value_2 <= 0), count_if(value_3 <= 0), count_if(value_4 <= 0)] AS at_most_zero,
        [count_if(value_1 >= 0), count_if(value_2 >= 0), count_if(value_3 >= 0), count_if(value_4 >= 0)] AS at_least_zero
    FROM stat.value
    CROSS JOIN (SELECT CAST(floor((resamples - 1) * (1 - confidence) / 2) AS BIGINT) + 2 AS tail FROM stat.setting)
    GROUP BY bundle, tail
),
place AS (
    SELECT
        outermost.*, CAST(floor((outermost.resamples - 1) * (1 - setting.confidence) / 2) AS BIGINT) + 1 AS whole,
        (outermost.resamples - 1) * (1 - setting.confidence) / 2 - floor((outermost.resamples - 1) * (1 - setting.confidence) / 2) AS part
    FROM outermost
    CROSS JOIN stat.setting AS setting
)
SELECT
    bundle, resamples, dropped,
    list_transform(lowest, lambda x : x[whole] + part * (COALESCE(x[whole + 1], x[whole]) - x[whole])) AS lows,
    list_transform(highest, lambda x : x[whole] + part * (COALESCE(x[whole + 1], x[whole]) - x[whole])) AS highs,
    at_most_zero, at_least_zero
FROM place
