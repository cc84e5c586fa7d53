-- promise: the attempts of a request are numbered from 1 without a gap: none is lost.
-- severity: warning
-- grain: one row is one request with a gap in its attempts.
-- columns: request_key, model_id, thinking, task, item_id, arm, template, replicate, n (attempts stored), last (highest number)
-- scans: completion 1
SELECT
    request_key, model_id, thinking, task, item_id, arm, template, replicate, count(DISTINCT attempt) AS n, max(attempt) AS last
FROM raw.completion
WHERE protocol = 'modality'
GROUP BY request_key, model_id, thinking, task, item_id, arm, template, replicate
HAVING min(attempt) <> 1 OR count(DISTINCT attempt) <> max(attempt)
