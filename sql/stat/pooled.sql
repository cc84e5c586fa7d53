-- grain: one row is the median over the cells of one pool of one statistic, in one resample.
-- columns: series (of stat.pool), resample, value (NULL where no cell has a value)
-- serves: Tables 3 and 4 of seed 000; read over a family of sums (see stat.sums)
WITH member AS (
    SELECT pool.series AS pool_series, series.series
    FROM stat.series AS series
    INNER JOIN stat.pool AS pool ON series.task = pool.task AND series.pool = pool.pool AND series.statistic = pool.statistic
)
SELECT member.pool_series AS series, resampled.resample, median(resampled.value) AS value
FROM stat.resampled AS resampled
INNER JOIN member ON resampled.series = member.series
GROUP BY member.pool_series, resampled.resample
