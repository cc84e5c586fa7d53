-- grain: one row is one model × thinking × task × arm × template that the study asks for, at replicate `arm.replicate`.
-- columns: model_id, thinking, task, arm (AB|A|B|title), template, metric (sample_f1|macro_f1|accuracy), n_attempted (rows called), n_items (those
-- whose gold answer is known: what is scored), n_clusters, n_lost (scored, but no answer was read), n_correct, accuracy (exact answers / n_items;
-- on mmimdb the exact set), score (by the metric)
-- serves: Tables 5-7 of seed 000
-- decided: over all attempted rows; mmimdb `B` at row grain (a film's answer stands for each of its summaries), `title` at film grain.
WITH asked_arm AS (
    SELECT model_id, thinking, task, arm, template, replicate, metric, count(*) FILTER (WHERE called) AS n_attempted
    FROM modality.scored_answer
    WHERE headline
    GROUP BY model_id, thinking, task, arm, template, replicate, metric
),
attempted_score AS (
    SELECT model_id, thinking, task, arm, template, replicate, n_items, n_clusters, n_lost, n_correct, score
    FROM modality.task_score
    WHERE scored = 'attempted'
)
SELECT
    model_id, thinking, task, arm, template, metric, n_attempted, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    COALESCE(n_lost, 0) AS n_lost, COALESCE(n_correct, 0) AS n_correct, n_correct::DOUBLE / nullif(n_items, 0) AS accuracy, score
FROM asked_arm
LEFT JOIN attempted_score USING (model_id, thinking, task, arm, template, replicate)
