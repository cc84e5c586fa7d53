-- grain: one row is one request of the chosen study's newest grid: whether it needs no further call.
-- columns: as arm.request, then settled, outcome (how the latest attempt ended: see attrition.ending; NULL where none was made), reason,
--   attempts (calls made)
-- serves: resume and `status`
-- decided: every ending but provider_error settles a request; how its answer reads does not matter.
-- scans: completion 1
WITH latest AS (
    SELECT
        completion.request_key, ending.ending AS outcome, ending.reason,
        count(*) OVER (PARTITION BY completion.request_key) AS attempts
    FROM raw.completion AS completion
    INNER JOIN attrition.ending AS ending ON completion.completion_id = ending.completion_id
    QUALIFY row_number() OVER (PARTITION BY completion.request_key ORDER BY completion.attempt DESC, completion.completion_id DESC) = 1
)
SELECT
    request.*, COALESCE(latest.outcome <> 'provider_error', FALSE) AS settled, latest.outcome, latest.reason,
    COALESCE(latest.attempts, 0) AS attempts
FROM arm.request AS request
LEFT JOIN latest ON request.request_key = latest.request_key
