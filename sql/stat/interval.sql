-- grain: one row is one statistic of one cell, or its median over the cells of one pool, with its interval.
-- columns: task (`all`: a pool of several tasks), cell (the pool's key where it is a median), statistic, estimate, low, high, se (CR1; NULL for a median),
-- n (of the denominator; of a median: cells that have a value), n_clusters (with a denominator; of a median: of the cell that has most), resamples
-- (that gave a value), dropped (that gave none), seed, confidence, method (`percentile`; where all resamples agree `wilson`, of a median `cells`; NULL:
-- no interval), few_clusters (fewer than stat.min_clusters), p (two-sided, of a difference being 0; NULL for all else)
-- serves: Appendix A of seed 000; read over a family of sums (see stat.sums)
-- decided: see stat.closed
-- over: stat.series is series
WITH series AS MATERIALIZED (
    SELECT * FROM stat.statistic
)
SELECT * FROM stat.closed
