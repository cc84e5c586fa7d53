-- grain: one row is one condition that was called: model × thinking × task × arm × template.
-- columns: model_id, thinking, task, arm, template, n_calls (every attempt and replicate of the study's requests), n_requests (of those, distinct); for
-- prompt, completion and reasoning tokens, and for US dollars: n_<x> (calls that say), <x> (their sum; NULL where none says), <x>_per_call (of
-- those that say); n_latency, latency_s_per_call (seconds)
-- serves: E.2 of seed 000: what the grid costs
-- decided: a superseded attempt was paid for and counts; what a provider does not report is not estimated. Dollars are added up as decimals, so that
-- their sum does not depend on the order of the rows.
-- scans: completion 1
WITH request AS (
    SELECT DISTINCT request_key, model_id, thinking, task, arm, template
    FROM arm.request
    WHERE protocol = 'modality'
),
spent AS (
    SELECT
        request.model_id, request.thinking, request.task, request.arm, request.template,
        count(*) AS n_calls, count(DISTINCT request.request_key) AS n_requests,
        count(completion.prompt_tokens) AS n_prompt_tokens, sum(completion.prompt_tokens)::BIGINT AS prompt_tokens,
        count(completion.completion_tokens) AS n_completion_tokens, sum(completion.completion_tokens)::BIGINT AS completion_tokens,
        count(completion.reasoning_tokens) AS n_reasoning_tokens, sum(completion.reasoning_tokens)::BIGINT AS reasoning_tokens,
        count(completion.cost_usd) AS n_cost_usd, sum(completion.cost_usd::DECIMAL(18, 9))::DOUBLE AS cost_usd,
        count(completion.latency_s) AS n_latency, sum(completion.latency_s::DECIMAL(18, 6))::DOUBLE AS latency_s
    FROM request
    INNER JOIN raw.completion AS completion ON request.request_key = completion.request_key
    GROUP BY request.model_id, request.thinking, request.task, request.arm, request.template
)
SELECT
    model_id, thinking, task, arm, template, n_calls, n_requests,
    n_prompt_tokens, prompt_tokens, prompt_tokens::DOUBLE / nullif(n_prompt_tokens, 0) AS prompt_tokens_per_call,
    n_completion_tokens, completion_tokens, completion_tokens::DOUBLE / nullif(n_completion_tokens, 0) AS completion_tokens_per_call,
    n_reasoning_tokens, reasoning_tokens, reasoning_tokens::DOUBLE / nullif(n_reasoning_tokens, 0) AS reasoning_tokens_per_call,
    n_cost_usd, cost_usd, cost_usd / nullif(n_cost_usd, 0) AS cost_usd_per_call,
    n_latency, latency_s / nullif(n_latency, 0) AS latency_s_per_call
FROM spent
