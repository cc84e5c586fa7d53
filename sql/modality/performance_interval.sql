-- grain: one row is one score or cost of one cell, or its median over the cells of modality.assessment_cost_task, with its interval, whatever the metric.
-- columns: as stat.interval
-- serves: the intervals of Tables 5-7 and 10 of seed 000
SELECT * FROM modality.score_interval
UNION ALL
SELECT * FROM modality.macro_interval
