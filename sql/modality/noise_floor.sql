-- grain: one row is one model × thinking × task × arm × template of which the study asks several replicates.
-- columns: model_id, thinking, task, arm, template, metric, n_replicates, n_items (attempted at every replicate), n_clusters, score_min, score_max
-- (over replicates, on those items), score_spread (max - min), n_read (items whose answer was read at two replicates or more), n_flipped (those
-- whose answers are not all equal), flip_rate (n_flipped / n_read) with flip_rate_low, flip_rate_high (interval) and flip_rate_se;
-- few_clusters, resamples, seed
-- serves: E.2 of seed 000: no difference smaller than this is read
-- decided: replicates are compared on the items that all of them attempted, so that a spread is no difference of items. A
-- spread is what these replicates did, and has no interval.
WITH asked_arm AS (
    SELECT DISTINCT
        model_id, thinking, task, arm, template, metric, n_replicates, concat_ws('|', task, model_id, thinking, arm, template) AS cell
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
    asked.model_id, asked.thinking, asked.task, asked.arm, asked.template, asked.metric, asked.n_replicates,
    COALESCE(score.n_items, 0) AS n_items, COALESCE(score.n_clusters, 0) AS n_clusters,
    score.score_min, score.score_max, score.score_max - score.score_min AS score_spread,
    COALESCE(read.n_read, 0) AS n_read, COALESCE(read.n_flipped, 0) AS n_flipped, read.n_flipped::DOUBLE / nullif(read.n_read, 0) AS flip_rate,
    flip_rate.low AS flip_rate_low, flip_rate.high AS flip_rate_high, flip_rate.se AS flip_rate_se,
    flip_rate.few_clusters, flip_rate.resamples, flip_rate.seed
FROM asked_arm AS asked
LEFT JOIN repeated_score AS score USING (model_id, thinking, task, arm, template)
LEFT JOIN read_count AS read USING (model_id, thinking, task, arm, template)
LEFT JOIN modality.noise_interval AS flip_rate ON asked.cell = flip_rate.cell
