-- grain: one row is one estimate of tooluse.veg_summary with its interval.
-- columns: as stat.interval
-- serves: the intervals of Tables 3 and 18 of seed 001
-- over: stat.sums is tooluse.veg_sums
-- cache: whole
SELECT * FROM stat.interval
