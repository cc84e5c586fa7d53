-- grain: one row is one model × thinking × task × arm × template of which the study asks several replicates.
-- columns: model_id, thinking, task, arm, template, metric, n_replicates, n_items (attempted at every replicate), n_clusters, score_min, score_max
-- (over replicates, on those items), score_spread (max - min), n_read (items whose answer was read at two replicates or more), n_flipped (those
-- whose answers are not all equal), flip_rate (n_flipped / n_read)
-- serves: E.2 of seed 000: no difference smaller than this is read
-- decided: replicates are compared on the items that all of them attempted, so that a spread is no difference of items.
WITH asked_arm AS (
    SELECT DISTINCT model_id, thinking, task, arm, template, metric, n_replicates
    FROM modality.scored_answer
    WHERE n_replicates > 1
),
repeated_score AS (
    SELECT
        model_id, thinking, task, arm, template, max(n_items) AS n_items, max(n_clusters) AS n_clusters,
        min(score) AS score_min, max(score) AS score_max
    FROM modality.task_score
    WHERE scored = 'repeated'
    GROUP BY model_id, thinking, task, arm, template
),
read_item AS (
    SELECT model_id, thinking, task, arm, template, min(answer) < max(answer) AS flipped
    FROM modality.scored_answer
    WHERE answer IS NOT NULL
    GROUP BY model_id, thinking, task, arm, template, item_id
    HAVING count(*) > 1
),
read_count AS (
    SELECT model_id, thinking, task, arm, template, count(*) AS n_read, count(*) FILTER (WHERE flipped) AS n_flipped
    FROM read_item
    GROUP BY model_id, thinking, task, arm, template
)
SELECT
    model_id, thinking, task, arm, template, metric, n_replicates, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    score_min, score_max, score_max - score_min AS score_spread,
    COALESCE(n_read, 0) AS n_read, COALESCE(n_flipped, 0) AS n_flipped, n_flipped::DOUBLE / nullif(n_read, 0) AS flip_rate
FROM asked_arm
LEFT JOIN repeated_score USING (model_id, thinking, task, arm, template)
LEFT JOIN read_count USING (model_id, thinking, task, arm, template)
