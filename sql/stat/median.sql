-- grain: one row is one statistic over the cells of one pool: their median with its interval.
-- columns: task, pool, statistic, estimate, n_cells, low, high (equal where all resamples agree: the reader then takes the cells' own ends), resamples,
-- dropped, seed, confidence
-- serves: Tables 3 and 4 of seed 000; read over a family of sums (see stat.sums)
-- decided: all cells of a task are drawn again together, and the median is taken anew in each resample over the cells that have a value there.
SELECT
    pool.task, pool.pool, pool.statistic, pool.estimate, pool.n_cells, percentile.low, percentile.high,
    COALESCE(percentile.resamples, 0) AS resamples, COALESCE(percentile.dropped, setting.resamples) AS dropped, setting.seed, setting.confidence
FROM stat.pool AS pool
CROSS JOIN stat.setting AS setting
LEFT JOIN stat.pooled_percentile AS percentile ON pool.series = percentile.series
