-- grain: one row is one macro-F1, or a cost in it, or its median over the cells of modality.assessment_cost_task, with its interval.
-- columns: as stat.interval
-- serves: the intervals of Tables 6 and 10 of seed 000
-- over: stat.series is modality.macro_series
-- cache: whole
SELECT * FROM modality.macro_closed
