-- grain: one row is one model × thinking whose study asks for the title arm.
-- columns: model_id, thinking, task, n_items (films), n_clusters, title_score, joint_score (means over films of sample F1), recovered (title_score as
-- a fraction of joint_score)
-- serves: A.1 of seed 000: what a film's name alone recovers
WITH asked_model AS (
    SELECT DISTINCT model_id, thinking, task FROM modality.scored_answer
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
    model_id, thinking, task, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    title_f1 / nullif(n_items, 0) AS title_score, joint_f1 / nullif(n_items, 0) AS joint_score, title_f1 / nullif(joint_f1, 0) AS recovered
FROM asked_model
LEFT JOIN film_sum USING (model_id, thinking, task)
