-- grain: one row is one estimate of tooluse.policy_effect with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 1 of seed 001
-- over: stat.sums is tooluse.policy_sums
-- cache: whole
SELECT * FROM stat.interval
