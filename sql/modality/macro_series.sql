-- grain: one row is one macro-F1 of one cell, or the difference of two, as a point.
-- columns: as stat.series: statistic (score|template: over all attempted rows; score_plain, score_assess, cost (assess - plain): over those attempted under
-- both templates), se NULL, bundle (one for each), place 1
-- serves: Tables 6 and 10 of seed 000
-- decided: CR1 is for ratios of sums: a macro-F1 has no se.
WITH score AS (
    SELECT
        task, concat_ws('|', task, thinking, CASE WHEN arm = 'AB' THEN 'joint' ELSE 'single' END) AS pool,
        concat_ws('|', task, model_id, thinking, arm) AS cell, template, scored, n_items, n_clusters, score
    FROM modality.task_score
    WHERE metric = 'macro_f1' AND replicate = (SELECT value FROM stat.parameter WHERE name = 'arm.replicate')::INTEGER
),
point AS (
    SELECT task, NULL AS pool, cell, concat_ws('|', 'score', template) AS statistic, 'rate' AS kind, score AS estimate, n_items AS n, n_clusters
    FROM score
    WHERE scored = 'attempted'
    UNION ALL
    SELECT task, NULL AS pool, cell, concat_ws('_', 'score', template), 'rate', score, n_items, n_clusters FROM score WHERE scored = 'paired'
    UNION ALL
    SELECT
        task, pool, cell, 'cost', 'difference', max(score) FILTER (WHERE template = 'assess') - max(score) FILTER (WHERE template = 'plain'),
        max(n_items), max(n_clusters)
    FROM score
    WHERE scored = 'paired'
    GROUP BY task, pool, cell
)
SELECT
    task, CAST(NULL AS BIGINT) AS task_rank, pool, cell, statistic, kind, estimate, n, n_clusters, CAST(NULL AS DOUBLE) AS se,
    row_number() OVER (ORDER BY cell, statistic) AS bundle, 1 AS place, TRUE AS is_carrier, CAST(NULL AS DOUBLE) AS base
FROM point
