-- grain: one row is one share of modality.retrospective, retrospective_difference or attribution_agreement with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 2 of seed 000
-- over: stat.sums is modality.retrospective_sums
-- cache: whole
SELECT * FROM stat.interval
