-- grain: one row is one model × thinking × task × arm that the study asks for under both templates.
-- columns: model_id, thinking, task, arm (AB|A|B), metric (sample_f1|macro_f1|accuracy), n_items (attempted under both templates), n_clusters,
-- score_plain, score_assess, cost (assess - plain; negative: the self-report hurt), n_read (answered readably under both), n_moved (of those, the two
-- answers differ), answer_moved (n_moved / n_read)
-- serves: the cells of Table 10 of seed 000
-- decided: paired: both scores are over the rows attempted under both templates.
WITH asked_cell AS (
    SELECT model_id, thinking, task, arm, replicate, metric
    FROM modality.scored_answer
    WHERE headline
    GROUP BY model_id, thinking, task, arm, replicate, metric
    HAVING count(DISTINCT template) = 2
),
paired_score AS (
    SELECT
        model_id, thinking, task, arm, replicate, max(n_items) AS n_items, max(n_clusters) AS n_clusters,
        max(CASE WHEN template = 'plain' THEN score END) AS score_plain, max(CASE WHEN template = 'assess' THEN score END) AS score_assess
    FROM modality.task_score
    WHERE scored = 'paired'
    GROUP BY model_id, thinking, task, arm, replicate
),
read_item AS (
    SELECT model_id, thinking, task, arm, replicate, min(answer) < max(answer) AS moved
    FROM modality.scored_answer
    WHERE paired AND answer IS NOT NULL
    GROUP BY model_id, thinking, task, arm, replicate, item_id
    HAVING count(*) = 2
),
read_count AS (
    SELECT model_id, thinking, task, arm, replicate, count(*) AS n_read, count(*) FILTER (WHERE moved) AS n_moved
    FROM read_item
    GROUP BY model_id, thinking, task, arm, replicate
)
SELECT
    model_id, thinking, task, arm, metric, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    score_plain, score_assess, score_assess - score_plain AS cost,
    COALESCE(n_read, 0) AS n_read, COALESCE(n_moved, 0) AS n_moved, n_moved::DOUBLE / nullif(n_read, 0) AS answer_moved
FROM asked_cell
LEFT JOIN paired_score USING (model_id, thinking, task, arm, replicate)
LEFT JOIN read_count USING (model_id, thinking, task, arm, replicate)
