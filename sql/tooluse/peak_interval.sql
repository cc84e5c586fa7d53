-- grain: one row is one estimate of tooluse.veg_trajectory with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 12 of seed 001
-- over: stat.sums is tooluse.peak_sums
-- cache: whole
SELECT * FROM stat.interval
