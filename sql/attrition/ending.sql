-- grain: one row is one completion: how the call ended, before anyone reads its answer.
-- columns: completion_id, ending (repetition, truncated, provider_error, completed), reason (in words; NULL where completed)
-- serves: seed 000, Appendix D, the first three outcomes, in its order; `arm.settled`, which must not move with a parser's rules
-- decided: a think block left open is a truncation whatever the finish says, and so is a full token budget without a finish reason;
--   a pinned request whose reply does not say who answered is no error, one that says somebody else is; an HTTP status outside
--   200-299 is an error even beside a readable body, none beside a readable body is not.
-- cache: incremental by completion_id
-- scans: completion 2, grid 1
WITH pin AS (
    SELECT DISTINCT request_key, pin_provider, pin_precision
    FROM raw.grid
    WHERE pin_provider IS NOT NULL OR pin_precision IS NOT NULL
),
call AS (
    SELECT
        text.*, completion.http_status, completion.error, completion.response_bytes IS NOT NULL AS is_binary,
        completion.response IS NULL AS is_empty, completion.provider, completion."precision", pin.pin_provider, pin.pin_precision,
        completion.completion_tokens >= completion.max_tokens AS spent
    FROM raw.completion AS completion
    INNER JOIN parse.text AS text ON completion.completion_id = text.completion_id
    LEFT JOIN pin ON completion.request_key = pin.request_key
),
cause AS (
    SELECT
        completion_id,
        CASE
            WHEN lower(finish_reason) = 'repetition' OR lower(native_finish_reason) = 'repetition' THEN 'finish_reason repetition'
            WHEN lower(stop_reason) = 'repetition_detected' THEN 'stop_reason repetition_detected'
        END AS repetition,
        CASE
            WHEN regexp_matches(lower(finish_reason), 'length|max.*token|token.?limit|context.?window') THEN 'finish_reason ' || finish_reason
            WHEN regexp_matches(lower(native_finish_reason), 'length|max.*token|token.?limit|context.?window')
                THEN 'native_finish_reason ' || native_finish_reason
            WHEN think_open THEN 'think block left open'
            WHEN finish_reason IS NULL AND native_finish_reason IS NULL AND has_message AND spent THEN 'no finish reason, token budget spent'
        END AS truncation,
        CASE
            WHEN error IS NOT NULL AND json_type(error) <> 'NULL' THEN 'transport error'
            WHEN http_status NOT BETWEEN 200 AND 299 THEN 'HTTP status ' || http_status
            WHEN is_binary THEN 'body is not UTF-8'
            WHEN is_empty THEN 'no body'
            WHEN NOT is_json THEN 'body is not a JSON object'
            WHEN body_error IS NOT NULL THEN 'error in the body'
            WHEN choice_error IS NOT NULL OR lower(finish_reason) = 'error' THEN 'error in the choice'
            WHEN NOT has_message THEN 'no choices'
            WHEN lower(trim(provider)) <> lower(trim(pin_provider)) THEN 'answered by provider ' || provider || ', pinned ' || pin_provider
            WHEN lower(trim("precision")) <> lower(trim(pin_precision))
                THEN 'answered in precision ' || "precision" || ', pinned ' || pin_precision
        END AS fault
    FROM call
)
SELECT
    completion_id,
    CASE WHEN repetition IS NOT NULL THEN 'repetition' WHEN truncation IS NOT NULL THEN 'truncated'
        WHEN fault IS NOT NULL THEN 'provider_error' ELSE 'completed' END AS ending,
    COALESCE(repetition, truncation, fault) AS reason
FROM cause
