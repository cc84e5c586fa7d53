-- grain: one row is one cluster's contribution to one statistic of one cell: what an interval is made from. This view is empty: it is the shape.
-- A family of measures gives its contributions in this shape (`modality.prospective_sums`); its intervals are `stat.interval` read over them.
-- columns: task, pool (text keys, between commas, of the groups whose cells a median is taken over; NULL: none), cell (text key of the cell), statistic
-- (name of the estimate), kind (`rate`: in [0, 1]; `difference`: of two rates, in [-1, 1]; `ratio`: of two scores, from 0 upwards), cluster_id,
-- numerator, denominator (the estimate is sum of numerators / sum of denominators; a cluster that is left out contributes 0 to both)
SELECT
    CAST(NULL AS VARCHAR) AS task, CAST(NULL AS VARCHAR) AS pool, CAST(NULL AS VARCHAR) AS cell, CAST(NULL AS VARCHAR) AS statistic,
    CAST(NULL AS VARCHAR) AS kind, CAST(NULL AS VARCHAR) AS cluster_id, CAST(NULL AS DOUBLE) AS numerator, CAST(NULL AS DOUBLE) AS denominator
WHERE FALSE
