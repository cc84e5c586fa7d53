-- grain: one row is one request of the chosen study's newest grid: whether it needs no further call.
-- columns: as arm.request, then settled, outcome (how the latest attempt ended: see attrition.ending, or the end_reason of a rollout; NULL where
--   none was made, or none of a rollout was finished), reason, attempts (calls made; of a rollout: attempts that were begun)
-- serves: resume and `status`
-- decided: every ending but provider_error settles a request; how its answer reads does not matter. A rollout is settled once an attempt at it
--   was finished that did not end in an error, whatever its turns came to.
-- scans: completion 2, rollout 1
WITH latest AS (
    SELECT
        completion.request_key, ending.ending AS outcome, ending.reason,
        count(*) OVER (PARTITION BY completion.request_key) AS attempts
    FROM raw.completion AS completion
    INNER JOIN attrition.ending AS ending ON completion.completion_id = ending.completion_id
    WHERE completion.protocol <> 'tool_use'
    QUALIFY row_number() OVER (PARTITION BY completion.request_key ORDER BY completion.attempt DESC, completion.completion_id DESC) = 1
),
last_exchange AS (
    -- of each attempt at a rollout that was begun
    SELECT completion.request_key, completion.rollout_id, ending.reason
    FROM raw.completion AS completion
    INNER JOIN attrition.ending AS ending ON completion.completion_id = ending.completion_id
    WHERE completion.protocol = 'tool_use'
    QUALIFY row_number() OVER (
        PARTITION BY completion.request_key, completion.rollout_id
        ORDER BY completion.turn DESC, completion.attempt DESC, completion.completion_id DESC
    ) = 1
),
latest_rollout AS (
    SELECT
        last_exchange.request_key, rollout.end_reason AS outcome,
        CASE WHEN rollout.end_reason IS NULL THEN 'not finished' WHEN rollout.end_reason = 'error' THEN last_exchange.reason END AS reason,
        count(*) OVER (PARTITION BY last_exchange.request_key) AS attempts,
        bool_or(rollout.end_reason <> 'error') OVER (PARTITION BY last_exchange.request_key) AS settled
    FROM last_exchange
    LEFT JOIN raw.rollout AS rollout ON last_exchange.rollout_id = rollout.rollout_id
    QUALIFY row_number() OVER (
        PARTITION BY last_exchange.request_key ORDER BY rollout.attempt DESC NULLS LAST, last_exchange.rollout_id DESC
    ) = 1
),
state AS (
    SELECT request_key, outcome <> 'provider_error' AS settled, outcome, reason, attempts FROM latest
    UNION ALL
    SELECT request_key, settled, outcome, reason, attempts FROM latest_rollout
)
SELECT
    request.*, COALESCE(state.settled, FALSE) AS settled, state.outcome, state.reason, COALESCE(state.attempts, 0) AS attempts
FROM arm.request AS request
LEFT JOIN state ON request.request_key = state.request_key
