-- grain: one row is one model × thinking × task × arm that the study asks for under both templates.
-- columns: model_id, thinking, task, arm (AB|A|B), metric (sample_f1|macro_f1|accuracy), n_items (attempted under both templates), n_clusters,
-- score_plain, score_assess, cost (assess - plain; negative: the self-report hurt), n_read (answered readably under both), n_moved (of those, the two
-- answers differ), answer_moved (n_moved / n_read); scores, cost and answer_moved each with _low, _high (interval) and _se (that of a score or cost NULL
-- where the metric is macro_f1); few_clusters, resamples, seed (of cost)
-- serves: the cells of Table 10 of seed 000
-- decided: paired: both scores are over the rows attempted under both templates.
WITH asked_cell AS (
    SELECT model_id, thinking, task, arm, replicate, metric, concat_ws('|', task, model_id, thinking, arm) AS cell
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
    asked.model_id, asked.thinking, asked.task, asked.arm, asked.metric,
    COALESCE(paired.n_items, 0) AS n_items, COALESCE(paired.n_clusters, 0) AS n_clusters,
    paired.score_plain, score_plain.low AS score_plain_low, score_plain.high AS score_plain_high, score_plain.se AS score_plain_se,
    paired.score_assess, score_assess.low AS score_assess_low, score_assess.high AS score_assess_high, score_assess.se AS score_assess_se,
    paired.score_assess - paired.score_plain AS cost, cost.low AS cost_low, cost.high AS cost_high, cost.se AS cost_se,
    COALESCE(read.n_read, 0) AS n_read, COALESCE(read.n_moved, 0) AS n_moved, read.n_moved::DOUBLE / nullif(read.n_read, 0) AS answer_moved,
    answer_moved.low AS answer_moved_low, answer_moved.high AS answer_moved_high, answer_moved.se AS answer_moved_se,
    cost.few_clusters, cost.resamples, cost.seed
FROM asked_cell AS asked
LEFT JOIN paired_score AS paired USING (model_id, thinking, task, arm, replicate)
LEFT JOIN read_count AS read USING (model_id, thinking, task, arm, replicate)
LEFT JOIN modality.performance_interval AS score_plain ON asked.cell = score_plain.cell AND score_plain.statistic = 'score_plain'
LEFT JOIN modality.performance_interval AS score_assess ON asked.cell = score_assess.cell AND score_assess.statistic = 'score_assess'
LEFT JOIN modality.performance_interval AS cost ON asked.cell = cost.cell AND cost.statistic = 'cost'
LEFT JOIN modality.performance_interval AS answer_moved ON asked.cell = answer_moved.cell AND answer_moved.statistic = 'answer_moved'
