-- grain: one row is one cluster's contribution to one estimate of tooluse.policy_effect (see stat.sums).
-- columns: task, cell (model|thinking), statistic (accuracy_tool, accuracy_direct, ate), kind, cluster_id, numerator, denominator
-- serves: the intervals of Table 1 of seed 001
-- Sums of fractions are taken as decimals, so that they do not depend on the order of the rows.
-- cache: whole
WITH cluster_sum AS (
    SELECT
        task, concat_ws('|', model_id, thinking) AS cell, cluster_id, count(*)::DOUBLE AS n_items,
        sum(accuracy_tool::DECIMAL(38, 18))::DOUBLE AS accuracy_tool, sum(accuracy_direct::DECIMAL(38, 18))::DOUBLE AS accuracy_direct,
        sum(delta::DECIMAL(38, 18))::DOUBLE AS ate
    FROM tooluse.policy_item
    GROUP BY task, cell, cluster_id
),
contribution AS (
    SELECT task, cell, 'accuracy_tool' AS statistic, 'rate' AS kind, cluster_id, accuracy_tool AS numerator, n_items AS denominator FROM cluster_sum
    UNION ALL
    SELECT task, cell, 'accuracy_direct', 'rate', cluster_id, accuracy_direct, n_items FROM cluster_sum
    UNION ALL
    SELECT task, cell, 'ate', 'difference', cluster_id, ate, n_items FROM cluster_sum
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, kind, cluster_id, numerator, denominator
FROM contribution
