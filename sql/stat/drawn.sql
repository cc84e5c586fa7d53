-- grain: one row is one bundle of statistics, or the median of one statistic over the cells of one pool, in one resample.
-- columns: as stat.value: bundle (of stat.series; below 0: the median of stat.pool of that number)
-- serves: Appendix A of seed 000, Tables 3 and 4; read over a family of sums (see stat.sums)
-- decided: all cells of a task are drawn again together, and a median is taken anew in each resample over the cells that have a value there.
WITH resampled AS MATERIALIZED (
    SELECT * FROM stat.resampled
)
SELECT bundle, value_1, value_2, value_3, value_4 FROM resampled
UNION ALL
SELECT
    -pool.median AS bundle,
    median(CASE pool.place WHEN 1 THEN value_1 WHEN 2 THEN value_2 WHEN 3 THEN value_3 ELSE value_4 END) AS value_1,
    CAST(NULL AS DOUBLE) AS value_2, CAST(NULL AS DOUBLE) AS value_3, CAST(NULL AS DOUBLE) AS value_4
FROM resampled
INNER JOIN stat.pool AS pool ON resampled.bundle = pool.bundle
GROUP BY pool.median, resampled.resample
