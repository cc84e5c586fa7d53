-- grain: one row is one request of the chosen study's newest grid: whether it needs no further call.
-- columns: as arm.request, then settled, outcome (how the latest attempt ended; NULL where none was made), reason, attempts
-- serves: resume and `status`
-- decided: every ending but provider_error settles a request; how its answer reads does not matter.
WITH call AS (
    SELECT completion.request_key, completion.attempt, completion.completion_id, ending.ending, ending.reason
    FROM raw.completion AS completion
    INNER JOIN attrition.ending AS ending ON completion.completion_id = ending.completion_id
),
latest AS (
    SELECT
        request_key, count(*) AS attempts, arg_max(ending, attempt) AS outcome, max(attempt) AS last_attempt
    FROM call
    GROUP BY request_key
)
SELECT
    request.*, COALESCE(latest.outcome <> 'provider_error', FALSE) AS settled, latest.outcome, call.reason, COALESCE(latest.attempts, 0) AS attempts
FROM arm.request AS request
LEFT JOIN latest ON request.request_key = latest.request_key
LEFT JOIN call ON latest.request_key = call.request_key AND latest.last_attempt = call.attempt
