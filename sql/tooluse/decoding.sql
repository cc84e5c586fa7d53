-- grain: one row is one way in which a model's finished rollouts were sampled.
-- columns: model_id, thinking, temperature, top_p, top_k, max_tokens (as asked; NULL where a turn does not say), max_calls (the limit of tool calls),
-- n_rollouts
-- serves: Table 7 of seed 001
-- scans: completion 1
WITH last_turn AS (
    SELECT
        completion_id, temperature, max_tokens, TRY_CAST(json_extract_string(request, '$.top_p') AS DOUBLE) AS top_p,
        TRY_CAST(json_extract_string(request, '$.top_k') AS INTEGER) AS top_k
    FROM raw.completion
)
SELECT
    finished.model_id, finished.thinking, last_turn.temperature, last_turn.top_p, last_turn.top_k, last_turn.max_tokens, finished.max_calls,
    count(*) AS n_rollouts
FROM tooluse.finished AS finished
INNER JOIN last_turn ON finished.last_completion_id = last_turn.completion_id
GROUP BY
    finished.model_id, finished.thinking, last_turn.temperature, last_turn.top_p, last_turn.top_k, last_turn.max_tokens, finished.max_calls
