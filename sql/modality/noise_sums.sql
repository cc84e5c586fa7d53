-- grain: one row is one cluster's contribution to one flip rate of modality.noise_floor (see stat.sums).
-- columns: task, pool, cell (task|model|thinking|arm|template), statistic (flip_rate), kind, cluster_id, numerator, denominator
-- serves: E.2 of seed 000
WITH read_item AS (
    SELECT
        task, concat_ws('|', task, model_id, thinking, arm, template) AS cell, cluster_id, item_id, min(answer) < max(answer) AS flipped
    FROM modality.scored_answer
    WHERE answer IS NOT NULL AND n_replicates > 1
    GROUP BY task, cell, cluster_id, item_id
    HAVING count(*) > 1
)
SELECT
    task, CAST(NULL AS VARCHAR) AS pool, cell, 'flip_rate' AS statistic, 'rate' AS kind, cluster_id,
    count(*) FILTER (WHERE flipped)::DOUBLE AS numerator, count(*)::DOUBLE AS denominator
FROM read_item
GROUP BY task, cell, cluster_id
