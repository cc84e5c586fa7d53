-- grain: one row is one cluster's contribution to one rate of modality.counterfactual_agreement (see stat.sums).
-- columns: task, pool, cell (task|model|thinking|arm|claim), statistic (agreement, copy_baseline), kind, cluster_id, numerator, denominator
-- serves: B.4 of seed 000
WITH cluster_count AS (
    SELECT
        task, concat_ws('|', task, model_id, thinking, arm, claim) AS cell, cluster_id, count(*)::DOUBLE AS n_items,
        count(*) FILTER (WHERE agreed)::DOUBLE AS n_agreed, count(*) FILTER (WHERE copied)::DOUBLE AS n_copied
    FROM modality.counterfactual_item
    GROUP BY task, cell, cluster_id
),
contribution AS (
    SELECT task, cell, 'agreement' AS statistic, cluster_id, n_agreed AS numerator, n_items AS denominator FROM cluster_count
    UNION ALL
    SELECT task, cell, 'copy_baseline', cluster_id, n_copied, n_items FROM cluster_count
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, 'rate' AS kind, cluster_id, numerator, denominator
FROM contribution
