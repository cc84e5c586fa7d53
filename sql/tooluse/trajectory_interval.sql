-- grain: one row is one estimate of tooluse.trajectory_effect with its interval.
-- columns: as stat.interval
-- serves: the intervals of Tables 2, 9 and 11 of seed 001
-- over: stat.sums is tooluse.trajectory_sums
-- cache: whole
SELECT * FROM stat.interval
