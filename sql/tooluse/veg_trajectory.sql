-- grain: one row is one model × thinking × task: the best and the worst call of its labelled tool rollouts (replicate arm.replicate).
-- columns: model_id, thinking, task, n_items (whose rollout has a VEG that was read), n_clusters, n_correct, n_incorrect (of those, by the rollout's answer);
-- veg_max, veg_min (means over rollouts of the largest and smallest VEG), veg_max_correct, veg_max_incorrect, veg_min_correct, veg_min_incorrect
-- (by the rollout's answer), each with _low and _high
-- serves: Table 12 of seed 001
-- decided: over the first call of each turn, or all (tooluse.calls).
WITH cell AS (
    SELECT
        model_id, thinking, task, concat_ws('|', model_id, thinking) AS cell,
        count(veg_max) AS n_items, count(DISTINCT cluster_id) FILTER (WHERE veg_max IS NOT NULL) AS n_clusters,
        count(veg_max) FILTER (WHERE correct) AS n_correct, count(veg_max) FILTER (WHERE NOT correct) AS n_incorrect
    FROM tooluse.trajectory AS trajectory
    INNER JOIN stat.parameter AS parameter ON parameter.name = 'arm.replicate' AND trajectory.replicate = CAST(parameter.value AS INTEGER)
    GROUP BY model_id, thinking, task
),
estimate AS (
    SELECT
        task, cell,
        max(estimate) FILTER (WHERE statistic = 'veg_max') AS veg_max, max(low) FILTER (WHERE statistic = 'veg_max') AS veg_max_low,
        max(high) FILTER (WHERE statistic = 'veg_max') AS veg_max_high,
        max(estimate) FILTER (WHERE statistic = 'veg_max_correct') AS veg_max_correct,
        max(low) FILTER (WHERE statistic = 'veg_max_correct') AS veg_max_correct_low, max(high) FILTER (WHERE statistic = 'veg_max_correct') AS veg_max_correct_high,
        max(estimate) FILTER (WHERE statistic = 'veg_max_incorrect') AS veg_max_incorrect,
        max(low) FILTER (WHERE statistic = 'veg_max_incorrect') AS veg_max_incorrect_low, max(high) FILTER (WHERE statistic = 'veg_max_incorrect') AS veg_max_incorrect_high,
        max(estimate) FILTER (WHERE statistic = 'veg_min') AS veg_min, max(low) FILTER (WHERE statistic = 'veg_min') AS veg_min_low,
        max(high) FILTER (WHERE statistic = 'veg_min') AS veg_min_high,
        max(estimate) FILTER (WHERE statistic = 'veg_min_correct') AS veg_min_correct,
        max(low) FILTER (WHERE statistic = 'veg_min_correct') AS veg_min_correct_low, max(high) FILTER (WHERE statistic = 'veg_min_correct') AS veg_min_correct_high,
        max(estimate) FILTER (WHERE statistic = 'veg_min_incorrect') AS veg_min_incorrect,
        max(low) FILTER (WHERE statistic = 'veg_min_incorrect') AS veg_min_incorrect_low, max(high) FILTER (WHERE statistic = 'veg_min_incorrect') AS veg_min_incorrect_high
    FROM tooluse.peak_interval
    GROUP BY task, cell
)
SELECT
    model_id, thinking, task, n_items, n_clusters, n_correct, n_incorrect,
    veg_max, veg_max_low, veg_max_high, veg_max_correct, veg_max_correct_low, veg_max_correct_high, veg_max_incorrect,
    veg_max_incorrect_low, veg_max_incorrect_high, veg_min, veg_min_low, veg_min_high, veg_min_correct, veg_min_correct_low,
    veg_min_correct_high, veg_min_incorrect, veg_min_incorrect_low, veg_min_incorrect_high
FROM cell
LEFT JOIN estimate USING (task, cell)
