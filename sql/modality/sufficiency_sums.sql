-- grain: one row is one cluster's contribution to one rate of a cell of modality.sufficiency_cell (see stat.sums).
-- columns: task, pool (task|thinking), cell (task|model|thinking|arm), statistic (the rates of sufficiency_cell), kind, cluster_id, numerator, denominator
-- serves: the intervals of Table 4 and of Fig. 3 of seed 000
WITH cluster_count AS (
    SELECT
        task, concat_ws('|', task, thinking) AS pool, concat_ws('|', task, model_id, thinking, arm) AS cell, cluster_id, count(*)::DOUBLE AS n_items,
        count(*) FILTER (WHERE claimed_insufficient)::DOUBLE AS n_claimed, count(*) FILTER (WHERE executed_changed)::DOUBLE AS n_changed,
        count(*) FILTER (WHERE claimed_insufficient AND executed_changed)::DOUBLE AS n_hit,
        count(*) FILTER (WHERE NOT claimed_insufficient AND executed_changed)::DOUBLE AS n_missed,
        count(*) FILTER (WHERE claimed_insufficient AND NOT predicted_changed)::DOUBLE AS n_same,
        count(*) FILTER (WHERE NOT claimed_insufficient AND predicted_changed)::DOUBLE AS n_moved
    FROM modality.prospective_item
    WHERE claimed_insufficient IS NOT NULL
    GROUP BY task, pool, cell, cluster_id
),
contribution AS (
    SELECT task, pool, cell, 'claimed_insufficient' AS statistic, cluster_id, n_claimed AS numerator, n_items AS denominator FROM cluster_count
    UNION ALL
    SELECT task, pool, cell, 'base_rate', cluster_id, n_changed, n_items FROM cluster_count
    UNION ALL
    SELECT task, pool, cell, 'silent_failure', cluster_id, n_missed, n_items FROM cluster_count
    UNION ALL
    SELECT task, NULL AS pool, cell, 'insufficient_yet_same', cluster_id, n_same, n_items FROM cluster_count
    UNION ALL
    SELECT task, NULL AS pool, cell, 'sufficient_yet_changed', cluster_id, n_moved, n_items FROM cluster_count
    UNION ALL
    SELECT task, pool, cell, 'self_contradiction', cluster_id, n_same + n_moved, n_items FROM cluster_count
    UNION ALL
    SELECT task, pool, cell, 'precision', cluster_id, n_hit, n_claimed FROM cluster_count
    UNION ALL
    SELECT task, pool, cell, 'recall', cluster_id, n_hit, n_changed FROM cluster_count
    UNION ALL
    SELECT task, pool, cell, 'missed', cluster_id, n_missed, n_changed FROM cluster_count
)
SELECT task, pool, cell, statistic, 'rate' AS kind, cluster_id, numerator, denominator
FROM contribution
