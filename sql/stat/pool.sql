-- grain: one row is one statistic over the cells of one pool: their median, as a point.
-- columns: series (number of the pool and statistic within the family), task, pool, statistic, estimate (median over cells), n_cells (that have one)
-- serves: Tables 3 and 4 of seed 000; read over a family of sums (see stat.sums)
SELECT
    row_number() OVER (ORDER BY task, pool, statistic) AS series, task, pool, statistic, median(estimate) AS estimate, count(estimate) AS n_cells
FROM stat.series
WHERE pool IS NOT NULL
GROUP BY task, pool, statistic
