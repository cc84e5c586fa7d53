-- grain: one row is one statistic of one cell, as a point, and where it travels in the bootstrap. This view is empty: it is the shape that `stat.closed` is
-- read over.
-- columns: task, task_rank, pool (as in stat.sums), cell, statistic, kind, estimate, n (sum of denominators), n_clusters (those with a denominator), se
-- (cluster-robust standard error of the ratio, CR1), bundle (number of the statistics that are drawn in one product, see stat.bundle), place (of
-- its numerator in the bundle, 1 to 4), is_carrier (the first of those that share a place), base (of the bundle's places; NULL: fractions, or whole
-- numbers too large to travel together)
SELECT
    CAST(NULL AS VARCHAR) AS task, CAST(NULL AS BIGINT) AS task_rank, CAST(NULL AS VARCHAR) AS pool, CAST(NULL AS VARCHAR) AS cell,
    CAST(NULL AS VARCHAR) AS statistic, CAST(NULL AS VARCHAR) AS kind, CAST(NULL AS DOUBLE) AS estimate, CAST(NULL AS BIGINT) AS n,
    CAST(NULL AS BIGINT) AS n_clusters, CAST(NULL AS DOUBLE) AS se, CAST(NULL AS BIGINT) AS bundle, CAST(NULL AS BIGINT) AS place,
    CAST(NULL AS BOOLEAN) AS is_carrier, CAST(NULL AS DOUBLE) AS base
WHERE FALSE
