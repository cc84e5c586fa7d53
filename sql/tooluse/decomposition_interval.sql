-- grain: one row is one estimate of tooluse.decomposition or tooluse.threshold_sensitivity with its interval.
-- columns: as stat.interval
-- serves: the intervals of Tables 5, 15, 16, 17 and 20 of seed 001
-- over: stat.sums is tooluse.decomposition_sums
-- cache: whole
SELECT * FROM stat.interval
