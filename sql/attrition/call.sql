-- grain: one row is one completion: its text and how the call ended, before anyone reads its answer.
-- columns: completion_id, task, item_id, arm, template, final_text (see parse.text); ending (repetition, truncated, provider_error,
--   completed), reason (in words; NULL where completed)
-- serves: seed 000, Appendix D, the first three outcomes, in its order
-- decided: a think block left open is a truncation whatever the finish says, and so is a full token budget without a finish reason;
--   a pinned request whose reply does not say who answered is no error, one that says somebody else is; an HTTP status outside
--   200-299 is an error even beside a readable body, none beside a readable body is not.
-- scans: grid 1
WITH pin AS (
    SELECT DISTINCT request_key, pin_provider, pin_precision
    FROM raw.grid
    WHERE pin_provider IS NOT NULL OR pin_precision IS NOT NULL
),
call AS (
    SELECT text.*, pin.pin_provider, pin.pin_precision
    FROM parse.text AS text
    LEFT JOIN pin ON text.request_key = pin.request_key
),
cause AS (
    SELECT
        completion_id, task, item_id, arm, template, final_text,
        CASE
            WHEN lower(finish_reason) = 'repetition' OR lower(native_finish_reason) = 'repetition' THEN 'finish_reason repetition'
            WHEN lower(stop_reason) = 'repetition_detected' THEN 'stop_reason repetition_detected'
        END AS repetition,
        CASE
            WHEN regexp_matches(lower(finish_reason), 'length|max.*token|token.?limit|context.?window')
                THEN 'finish_reason ' || finish_reason
            WHEN regexp_matches(lower(native_finish_reason), 'length|max.*token|token.?limit|context.?window')
                THEN 'native_finish_reason ' || native_finish_reason
            WHEN think_open THEN 'think block left open'
            WHEN finish_reason IS NULL AND native_finish_reason IS NULL AND body = 'message' AND completion_tokens >= max_tokens
                THEN 'no finish reason, token budget spent'
        END AS truncation,
        CASE
            WHEN error IS NOT NULL AND json_type(error) <> 'NULL' THEN 'transport error'
            WHEN http_status NOT BETWEEN 200 AND 299 THEN 'HTTP status ' || http_status
            WHEN body IN ('no body', 'no UTF-8', 'no JSON object') THEN body
            WHEN body_error IS NOT NULL THEN 'error in the body'
            WHEN choice_error IS NOT NULL OR lower(finish_reason) = 'error' THEN 'error in the choice'
            WHEN body = 'no message' THEN 'no choices'
            WHEN lower(trim(provider)) <> lower(trim(pin_provider)) THEN 'answered by provider ' || provider || ', pinned ' || pin_provider
            WHEN lower(trim("precision")) <> lower(trim(pin_precision))
                THEN 'answered in precision ' || "precision" || ', pinned ' || pin_precision
        END AS fault
    FROM call
)
SELECT
    completion_id, task, item_id, arm, template, final_text,
    CASE
        WHEN repetition IS NOT NULL THEN 'repetition'
        WHEN truncation IS NOT NULL THEN 'truncated'
        WHEN fault IS NOT NULL THEN 'provider_error'
        ELSE 'completed'
    END AS ending,
    COALESCE(repetition, truncation, fault) AS reason
FROM cause
