-- grain: one row is one statistic of one cell in one resample of its task's clusters.
-- columns: series (of stat.series), resample, value (NULL where the resample leaves the denominator empty)
-- serves: Appendix A of seed 000; read over a family of sums (see stat.sums)
-- Whole numbers travel two to a product, numerator + 2^26 * denominator: a double holds both exactly while a resample's sums stay below 2^25.
-- The joins compare a difference on purpose: an equality would be hashed, and copying the lists out of a hash table costs six times the products.
WITH contribution AS (
    SELECT
        series.series, series.task_rank, series.is_packed, cluster.position,
        COALESCE(sums.numerator, 0) AS numerator, COALESCE(sums.denominator, 0) AS denominator
    FROM stat.series AS series
    INNER JOIN stat.cluster AS cluster ON series.task = cluster.task
    LEFT JOIN stat.sums AS sums
        ON series.task = sums.task AND series.cell = sums.cell AND series.statistic = sums.statistic AND cluster.cluster_id = sums.cluster_id
),
packed_vector AS (
    SELECT series, task_rank, list(numerator + 67108864.0 * denominator ORDER BY position) AS contributions
    FROM contribution
    WHERE is_packed
    GROUP BY series, task_rank
),
plain_vector AS (
    SELECT series, task_rank, list(numerator ORDER BY position) AS numerators, list(denominator ORDER BY position) AS denominators
    FROM contribution
    WHERE NOT is_packed
    GROUP BY series, task_rank
),
packed_product AS (
    SELECT packed_vector.series, weight.resample, list_dot_product(weight.weights, packed_vector.contributions) AS product
    FROM stat.weight AS weight
    INNER JOIN packed_vector ON weight.task_rank - packed_vector.task_rank = 0
),
product AS (
    SELECT series, resample, product - round(product / 67108864.0) * 67108864.0 AS numerator, round(product / 67108864.0) AS denominator
    FROM packed_product
    UNION ALL
    SELECT
        plain_vector.series, weight.resample,
        list_dot_product(weight.weights, plain_vector.numerators) AS numerator,
        list_dot_product(weight.weights, plain_vector.denominators) AS denominator
    FROM stat.weight AS weight
    INNER JOIN plain_vector ON weight.task_rank - plain_vector.task_rank = 0
)
SELECT series, resample, numerator / nullif(denominator, 0) AS value
FROM product
