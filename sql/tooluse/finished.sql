-- grain: one row is one finished rollout of the study: the latest attempt of model × thinking × task × item × arm × template × replicate.
-- columns: rollout_id, model_id, thinking, task, item_id, cluster_id, arm (direct|tool|random_crop|noise|blank), template (free|force_answer),
-- replicate, attempt, end_reason, max_calls, n_turns, n_calls (observations that were shown), hit_max (n_calls reached max_calls; NULL where that is
-- not known), last_completion_id (the turn that holds the answer), calling_completion_id (the turn of the first call; NULL: none), prompt_tokens,
-- completion_tokens (of all turns; NULL where one does not say), cost_usd (of all exchanges that say)
-- serves: 3.3 of seed 001
-- decided: a rollout counts once it has a row of raw.rollout; it belongs to the study whose grid asks for one of its turns. What ended in an error
-- might have gone on calling: whether it would have reached the limit is not known.
-- cache: whole
-- scans: completion 1, rollout 1, observation 1
WITH call_count AS (
    SELECT rollout_id, count(*) AS n_calls, min(turn) AS first_turn FROM raw.observation WHERE draw = 0 GROUP BY rollout_id
),
exchange AS (
    SELECT
        rollout_id, turn, completion_id, request_key, model_id, thinking, task, item_id, arm, template, replicate,
        prompt_tokens, completion_tokens, cost_usd,
        row_number() OVER (PARTITION BY rollout_id, turn ORDER BY attempt DESC, completion_id DESC) = 1 AS is_turn
    FROM raw.completion
    WHERE protocol = 'tool_use' AND rollout_id IS NOT NULL
),
asked AS (
    SELECT request_key, cluster_id FROM arm.request WHERE protocol = 'tool_use'
),
spoken AS (
    SELECT
        exchange.rollout_id, min(model_id) AS model_id, bool_or(thinking) AS thinking, min(task) AS task, min(item_id) AS item_id,
        min(asked.cluster_id) AS cluster_id, min(arm) AS arm, min(template) AS template, min(replicate) AS replicate,
        max(n_calls) AS n_calls, count(*) FILTER (WHERE is_turn) AS n_turns,
        arg_max(completion_id, turn) FILTER (WHERE is_turn) AS last_completion_id,
        max(completion_id) FILTER (WHERE is_turn AND turn = first_turn) AS calling_completion_id,
        count(prompt_tokens) FILTER (WHERE is_turn) AS n_prompt_counts, sum(prompt_tokens) FILTER (WHERE is_turn) AS prompt_tokens,
        count(completion_tokens) FILTER (WHERE is_turn) AS n_completion_counts, sum(completion_tokens) FILTER (WHERE is_turn) AS completion_tokens,
        sum(cost_usd::DECIMAL(18, 9))::DOUBLE AS cost_usd
    FROM exchange
    LEFT JOIN asked ON exchange.request_key = asked.request_key
    LEFT JOIN call_count ON exchange.rollout_id = call_count.rollout_id
    GROUP BY exchange.rollout_id
    HAVING count(asked.request_key) > 0
),
attempted AS (
    SELECT
        spoken.* EXCLUDE (n_calls), COALESCE(spoken.n_calls, 0) AS n_calls, rollout.attempt, rollout.end_reason, rollout.max_calls,
        row_number() OVER (
            PARTITION BY spoken.model_id, spoken.thinking, spoken.task, spoken.item_id, spoken.arm, spoken.template, spoken.replicate
            ORDER BY rollout.attempt DESC, rollout.rollout_id DESC
        ) = 1 AS is_latest
    FROM spoken
    INNER JOIN raw.rollout AS rollout ON spoken.rollout_id = rollout.rollout_id
)
SELECT
    rollout_id, model_id, thinking, task, item_id, cluster_id, arm, template, replicate, attempt, end_reason, max_calls, n_turns, n_calls,
    CASE
        WHEN n_calls > 0 AND n_calls >= max_calls THEN TRUE
        WHEN end_reason = 'error' THEN NULL
        WHEN n_calls = 0 THEN FALSE
        ELSE n_calls >= max_calls
    END AS hit_max,
    last_completion_id, calling_completion_id,
    CASE WHEN n_prompt_counts = n_turns THEN prompt_tokens::BIGINT END AS prompt_tokens,
    CASE WHEN n_completion_counts = n_turns THEN completion_tokens::BIGINT END AS completion_tokens,
    cost_usd
FROM attempted
WHERE is_latest
