-- grain: one row is one rate of a cell of modality.prospective_cell with its interval.
-- columns: as stat.interval
-- serves: the intervals of Fig. 2 and 5 of seed 000
-- over: stat.sums is modality.prospective_sums
-- cache: whole
SELECT * FROM stat.interval
