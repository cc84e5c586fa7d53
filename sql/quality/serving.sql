-- promise: within one model and thinking mode, all answers that count were served and decoded in one way.
-- severity: warning
-- grain: one row is one aspect of serving or decoding that varies over the latest calls of one model and thinking mode of the study.
-- columns: model_id, thinking, aspect (provider|precision|served_model|engine|prompt_set|temperature|max_tokens), n_values, first_value, last_value
-- (in the order of text), n (calls that tell)
-- serves: E.1 of seed 000
-- scans: completion 1
WITH latest_call AS (
    SELECT
        completion.model_id, completion.thinking, completion.provider, completion."precision", completion.served_model,
        completion.engine || ' ' || completion.engine_version AS engine, completion.prompt_set,
        completion.temperature::VARCHAR AS temperature, completion.max_tokens::VARCHAR AS max_tokens
    FROM raw.completion AS completion
    INNER JOIN attrition.outcome AS outcome ON completion.completion_id = outcome.completion_id
    INNER JOIN arm.request AS request ON completion.request_key = request.request_key
    WHERE outcome.is_latest AND outcome.outcome <> 'provider_error'
),
told AS (
    SELECT
        latest_call.model_id, latest_call.thinking, aspects.aspect,
        CASE aspects.aspect
            WHEN 'provider' THEN latest_call.provider
            WHEN 'precision' THEN latest_call."precision"
            WHEN 'served_model' THEN latest_call.served_model
            WHEN 'engine' THEN latest_call.engine
            WHEN 'prompt_set' THEN latest_call.prompt_set
            WHEN 'temperature' THEN latest_call.temperature
            WHEN 'max_tokens' THEN latest_call.max_tokens
        END AS value
    FROM latest_call
    CROSS JOIN (
        VALUES ('provider'), ('precision'), ('served_model'), ('engine'), ('prompt_set'), ('temperature'), ('max_tokens')
    ) AS aspects (aspect)
)
SELECT
    model_id, thinking, aspect, count(DISTINCT value) AS n_values, min(value) AS first_value, max(value) AS last_value, count(value) AS n
FROM told
GROUP BY model_id, thinking, aspect
HAVING count(DISTINCT value) > 1
