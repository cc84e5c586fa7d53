-- grain: one row is one model × thinking × task × arm × template that the study asks for, at replicate `arm.replicate`.
-- columns: model_id, thinking, task, arm, template, n_items (asked for), n_clusters, n_answers (read), chance_labels, chance_answers (the rate at
-- which two independent draws agree: of the items' gold labels; of the answers read)
-- serves: Table 12 and B.2 of seed 000
-- decided: the paper's floor comes from the label distribution; the floor from the answers observed stands beside it.
WITH asked_answer AS (
    SELECT * FROM modality.scored_answer
    WHERE headline
),
item_count AS (
    SELECT model_id, thinking, task, arm, template, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters, count(answer) AS n_answers
    FROM asked_answer
    GROUP BY model_id, thinking, task, arm, template
),
label_count AS (
    SELECT model_id, thinking, task, arm, template, gold, count(*) AS n
    FROM asked_answer
    WHERE gold IS NOT NULL
    GROUP BY model_id, thinking, task, arm, template, gold
),
label_chance AS (
    SELECT model_id, thinking, task, arm, template, sum(n * n)::DOUBLE / (sum(n) * sum(n)) AS chance_labels
    FROM label_count
    GROUP BY model_id, thinking, task, arm, template
),
value_count AS (
    SELECT model_id, thinking, task, arm, template, answer, count(*) AS n
    FROM asked_answer
    WHERE answer IS NOT NULL
    GROUP BY model_id, thinking, task, arm, template, answer
),
answer_chance AS (
    SELECT model_id, thinking, task, arm, template, sum(n * n)::DOUBLE / (sum(n) * sum(n)) AS chance_answers
    FROM value_count
    GROUP BY model_id, thinking, task, arm, template
)
SELECT model_id, thinking, task, arm, template, n_items, n_clusters, n_answers, chance_labels, chance_answers
FROM item_count
LEFT JOIN label_chance USING (model_id, thinking, task, arm, template)
LEFT JOIN answer_chance USING (model_id, thinking, task, arm, template)
