-- grain: one row is one score or cost that is a sum over rows, or its median over the cells of modality.assessment_cost_task, with its interval.
-- columns: as stat.interval
-- serves: the intervals of Tables 5-7 and 10 of seed 000
-- over: stat.sums is modality.score_sums
-- cache: whole
SELECT * FROM stat.interval
