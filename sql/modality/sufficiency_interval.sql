-- grain: one row is one rate of a cell of modality.sufficiency_cell, or its median over the cells of modality.sufficiency_task, with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 4 and of Fig. 3 of seed 000
-- over: stat.sums is modality.sufficiency_sums
-- cache: whole
SELECT * FROM stat.interval
