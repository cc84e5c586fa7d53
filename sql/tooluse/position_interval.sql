-- grain: one row is one estimate of tooluse.veg_position with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 13 and Fig. 5 of seed 001
-- over: stat.sums is tooluse.position_sums
-- cache: whole
SELECT * FROM stat.interval
