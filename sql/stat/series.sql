-- grain: one row is one statistic of one cell, as a point: what `stat.resampled` draws again and `stat.interval` puts ends to.
-- columns: series (number of the statistic within its family), task, task_rank, pool, cell, statistic, kind, estimate, n (sum of denominators), n_clusters
-- (those with a denominator), se (cluster-robust standard error of the ratio, CR1), is_packed (whole numbers small enough to travel two to a product)
-- serves: read over a family of sums (see stat.sums)
WITH total AS (
    SELECT
        task, cell, statistic, max(pool) AS pool, max(kind) AS kind,
        sum(numerator) AS numerator, sum(denominator) AS denominator, count(*) FILTER (WHERE denominator > 0) AS n_clusters,
        bool_and(numerator = floor(numerator) AND denominator = floor(denominator)) AND sum(abs(numerator)) + sum(denominator) < 1000000 AS is_packed
    FROM stat.sums
    GROUP BY task, cell, statistic
),
residual AS (
    SELECT
        sums.task, sums.cell, sums.statistic,
        sum(power(sums.numerator - total.numerator / nullif(total.denominator, 0) * sums.denominator, 2)) AS squares
    FROM stat.sums AS sums
    INNER JOIN total ON sums.task = total.task AND sums.cell = total.cell AND sums.statistic = total.statistic
    GROUP BY sums.task, sums.cell, sums.statistic
),
task_rank AS (
    SELECT DISTINCT task, task_rank FROM stat.cluster
)
SELECT
    row_number() OVER (ORDER BY total.task, total.cell, total.statistic) AS series,
    total.task, task_rank.task_rank, total.pool, total.cell, total.statistic, total.kind,
    total.numerator / nullif(total.denominator, 0) AS estimate, CAST(total.denominator AS BIGINT) AS n, total.n_clusters,
    CASE WHEN total.n_clusters > 1 THEN sqrt(residual.squares * total.n_clusters / (total.n_clusters - 1)) / total.denominator END AS se,
    total.is_packed
FROM total
INNER JOIN residual ON total.task = residual.task AND total.cell = residual.cell AND total.statistic = residual.statistic
INNER JOIN task_rank ON total.task = task_rank.task
