-- grain: one row is one value of one series in one resample. This view is empty: it is the shape that `stat.percentile` is read over.
-- columns: series, value (NULL: the resample gave none)
SELECT CAST(NULL AS BIGINT) AS series, CAST(NULL AS DOUBLE) AS value
WHERE FALSE
