-- grain: one row is one statistic of one cell with its interval.
-- columns: task, cell, statistic, estimate, low, high, se (CR1), n (of the denominator), n_clusters, resamples (that had a denominator), dropped, seed,
-- confidence, method (`percentile`; `wilson` where all resamples agree; NULL: none), few_clusters (fewer than stat.min_clusters)
-- serves: Appendix A of seed 000; read over a family of sums (see stat.sums)
-- decided: one cluster gives no interval. Where all resamples agree (a rate of 0 or 1, say) the ends are Wilson's over n; for a difference, the
-- estimate plus and minus z^2 / (n + z^2), which is Newcombe's hybrid of the two Wilson intervals where both rates are 0 or both 1, within [-1, 1].
WITH closed AS (
    SELECT
        series.*, setting.seed, setting.confidence, setting.min_clusters,
        percentile.low, percentile.high, COALESCE(percentile.resamples, 0) AS resamples,
        COALESCE(percentile.dropped, setting.resamples) AS dropped,
        setting.z * setting.z AS zz, setting.z AS z,
        CASE
            WHEN series.n_clusters < 2 OR percentile.low IS NULL THEN NULL
            WHEN percentile.low < percentile.high THEN 'percentile'
            ELSE 'wilson'
        END AS method
    FROM stat.series AS series
    CROSS JOIN stat.setting AS setting
    LEFT JOIN stat.resampled_percentile AS percentile ON series.series = percentile.series
),
wilson AS (
    SELECT
        series,
        CASE WHEN kind = 'difference' THEN estimate ELSE (estimate + zz / (2 * n)) / (1 + zz / n) END AS middle,
        CASE WHEN kind = 'difference' THEN zz / (n + zz) ELSE z * sqrt(greatest(estimate * (1 - estimate), 0) / n + zz / (4 * n * n)) / (1 + zz / n) END AS half,
        CASE WHEN kind = 'difference' THEN -1.0 ELSE 0.0 END AS least
    FROM closed
    WHERE method = 'wilson'
)
SELECT
    closed.task, closed.cell, closed.statistic, closed.estimate,
    CASE closed.method WHEN 'percentile' THEN closed.low WHEN 'wilson' THEN greatest(wilson.middle - wilson.half, wilson.least) END AS low,
    CASE closed.method WHEN 'percentile' THEN closed.high WHEN 'wilson' THEN least(wilson.middle + wilson.half, 1.0) END AS high,
    closed.se, closed.n, closed.n_clusters, closed.resamples, closed.dropped, closed.seed, closed.confidence, closed.method,
    closed.n_clusters < closed.min_clusters AS few_clusters
FROM closed
LEFT JOIN wilson ON closed.series = wilson.series
