-- grain: one row is one bound of modality.prospective_worst_case with its interval.
-- columns: as stat.interval
-- serves: the worst case behind Table 3 of seed 000
-- over: stat.sums is modality.worst_case_sums
-- cache: whole
SELECT * FROM stat.interval
