-- grain: one row is one cluster's contribution to one estimate of tooluse.trajectory_effect (see stat.sums).
-- columns: task, cell (model|thinking|arm|template), statistic (accuracy_clean, accuracy_intervened, ate, hit_max), kind, cluster_id, numerator, denominator
-- serves: the intervals of Tables 2, 9 and 11 of seed 001
-- Sums of fractions are taken as decimals, so that they do not depend on the order of the rows.
-- cache: whole
WITH item_sum AS (
    SELECT
        task, concat_ws('|', model_id, thinking, arm, template) AS cell, cluster_id, count(*)::DOUBLE AS n_items,
        sum(accuracy_clean::DECIMAL(38, 18))::DOUBLE AS accuracy_clean, sum(accuracy_intervened::DECIMAL(38, 18))::DOUBLE AS accuracy_intervened,
        sum(delta::DECIMAL(38, 18))::DOUBLE AS ate
    FROM tooluse.trajectory_item
    GROUP BY task, cell, cluster_id
),
limit_count AS (
    SELECT
        task, concat_ws('|', model_id, thinking, arm, template) AS cell, cluster_id,
        count(*) FILTER (WHERE hit_max)::DOUBLE AS n_hit, count(hit_max)::DOUBLE AS n_rollouts
    FROM tooluse.rollout
    WHERE arm <> 'direct' AND (arm <> 'tool' OR template <> 'free') AND COALESCE(end_reason <> 'error', TRUE)
    GROUP BY task, cell, cluster_id
),
contribution AS (
    SELECT task, cell, 'accuracy_clean' AS statistic, 'rate' AS kind, cluster_id, accuracy_clean AS numerator, n_items AS denominator FROM item_sum
    UNION ALL
    SELECT task, cell, 'accuracy_intervened', 'rate', cluster_id, accuracy_intervened, n_items FROM item_sum
    UNION ALL
    SELECT task, cell, 'ate', 'difference', cluster_id, ate, n_items FROM item_sum
    UNION ALL
    SELECT task, cell, 'hit_max', 'rate', cluster_id, n_hit, n_rollouts FROM limit_count
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, kind, cluster_id, numerator, denominator
FROM contribution
