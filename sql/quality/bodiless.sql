-- promise: a completion holds what came back, or says why nothing did.
-- severity: warning
-- grain: one row is one completion with neither a body nor an error.
-- columns: completion_id, request_key, model_id, http_status, started_at
-- scans: completion 1
SELECT completion_id, request_key, model_id, http_status, started_at
FROM raw.completion
WHERE response IS NULL AND response_bytes IS NULL AND error IS NULL
