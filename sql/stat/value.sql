-- grain: one row is one bundle of values in one resample. This view is empty: it is the shape that `stat.percentile` is read over.
-- columns: bundle, value_1 to value_4 (up to four values that the same resamples lack; NULL: the resample gave none, or the bundle has none there)
SELECT
    CAST(NULL AS BIGINT) AS bundle, CAST(NULL AS DOUBLE) AS value_1, CAST(NULL AS DOUBLE) AS value_2, CAST(NULL AS DOUBLE) AS value_3,
    CAST(NULL AS DOUBLE) AS value_4
WHERE FALSE
