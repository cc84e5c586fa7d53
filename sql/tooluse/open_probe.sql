-- grain: one row is one checkpoint of a finished rollout at which the gold text was scored: the latest reading there.
-- columns: rollout_id, turn, call_index, stage (before|real|counterfactual), draw (1 to 3 of a counterfactual, else 0), score (mean log-probability per gold
-- token, in nats; NULL where unreadable), n_tokens, reason (why it is unreadable)
-- serves: the open-ended extension after C.3 of seed 001 (length-normalised gold log-likelihood)
-- decided: an open-ended probe names one label, the gold text, with its tokens in order; the gold text ends the prompt, and each of its tokens is matched by
-- id in the last entries of `prompt_logprobs`. A token that is missing there, a value that is no finite number and vLLM's floor of -9999 make it unreadable.
-- cache: whole
-- scans: probe 2
WITH repeated AS (
    SELECT rollout_id, turn, call_index, stage, draw, max(attempt) AS last_attempt
    FROM raw.probe
    WHERE attempt > 1
    GROUP BY rollout_id, turn, call_index, stage, draw
),
reply AS (
    SELECT
        probe.rollout_id, probe.turn, probe.call_index, probe.stage, probe.draw, probe.http_status,
        COALESCE(json_type(probe.error) <> 'NULL', FALSE) AS is_error,
        string_split(regexp_replace(json_extract_string(probe.options, '$."' || json_keys(probe.options)[1] || '"'), '[^0-9,]', '', 'g'), ',') AS tokens,
        TRY(json_extract(probe.response, '$.prompt_logprobs[*]')) AS entries
    FROM raw.probe AS probe
    INNER JOIN tooluse.finished AS finished ON probe.rollout_id = finished.rollout_id
    LEFT JOIN repeated
        ON probe.rollout_id = repeated.rollout_id AND probe.turn = repeated.turn AND probe.call_index = repeated.call_index
        AND probe.stage = repeated.stage AND probe.draw = repeated.draw
    WHERE COALESCE(repeated.last_attempt = probe.attempt, TRUE) AND array_length(json_keys(probe.options)) = 1
),
matched AS (
    SELECT
        *,
        list_transform(range(1, array_length(tokens) + 1), lambda place : TRY_CAST(json_extract_string(
            entries[array_length(entries) - array_length(tokens) + place], '$."' || tokens[place] || '".logprob'
        ) AS DOUBLE)) AS logprobs
    FROM reply
),
judged AS (
    -- NaN is larger than any number
    SELECT *, array_length(list_filter(logprobs, lambda value : value > -9999 AND value < 1e300)) AS n_usable FROM matched
),
explained AS (
    SELECT
        *,
        CASE
            WHEN is_error THEN 'transport error'
            WHEN http_status NOT BETWEEN 200 AND 299 THEN 'HTTP status ' || http_status
            WHEN entries IS NULL THEN 'body is not JSON'
            WHEN array_length(entries) < array_length(tokens) THEN 'fewer log-probabilities than gold tokens'
            WHEN list_count(logprobs) < array_length(tokens) THEN 'no log-probability of a gold token'
            WHEN n_usable < array_length(tokens) THEN 'log-probability of a gold token is no finite number or at the floor of -9999'
        END AS reason
    FROM judged
)
SELECT
    rollout_id, turn, call_index, stage, draw, CASE WHEN reason IS NULL THEN list_sum(logprobs) / array_length(tokens) END AS score,
    array_length(tokens) AS n_tokens, reason
FROM explained
