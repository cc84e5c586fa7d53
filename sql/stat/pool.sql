-- grain: one row is one statistic of one cell in one pool whose cells a median is taken over.
-- columns: pool, statistic, median (number of the pool's statistic within the family), task, cell, estimate, n_clusters, bundle, place (as stat.series)
-- serves: Tables 3 and 4 of seed 000; read over a family of sums (see stat.sums)
WITH member AS (
    SELECT unnest(string_split(pool, ',')) AS pool, task, cell, statistic, estimate, n_clusters, bundle, place
    FROM stat.series
    WHERE pool IS NOT NULL
)
SELECT pool, statistic, dense_rank() OVER (ORDER BY pool, statistic) AS median, task, cell, estimate, n_clusters, bundle, place
FROM member
