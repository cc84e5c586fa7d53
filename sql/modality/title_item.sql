-- grain: one row is one film whose title arm and whose joint rows were both attempted.
-- columns: model_id, thinking, task, item_id (the film), cluster_id, title_f1 (sample F1 from the title alone), joint_f1 (mean sample F1 of the
-- film's plain AB rows)
-- serves: A.1 of seed 000: the title-only arm is compared at film grain
WITH headline_answer AS (
    SELECT * FROM modality.scored_answer
    WHERE attempted AND template = 'plain' AND headline
),
joint_film AS (
    SELECT model_id, thinking, task, cluster_id, (sum(set_f1)::DOUBLE / count(*))::DECIMAL(18, 15) AS joint_f1
    FROM headline_answer
    WHERE arm = 'AB'
    GROUP BY model_id, thinking, task, cluster_id
)
SELECT title.model_id, title.thinking, title.task, title.item_id, title.cluster_id, title.set_f1 AS title_f1, joint_film.joint_f1
FROM headline_answer AS title
INNER JOIN joint_film USING (model_id, thinking, task, cluster_id)
WHERE title.arm = 'title'
