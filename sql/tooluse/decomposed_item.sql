-- grain: one row is one model × thinking × item that both policies were run on, under one pair of thresholds: its group and what tool use changed.
-- columns: model_id, thinking, task, item_id, cluster_id, tau_sat, epsilon, in_grid, is_chosen (see tooluse.threshold), mode (of the rollout at replicate
-- arm.replicate; undiagnosed where there is none, it was not probed or hangs on an unreadable checkpoint), delta (accuracy, tool - direct)
-- serves: 4.3 of seed 001
-- cache: whole
WITH label AS (
    SELECT grouped.model_id, grouped.thinking, grouped.task, grouped.item_id, grouped.tau_sat, grouped.epsilon, grouped.mode
    FROM tooluse.grouped AS grouped
    INNER JOIN stat.parameter AS parameter ON parameter.name = 'arm.replicate' AND grouped.replicate = CAST(parameter.value AS INTEGER)
)
SELECT
    item.model_id, item.thinking, item.task, item.item_id, item.cluster_id, threshold.tau_sat, threshold.epsilon, threshold.in_grid, threshold.is_chosen,
    COALESCE(label.mode, 'undiagnosed') AS mode, item.delta
FROM tooluse.policy_item AS item
CROSS JOIN tooluse.threshold AS threshold
LEFT JOIN label
    ON item.model_id = label.model_id AND item.thinking = label.thinking AND item.task = label.task AND item.item_id = label.item_id
    AND threshold.tau_sat = label.tau_sat AND threshold.epsilon = label.epsilon
