-- grain: one row is one statistic of one cell, as a point, and where it travels in the bootstrap.
-- columns: as stat.series
-- serves: read over a family of sums (see stat.sums)
-- The sums are taken as decimals, so that an estimate does not depend on the order of the rows. Statistics of a task with equal denominators form
-- bundles, equal numerators share a place; vectors are told apart by a hash over their clusters (a hash of a hash: `hash` of two columns is linear in
-- theirs, so that the same numbers in other clusters would be taken for equal).
WITH total AS (
    SELECT
        task, cell, statistic, max(pool) AS pool, max(kind) AS kind,
        CAST(sum(CAST(numerator AS DECIMAL(38, 18))) AS DOUBLE) AS numerator, sum(denominator) AS denominator,
        sum(numerator * numerator) AS aa, sum(numerator * denominator) AS ab, sum(denominator * denominator) AS bb,
        count(*) FILTER (WHERE denominator > 0) AS n_clusters, max(greatest(abs(numerator), denominator)) AS largest,
        bool_and(numerator = floor(numerator) AND denominator = floor(denominator)) AS is_whole,
        COALESCE(bit_xor(hash(xor(hash(cluster_id), hash(numerator)))) FILTER (WHERE numerator <> 0), 0) AS numerators,
        COALESCE(bit_xor(hash(xor(hash(cluster_id), hash(denominator)))) FILTER (WHERE denominator <> 0), 0) AS denominators
    FROM stat.sums
    GROUP BY task, cell, statistic
),
task_size AS (
    SELECT task, task_rank, max(n_clusters) AS n_task_clusters FROM stat.cluster GROUP BY task, task_rank
),
sized AS (
    SELECT
        total.*, task_size.task_rank,
        ceil(log2(2 * task_size.n_task_clusters * max(total.largest) OVER (PARTITION BY total.task, total.is_whole, total.denominators) + 2)) AS bits
    FROM total
    INNER JOIN task_size ON total.task = task_size.task
),
placed AS (
    SELECT
        *, CASE WHEN is_whole AND bits <= 26 THEN least(CAST(floor(53 / bits) AS BIGINT) - 1, 4) ELSE 1 END AS n_places,
        CASE WHEN is_whole AND bits <= 26 THEN power(2.0, bits) END AS base,
        dense_rank() OVER (PARTITION BY task, is_whole, denominators ORDER BY numerators) - 1 AS numerator_rank,
        row_number() OVER (PARTITION BY task, is_whole, denominators, numerators ORDER BY cell, statistic) = 1 AS is_carrier
    FROM sized
)
SELECT
    task, task_rank, pool, cell, statistic, kind, numerator / nullif(denominator, 0) AS estimate, CAST(denominator AS BIGINT) AS n, n_clusters,
    CASE
        WHEN n_clusters > 1 THEN sqrt(
            greatest(aa - 2 * ab * numerator / denominator + bb * power(numerator / denominator, 2), 0) * n_clusters / (n_clusters - 1)
        ) / denominator
    END AS se,
    dense_rank() OVER (ORDER BY task, is_whole, denominators, numerator_rank // n_places) AS bundle, numerator_rank % n_places + 1 AS place,
    is_carrier, base
FROM placed
