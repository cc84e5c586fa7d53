-- grain: one row is one statistic of one cell, or its median over the cells of one pool, with its interval.
-- columns: as stat.interval
-- serves: Appendix A of seed 000; read over points (see stat.series) and their resamples (see stat.resampled)
-- decided: one cluster gives no interval. Where all resamples agree (a rate of 0 or 1, say) the ends are Wilson's over n; for a difference, the
-- estimate plus and minus z^2 / (n + z^2), which is Newcombe's hybrid of the two Wilson intervals where both rates are 0 or both 1, within [-1, 1] (for
-- a ratio of two scores likewise, from 0 upwards); for a median, the medians of its cells' own ends. p is the level at which the percentile interval begins to leave 0 out: (1 + the fewer resamples on
-- either side of 0) / (resamples + 1), doubled.
WITH point AS (
    SELECT task, cell, statistic, kind, estimate, se, n, n_clusters, bundle, place FROM stat.series
    UNION ALL
    SELECT
        CASE WHEN min(task) = max(task) THEN min(task) ELSE 'all' END AS task, pool AS cell, statistic, 'median' AS kind, median(estimate) AS estimate,
        NULL AS se, count(estimate) AS n, max(n_clusters) AS n_clusters, -median AS bundle, 1 AS place
    FROM stat.pool
    GROUP BY pool, statistic, median
),
drawn AS (
    SELECT
        point.*, percentile.lows[point.place] AS low, percentile.highs[point.place] AS high,
        least(percentile.at_most_zero[point.place], percentile.at_least_zero[point.place]) AS beyond_zero,
        COALESCE(percentile.resamples, 0) AS resamples, COALESCE(percentile.dropped, setting.resamples) AS dropped,
        setting.seed, setting.confidence, setting.min_clusters, setting.z * setting.z AS zz, setting.z AS z
    FROM point
    CROSS JOIN stat.setting AS setting
    LEFT JOIN stat.drawn_percentile AS percentile ON point.bundle = percentile.bundle
),
judged AS (
    SELECT
        *,
        CASE
            WHEN n_clusters < 2 OR low IS NULL THEN NULL
            WHEN low < high THEN 'percentile'
            WHEN kind = 'median' THEN 'cells'
            ELSE 'wilson'
        END AS method,
        CASE WHEN kind = 'rate' THEN (estimate + zz / (2 * n)) / (1 + zz / n) ELSE estimate END AS middle,
        CASE
            WHEN kind = 'rate' THEN z * sqrt(greatest(estimate * (1 - estimate), 0) / n + zz / (4 * n * n)) / (1 + zz / n)
            ELSE zz / (n + zz)
        END AS half,
        CASE WHEN kind = 'difference' THEN -1.0 ELSE 0.0 END AS least, CASE WHEN kind <> 'ratio' THEN 1.0 END AS most
    FROM drawn
),
closed AS (
    SELECT
        * EXCLUDE (low, high), CASE method WHEN 'percentile' THEN low WHEN 'wilson' THEN greatest(middle - half, least) END AS low,
        CASE method WHEN 'percentile' THEN high WHEN 'wilson' THEN least(middle + half, most) END AS high
    FROM judged
),
pool_end AS (
    SELECT -pool.median AS bundle, median(closed.low) AS low, median(closed.high) AS high
    FROM stat.pool AS pool
    INNER JOIN closed ON pool.task = closed.task AND pool.cell = closed.cell AND pool.statistic = closed.statistic
    GROUP BY pool.median
)
SELECT
    closed.task, closed.cell, closed.statistic, closed.estimate, COALESCE(closed.low, pool_end.low) AS low, COALESCE(closed.high, pool_end.high) AS high,
    closed.se, closed.n, closed.n_clusters, closed.resamples, closed.dropped, closed.seed, closed.confidence, closed.method,
    closed.n_clusters < closed.min_clusters AS few_clusters,
    CASE
        WHEN closed.kind = 'difference' AND closed.method IS NOT NULL THEN least(2 * (1 + closed.beyond_zero)::DOUBLE / (closed.resamples + 1), 1)
    END AS p
FROM closed
LEFT JOIN pool_end ON closed.bundle = pool_end.bundle AND closed.method = 'cells'
