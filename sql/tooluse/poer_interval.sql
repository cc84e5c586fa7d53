-- grain: one row is one estimate of tooluse.poer with its interval.
-- columns: as stat.interval
-- serves: the intervals of Fig. 5 of seed 001
-- over: stat.sums is tooluse.poer_sums
-- cache: whole
SELECT * FROM stat.interval
