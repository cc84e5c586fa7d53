-- grain: one row is one model × thinking × item that both policies were run on.
-- columns: model_id, thinking, task, item_id, cluster_id, accuracy_tool, accuracy_direct (means over replicates), delta (tool - direct)
-- serves: equation 1 of seed 001
SELECT
    tool.model_id, tool.thinking, tool.task, tool.item_id, tool.cluster_id, tool.accuracy AS accuracy_tool, direct.accuracy AS accuracy_direct,
    (tool.n_correct * direct.n_rollouts - direct.n_correct * tool.n_rollouts)::DOUBLE / (tool.n_rollouts * direct.n_rollouts) AS delta
FROM tooluse.item_accuracy AS tool
INNER JOIN tooluse.item_accuracy AS direct
    ON tool.model_id = direct.model_id AND tool.thinking = direct.thinking AND tool.task = direct.task AND tool.item_id = direct.item_id
WHERE tool.arm = 'tool' AND tool.template = 'free' AND direct.arm = 'direct' AND direct.template = 'free'
