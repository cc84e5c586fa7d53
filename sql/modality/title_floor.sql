-- grain: one row is one model × thinking whose study asks for the title arm.
-- columns: model_id, thinking, task, n_items (films), n_clusters, title_score, joint_score (means over films of sample F1), recovered (title_score as
-- a fraction of joint_score), each with _low, _high (interval) and _se; few_clusters, resamples, seed
-- serves: A.1 of seed 000: what a film's name alone recovers
WITH asked_model AS (
    SELECT DISTINCT model_id, thinking, task, concat_ws('|', task, model_id, thinking) AS cell FROM modality.scored_answer
    WHERE arm = 'title' AND headline
),
film_sum AS (
    SELECT
        model_id, thinking, task, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        sum(title_f1)::DOUBLE AS title_f1, sum(joint_f1)::DOUBLE AS joint_f1
    FROM modality.title_item
    GROUP BY model_id, thinking, task
)
SELECT
    asked.model_id, asked.thinking, asked.task, COALESCE(film.n_items, 0) AS n_items, COALESCE(film.n_clusters, 0) AS n_clusters,
    film.title_f1 / nullif(film.n_items, 0) AS title_score,
    title_score.low AS title_score_low, title_score.high AS title_score_high, title_score.se AS title_score_se,
    film.joint_f1 / nullif(film.n_items, 0) AS joint_score,
    joint_score.low AS joint_score_low, joint_score.high AS joint_score_high, joint_score.se AS joint_score_se,
    film.title_f1 / nullif(film.joint_f1, 0) AS recovered,
    recovered.low AS recovered_low, recovered.high AS recovered_high, recovered.se AS recovered_se,
    title_score.few_clusters, title_score.resamples, title_score.seed
FROM asked_model AS asked
LEFT JOIN film_sum AS film USING (model_id, thinking, task)
LEFT JOIN modality.title_interval AS title_score ON asked.cell = title_score.cell AND title_score.statistic = 'title_score'
LEFT JOIN modality.title_interval AS joint_score ON asked.cell = joint_score.cell AND joint_score.statistic = 'joint_score'
LEFT JOIN modality.title_interval AS recovered ON asked.cell = recovered.cell AND recovered.statistic = 'recovered'
