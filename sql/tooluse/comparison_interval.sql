-- grain: one row is one estimate of tooluse.comparison with its interval.
-- columns: as stat.interval
-- serves: section 5 of seed 001
-- over: stat.sums is tooluse.comparison_sums
-- cache: whole
SELECT * FROM stat.interval
