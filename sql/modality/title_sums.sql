-- grain: one row is one film's contribution to one score of modality.title_floor (see stat.sums).
-- columns: task, pool, cell (task|model|thinking), statistic (title_score, joint_score, recovered), kind, cluster_id, numerator, denominator
-- serves: A.1 of seed 000: what a film's name alone recovers
WITH film AS (
    SELECT
        task, concat_ws('|', task, model_id, thinking) AS cell, cluster_id, count(*)::DOUBLE AS n_items,
        sum(title_f1)::DOUBLE AS title_f1, sum(joint_f1)::DOUBLE AS joint_f1
    FROM modality.title_item
    GROUP BY task, cell, cluster_id
),
contribution AS (
    SELECT task, cell, 'title_score' AS statistic, 'rate' AS kind, cluster_id, title_f1 AS numerator, n_items AS denominator FROM film
    UNION ALL
    SELECT task, cell, 'joint_score', 'rate', cluster_id, joint_f1, n_items FROM film
    UNION ALL
    SELECT task, cell, 'recovered', 'ratio', cluster_id, title_f1, joint_f1 FROM film
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, kind, cluster_id, numerator, denominator
FROM contribution
