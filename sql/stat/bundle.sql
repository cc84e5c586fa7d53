-- grain: one row is one bundle: up to four statistics of a task with equal denominators, drawn again in one product.
-- columns: bundle, task_rank, base, vector_1 to vector_4 (DOUBLE lists by cluster position, in quarters as stat.weight has them: denominator +
-- base * first numerator + base^2 * second numerator ...; where base is NULL the one numerator), denominators_1 to denominators_4 (likewise; NULL
-- where base is not)
-- serves: read over a family of sums (see stat.sums)
-- A double holds whole numbers up to 2^53, and no resample's sum reaches base / 2 (see stat.series): packed numbers are exact.
WITH contribution AS (
    SELECT
        series.bundle, series.task_rank, series.base, cluster.position, cluster.n_clusters,
        CASE WHEN series.base IS NULL THEN sums.numerator ELSE sums.numerator * power(series.base, series.place) END AS numerator, sums.denominator
    FROM stat.sums AS sums
    INNER JOIN stat.series AS series ON sums.task = series.task AND sums.cell = series.cell AND sums.statistic = series.statistic
    INNER JOIN stat.cluster AS cluster ON sums.task = cluster.task AND sums.cluster_id = cluster.cluster_id
    WHERE series.is_carrier
    UNION ALL
    SELECT series.bundle, series.task_rank, series.base, cluster.position, cluster.n_clusters, 0.0 AS numerator, 0.0 AS denominator
    FROM stat.series AS series
    INNER JOIN stat.cluster AS cluster ON series.task = cluster.task
    WHERE series.is_carrier AND series.place = 1
),
packed AS (
    SELECT
        bundle, task_rank, base, position, (n_clusters + 3) // 4 AS quarter,
        sum(numerator) + CASE WHEN base IS NULL THEN 0 ELSE max(denominator) END AS number, CASE WHEN base IS NULL THEN max(denominator) END AS denominator
    FROM contribution
    GROUP BY bundle, task_rank, base, position, n_clusters
),
vector AS (
    SELECT
        bundle, task_rank, base, max(quarter) AS quarter, list(number ORDER BY position) AS numbers,
        list(denominator ORDER BY position) FILTER (WHERE base IS NULL) AS denominators
    FROM packed
    GROUP BY bundle, task_rank, base
)
SELECT
    bundle, task_rank, base,
    numbers[1:quarter] AS vector_1, numbers[quarter + 1:2 * quarter] AS vector_2,
    numbers[2 * quarter + 1:3 * quarter] AS vector_3, numbers[3 * quarter + 1:4 * quarter] AS vector_4,
    denominators[1:quarter] AS denominators_1, denominators[quarter + 1:2 * quarter] AS denominators_2,
    denominators[2 * quarter + 1:3 * quarter] AS denominators_3, denominators[3 * quarter + 1:4 * quarter] AS denominators_4
FROM vector
