-- grain: one row is one resample of one task's clusters.
-- columns: task_rank, resample (from 0), weights (DOUBLE list by cluster position: how often each cluster was drawn; they add up to n_clusters)
-- serves: Appendix A of seed 000 (10,000 paired cluster resamples)
-- decided: draw i of resample r is pow5(pow5((r * 1597334677 + seed) mod p) + i * 747796405 + 1) mod p mod n with p = 2^31 - 1, in whole numbers, so
-- that every engine draws the same clusters; a histogram over one extra draw of every cluster, less that one, leaves no cluster out.
-- cache: whole
WITH setting AS (
    SELECT
        CAST(max(value) FILTER (WHERE name = 'stat.resamples') AS BIGINT) AS resamples,
        CAST(max(value) FILTER (WHERE name = 'stat.seed') AS BIGINT) AS seed
    FROM stat.parameter
),
task_size AS (
    SELECT task_rank, max(n_clusters) AS n FROM stat.cluster GROUP BY task_rank
),
resample AS (
    SELECT unnest(range(resamples)) AS resample, seed FROM setting
),
start AS (
    SELECT resample, (resample * 1597334677 + seed) % 2147483647 AS x FROM resample
),
start_square AS (
    SELECT resample, x, x * x % 2147483647 AS square FROM start
),
stream AS (
    SELECT resample, square * square % 2147483647 * x % 2147483647 AS h FROM start_square
),
draw AS (
    SELECT
        task_rank, n, resample,
        list_transform(
            list_transform(range(n), lambda i : (h + i * 747796405 + 1) % 2147483647),
            lambda y : (y * y % 2147483647) * (y * y % 2147483647) % 2147483647 * y % 2147483647 % n
        ) AS draws
    FROM stream
    CROSS JOIN task_size
)
SELECT
    task_rank, resample,
    list_transform(
        map_values(list_aggregate(list_concat(draws, range(n)), 'histogram')), lambda times : CAST(times - 1 AS DOUBLE)
    ) AS weights
FROM draw
