-- grain: one row is one model × thinking × task × arm × template that the study asks for, at replicate `arm.replicate`.
-- columns: model_id, thinking, task, arm (AB|A|B|title), template, metric (sample_f1|macro_f1|accuracy), n_attempted (rows called), n_items (those
-- whose gold answer is known: what is scored), n_clusters, n_lost (scored, but no answer was read), n_correct, accuracy (exact answers / n_items;
-- on mmimdb the exact set), score (by the metric), each with _low, _high (interval) and _se (score_se NULL where the metric is macro_f1); few_clusters,
-- resamples, seed
-- serves: Tables 5-7 of seed 000
-- decided: over all attempted rows; mmimdb `B` at row grain (a film's answer stands for each of its summaries), `title` at film grain.
WITH asked_arm AS (
    SELECT
        model_id, thinking, task, arm, template, replicate, metric, concat_ws('|', task, model_id, thinking, arm) AS cell,
        count(*) FILTER (WHERE called) AS n_attempted
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
    asked.model_id, asked.thinking, asked.task, asked.arm, asked.template, asked.metric, asked.n_attempted,
    COALESCE(scored.n_items, 0) AS n_items, COALESCE(scored.n_clusters, 0) AS n_clusters, COALESCE(scored.n_lost, 0) AS n_lost,
    COALESCE(scored.n_correct, 0) AS n_correct, scored.n_correct::DOUBLE / nullif(scored.n_items, 0) AS accuracy,
    accuracy.low AS accuracy_low, accuracy.high AS accuracy_high, accuracy.se AS accuracy_se,
    scored.score, score.low AS score_low, score.high AS score_high, score.se AS score_se,
    accuracy.few_clusters, accuracy.resamples, accuracy.seed
FROM asked_arm AS asked
LEFT JOIN attempted_score AS scored USING (model_id, thinking, task, arm, template, replicate)
LEFT JOIN modality.performance_interval AS accuracy
    ON asked.cell = accuracy.cell AND concat_ws('|', 'accuracy', asked.template) = accuracy.statistic
LEFT JOIN modality.performance_interval AS score
    ON asked.cell = score.cell AND concat_ws('|', 'score', asked.template) = score.statistic
