-- grain: one row is one cluster's contribution to one estimate of tooluse.decomposition or tooluse.threshold_sensitivity (see stat.sums).
-- columns: task, cell (model|thinking|tau_sat|epsilon|mode), statistic (share, mean_delta, contribution), kind, cluster_id, numerator, denominator
-- serves: Tables 5, 15, 16, 17 and 20 of seed 001
-- Sums of fractions are taken as decimals, so that they do not depend on the order of the rows.
-- cache: whole
WITH cluster_sum AS (
    SELECT
        item.task, concat_ws('|', item.model_id, item.thinking, item.tau_sat, item.epsilon, modes.mode) AS cell, item.cluster_id, count(*)::DOUBLE AS n_items,
        count(*) FILTER (WHERE item.mode = modes.mode)::DOUBLE AS n,
        COALESCE(sum(item.delta::DECIMAL(38, 18)) FILTER (WHERE item.mode = modes.mode), 0)::DOUBLE AS delta
    FROM tooluse.decomposed_item AS item
    CROSS JOIN (VALUES ('no_call'), ('cwl'), ('lwp'), ('calibrated'), ('undiagnosed')) AS modes (mode)
    GROUP BY item.task, cell, item.cluster_id
),
contribution AS (
    SELECT task, cell, 'share' AS statistic, 'rate' AS kind, cluster_id, n AS numerator, n_items AS denominator FROM cluster_sum
    UNION ALL
    SELECT task, cell, 'mean_delta', 'difference', cluster_id, delta, n FROM cluster_sum
    UNION ALL
    SELECT task, cell, 'contribution', 'difference', cluster_id, delta, n_items FROM cluster_sum
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, kind, cluster_id, numerator, denominator
FROM contribution
