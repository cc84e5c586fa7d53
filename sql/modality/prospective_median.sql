-- grain: one row is one rate of modality.prospective_task, the median over its cells, with its interval.
-- columns: as stat.median
-- serves: the intervals of Table 3 of seed 000
-- over: stat.sums is modality.prospective_sums
-- cache: whole
SELECT * FROM stat.median
