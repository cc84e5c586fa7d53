-- grain: one row is one resample of one task's clusters.
-- columns: task_rank, resample (from 0), weights_1, weights_2, weights_3, weights_4 (DOUBLE lists: how often each cluster was drawn, a quarter of the
-- task's clusters each, by position; all four add up to n_clusters)
-- serves: Appendix A of seed 000 (10,000 paired cluster resamples)
-- decided: draw i of resample r is pow5(pow5((r * 1597334677 + seed) mod p) + i * 747796405 + 1) mod p mod n with p = 2^31 - 1, in whole numbers, so
-- that every engine draws the same clusters.
-- cache: whole
-- The draws of twelve clusters are counted in one whole number, five bits for each: a cluster that is drawn 32 times in a resample of 32 clusters or
-- more would overflow, which has a chance of 1 in 10^35. Lists stand in quarters because a processor adds up four short sums nearly twice as fast as
-- a long one; resamples come in two halves because DuckDB runs the parts of a union side by side.
WITH setting AS (
    SELECT
        CAST(max(value) FILTER (WHERE name = 'stat.resamples') AS BIGINT) AS resamples,
        CAST(max(value) FILTER (WHERE name = 'stat.seed') AS BIGINT) AS seed
    FROM stat.parameter
),
resample AS (
    SELECT unnest(range(resamples // 2)) AS resample, seed FROM setting
    UNION ALL
    SELECT unnest(range(resamples // 2, resamples)) AS resample, seed FROM setting
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
step AS (
    SELECT cluster.task_rank, cluster.n_clusters, stream.resample, (stream.h + cluster.position * 747796405 + 1) % 2147483647 AS y
    FROM stream
    CROSS JOIN stat.cluster AS cluster
),
draw AS (
    SELECT task_rank, resample, (y * y % 2147483647) * (y * y % 2147483647) % 2147483647 * y % 2147483647 % n_clusters AS position FROM step
),
count_of_one AS (
    SELECT task_rank, resample, position // 12 AS twelve, 1::BIGINT << (5 * (position % 12)) AS counts FROM draw
    UNION ALL
    SELECT cluster.task_rank, stream.resample, cluster.position // 12 AS twelve, 0::BIGINT AS counts
    FROM stream
    CROSS JOIN stat.cluster AS cluster
    WHERE cluster.position % 12 = 0
),
count_of_twelve AS (
    SELECT task_rank, resample, twelve, CAST(sum(counts) AS BIGINT) AS counts
    FROM count_of_one
    GROUP BY task_rank, resample, twelve
),
count_of_all AS (
    SELECT task_rank, resample, list(counts ORDER BY twelve) AS counts
    FROM count_of_twelve
    GROUP BY task_rank, resample
),
quarter AS (
    SELECT task_rank, max(n_clusters) AS n, (max(n_clusters) + 3) // 4 AS quarter FROM stat.cluster GROUP BY task_rank
)
SELECT
    task_rank, resample,
    list_transform(range(least(quarter, n)), lambda i : ((counts[i // 12 + 1] >> (5 * (i % 12))) & 31)::DOUBLE) AS weights_1,
    list_transform(range(quarter, least(2 * quarter, n)), lambda i : ((counts[i // 12 + 1] >> (5 * (i % 12))) & 31)::DOUBLE) AS weights_2,
    list_transform(range(2 * quarter, least(3 * quarter, n)), lambda i : ((counts[i // 12 + 1] >> (5 * (i % 12))) & 31)::DOUBLE) AS weights_3,
    list_transform(range(3 * quarter, n), lambda i : ((counts[i // 12 + 1] >> (5 * (i % 12))) & 31)::DOUBLE) AS weights_4
FROM count_of_all
INNER JOIN quarter USING (task_rank)
