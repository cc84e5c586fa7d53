-- grain: one row is the executed rate of a cell of modality.prospective_wiring, or its median over the cells of prospective_wiring_task, with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 8 of seed 000
-- over: stat.sums is modality.prospective_wiring_sums
-- cache: whole
SELECT * FROM stat.interval
