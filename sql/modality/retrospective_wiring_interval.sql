-- grain: one row is one share of modality.retrospective_wiring with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 9 of seed 000
-- over: stat.sums is modality.retrospective_wiring_sums
-- cache: whole
SELECT * FROM stat.interval
