-- grain: one row is one cluster's contribution to one bound of modality.prospective_worst_case (see stat.sums).
-- columns: task, pool, cell (task|model|thinking|arm), statistic (gap_least, gap_most), kind, cluster_id, numerator, denominator
-- serves: the worst case behind Table 3 of seed 000
WITH cluster_sum AS (
    SELECT
        task, concat_ws('|', task, model_id, thinking, arm) AS cell, cluster_id, count(*)::DOUBLE AS n_asked,
        sum(least)::DOUBLE AS least, sum(most)::DOUBLE AS most
    FROM modality.worst_case_item
    GROUP BY task, cell, cluster_id
),
contribution AS (
    SELECT task, cell, 'gap_least' AS statistic, cluster_id, least AS numerator, n_asked AS denominator FROM cluster_sum
    UNION ALL
    SELECT task, cell, 'gap_most', cluster_id, most, n_asked FROM cluster_sum
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, 'difference' AS kind, cluster_id, numerator, denominator
FROM contribution
