-- grain: one row is one rate of a cell of modality.prospective_cell, or its median over the cells of modality.prospective_task, with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 3 and of Fig. 2 and 5 of seed 000
-- over: stat.sums is modality.prospective_sums
-- cache: whole
SELECT * FROM stat.interval
