-- grain: one row is one cluster's contribution to the F1 of one class, where the task's metric is macro_f1 (see stat.sums).
-- columns: task, pool, cell (cell and statistic of modality.macro_series: task|model|thinking|arm|score|template, over all attempted rows, or
-- task|model|thinking|arm|score_template, over those attempted under both templates), statistic (the class), kind, cluster_id, numerator, denominator
-- (F1 = 2 hits / (2 hits + missed + false alarms))
-- serves: the intervals of Tables 6 and 10 of seed 000
WITH class_row AS (
    SELECT
        task, concat_ws('|', task, model_id, thinking, arm, 'score') AS cell, template, class, cluster_id, attempted, paired,
        2.0 * hit AS numerator, 2.0 * hit + missed + false_alarm AS denominator
    FROM modality.class_item
    WHERE replicate = (SELECT value FROM stat.parameter WHERE name = 'arm.replicate')::INTEGER
),
contribution AS (
    SELECT task, concat_ws('|', cell, template) AS cell, class, cluster_id, sum(numerator) AS numerator, sum(denominator) AS denominator
    FROM class_row
    WHERE attempted
    GROUP BY task, cell, template, class, cluster_id
    UNION ALL
    SELECT task, concat_ws('_', cell, template) AS cell, class, cluster_id, sum(numerator) AS numerator, sum(denominator) AS denominator
    FROM class_row
    WHERE paired
    GROUP BY task, cell, template, class, cluster_id
)
SELECT
    task, CAST(NULL AS VARCHAR) AS pool, cell, class AS statistic, 'rate' AS kind, cluster_id,
    numerator::DOUBLE AS numerator, denominator::DOUBLE AS denominator
FROM contribution
