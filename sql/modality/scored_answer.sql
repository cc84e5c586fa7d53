-- grain: one row is one answer asked for: model × thinking × task × item × arm × template × replicate, at the grain of arm.answer.
-- columns: model_id, thinking, task, arm, template, replicate, item_id, cluster_id, gold, answer (NULL unless read), metric (the task's:
-- sample_f1|macro_f1|accuracy), headline (at replicate `arm.replicate`), called, attempted (called, and the gold answer is known), correct (equal to
-- gold; FALSE where the answer was lost; NULL unless attempted), set_f1 (F1 of the answered against the gold set, where metric is sample_f1; 0 where
-- lost; NULL unless attempted), paired (attempted under both templates), n_replicates (that the study asks of this arm and template), repeated
-- (there are several, and all were attempted)
-- serves: A.1, A.3 and E.2 of seed 000
-- decided: by ANSWER alone, whatever `arm.field_policy` says: a lost report costs nothing, a lost answer scores 0.
-- cache: whole
-- F1 is kept as a decimal, so that its sums do not depend on the order of the rows.
WITH answer AS (
    SELECT
        model_id, thinking, task, arm, template, replicate, item_id, cluster_id, gold, answer,
        CASE task WHEN 'mmimdb' THEN 'sample_f1' WHEN 'isobench/math_parity' THEN 'macro_f1' ELSE 'accuracy' END AS metric,
        replicate = (SELECT value FROM stat.parameter WHERE name = 'arm.replicate')::INTEGER AS headline,
        outcome IS NOT NULL AS called, outcome IS NOT NULL AND gold IS NOT NULL AS attempted
    FROM arm.answer
),
replicate_count AS (
    SELECT model_id, thinking, task, arm, template, count(DISTINCT replicate) AS n_replicates
    FROM answer
    GROUP BY model_id, thinking, task, arm, template
),
named_answer AS (
    SELECT
        *,
        CASE WHEN metric = 'sample_f1' THEN string_split(translate(gold, '[]" ', ''), ',') END AS gold_names,
        CASE WHEN metric = 'sample_f1' THEN string_split(translate(answer, '[]" ', ''), ',') END AS answer_names
    FROM answer
),
compared_answer AS (
    SELECT
        *,
        array_length(list_filter(answer_names, lambda name : list_contains(gold_names, name))) AS n_shared,
        array_length(answer_names) + array_length(gold_names) AS n_names,
        sum(CASE WHEN attempted THEN 1 ELSE 0 END) OVER (PARTITION BY model_id, thinking, task, item_id, arm, replicate) AS n_templates_attempted,
        sum(CASE WHEN attempted THEN 1 ELSE 0 END) OVER (PARTITION BY model_id, thinking, task, item_id, arm, template) AS n_replicates_attempted
    FROM named_answer
)
SELECT
    model_id, thinking, task, arm, template, replicate, item_id, cluster_id, gold, answer, metric, headline, called, attempted,
    CASE WHEN attempted THEN answer IS NOT NULL AND answer = gold END AS correct,
    CASE WHEN attempted AND metric = 'sample_f1' THEN COALESCE(2.0 * n_shared / n_names, 0)::DECIMAL(18, 15) END AS set_f1,
    n_templates_attempted = 2 AS paired, n_replicates, n_replicates > 1 AND n_replicates_attempted = n_replicates AS repeated
FROM compared_answer
INNER JOIN replicate_count USING (model_id, thinking, task, arm, template)
