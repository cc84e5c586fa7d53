-- grain: one row is one model × thinking × task that was run under a policy: tool use against direct inference.
-- columns: model_id, thinking, task, n_items (with both sides), n_clusters, accuracy_tool, accuracy_direct (means over items of the mean over replicates),
-- ate (tool - direct), each with _low and _high; of all finished rollouts of the two policies tokens_tool, tokens_direct (completion tokens a rollout, over
-- those that say), cost_tool, cost_direct (US dollars a rollout, likewise), calls_tool (calls a rollout)
-- serves: Table 1 and Fig. 1a of seed 001
-- decided: paired by item: an item that lacks a side is left out of both.
WITH cell AS (
    SELECT
        model_id, thinking, task, concat_ws('|', model_id, thinking) AS cell,
        sum(completion_tokens) FILTER (WHERE arm = 'tool')::DOUBLE / nullif(count(completion_tokens) FILTER (WHERE arm = 'tool'), 0) AS tokens_tool,
        sum(completion_tokens) FILTER (WHERE arm = 'direct')::DOUBLE / nullif(count(completion_tokens) FILTER (WHERE arm = 'direct'), 0) AS tokens_direct,
        sum(cost_usd::DECIMAL(18, 9)) FILTER (WHERE arm = 'tool')::DOUBLE / nullif(count(cost_usd) FILTER (WHERE arm = 'tool'), 0) AS cost_tool,
        sum(cost_usd::DECIMAL(18, 9)) FILTER (WHERE arm = 'direct')::DOUBLE / nullif(count(cost_usd) FILTER (WHERE arm = 'direct'), 0) AS cost_direct,
        sum(n_calls) FILTER (WHERE arm = 'tool')::DOUBLE / nullif(count(*) FILTER (WHERE arm = 'tool'), 0) AS calls_tool
    FROM tooluse.rollout
    WHERE arm IN ('tool', 'direct') AND template = 'free'
    GROUP BY model_id, thinking, task
),
item_count AS (
    SELECT model_id, thinking, task, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters
    FROM tooluse.policy_item
    GROUP BY model_id, thinking, task
),
estimate AS (
    SELECT
        task, cell,
        max(estimate) FILTER (WHERE statistic = 'accuracy_tool') AS accuracy_tool,
        max(low) FILTER (WHERE statistic = 'accuracy_tool') AS accuracy_tool_low, max(high) FILTER (WHERE statistic = 'accuracy_tool') AS accuracy_tool_high,
        max(estimate) FILTER (WHERE statistic = 'accuracy_direct') AS accuracy_direct,
        max(low) FILTER (WHERE statistic = 'accuracy_direct') AS accuracy_direct_low, max(high) FILTER (WHERE statistic = 'accuracy_direct') AS accuracy_direct_high,
        max(estimate) FILTER (WHERE statistic = 'ate') AS ate, max(low) FILTER (WHERE statistic = 'ate') AS ate_low,
        max(high) FILTER (WHERE statistic = 'ate') AS ate_high
    FROM tooluse.policy_interval
    GROUP BY task, cell
)
SELECT
    model_id, thinking, task, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    accuracy_tool, accuracy_tool_low, accuracy_tool_high, accuracy_direct, accuracy_direct_low, accuracy_direct_high, ate, ate_low,
    ate_high,
    tokens_tool, tokens_direct, cost_tool, cost_direct, calls_tool
FROM cell
LEFT JOIN item_count USING (model_id, thinking, task)
LEFT JOIN estimate USING (task, cell)
