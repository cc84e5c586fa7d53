-- grain: one row is one model × thinking × task under one intervention on its rollouts: arm × template.
-- columns: model_id, thinking, task, arm (random_crop|noise|blank; tool under force_answer), template (free|force_answer), n_items (with both sides),
-- n_clusters, accuracy_clean (tool, free), accuracy_intervened, ate (intervened - clean), hit_max (share of the arm's rollouts that reached the call
-- limit), each with _low and _high; n_rollouts (of the arm), mean_calls (calls a rollout), mean_calls_clean
-- serves: Tables 2, 9, 10 and 11 of seed 001
-- decided: paired by item; clean is tool under `free` for `force_answer` too. hit_max and the means of calls are over all rollouts of their arm that did
-- not end in an error.
WITH call_count AS (
    SELECT model_id, thinking, task, arm, template, count(*) AS n_rollouts, sum(n_calls)::DOUBLE / count(*) AS mean_calls
    FROM tooluse.rollout
    WHERE COALESCE(end_reason <> 'error', TRUE) AND arm <> 'direct'
    GROUP BY model_id, thinking, task, arm, template
),
clean_count AS (
    SELECT model_id, thinking, task, mean_calls AS mean_calls_clean FROM call_count WHERE arm = 'tool' AND template = 'free'
),
cell AS (
    SELECT DISTINCT model_id, thinking, task, arm, template, concat_ws('|', model_id, thinking, arm, template) AS cell
    FROM tooluse.rollout
    WHERE arm <> 'direct' AND (arm <> 'tool' OR template <> 'free')
),
item_count AS (
    SELECT model_id, thinking, task, arm, template, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters
    FROM tooluse.trajectory_item
    GROUP BY model_id, thinking, task, arm, template
),
estimate AS (
    SELECT
        task, cell,
        max(estimate) FILTER (WHERE statistic = 'accuracy_clean') AS accuracy_clean,
        max(low) FILTER (WHERE statistic = 'accuracy_clean') AS accuracy_clean_low, max(high) FILTER (WHERE statistic = 'accuracy_clean') AS accuracy_clean_high,
        max(estimate) FILTER (WHERE statistic = 'accuracy_intervened') AS accuracy_intervened,
        max(low) FILTER (WHERE statistic = 'accuracy_intervened') AS accuracy_intervened_low, max(high) FILTER (WHERE statistic = 'accuracy_intervened') AS accuracy_intervened_high,
        max(estimate) FILTER (WHERE statistic = 'ate') AS ate, max(low) FILTER (WHERE statistic = 'ate') AS ate_low,
        max(high) FILTER (WHERE statistic = 'ate') AS ate_high,
        max(estimate) FILTER (WHERE statistic = 'hit_max') AS hit_max, max(low) FILTER (WHERE statistic = 'hit_max') AS hit_max_low,
        max(high) FILTER (WHERE statistic = 'hit_max') AS hit_max_high
    FROM tooluse.trajectory_interval
    GROUP BY task, cell
)
SELECT
    model_id, thinking, task, arm, template, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    accuracy_clean, accuracy_clean_low, accuracy_clean_high, accuracy_intervened, accuracy_intervened_low, accuracy_intervened_high, ate,
    ate_low, ate_high, hit_max, hit_max_low, hit_max_high,
    COALESCE(n_rollouts, 0) AS n_rollouts, mean_calls, mean_calls_clean
FROM cell
LEFT JOIN item_count USING (model_id, thinking, task, arm, template)
LEFT JOIN call_count USING (model_id, thinking, task, arm, template)
LEFT JOIN clean_count USING (model_id, thinking, task)
LEFT JOIN estimate USING (task, cell)
