-- grain: one row is one estimate of tooluse.mode_share with its interval.
-- columns: as stat.interval
-- serves: the intervals of Tables 4 and 19 of seed 001
-- over: stat.sums is tooluse.mode_sums
-- cache: whole
SELECT * FROM stat.interval
