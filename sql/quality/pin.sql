-- promise: every reply came from the provider and in the precision that were pinned.
-- severity: warning
-- grain: one row is one completion of the study that somebody else answered, or in another precision; it counts as a provider error.
-- columns: completion_id, request_key, model_id, attempt, pin_provider, provider, pin_precision, precision
-- serves: E.1 of seed 000: a change of precision would be indistinguishable from an effect of the condition
-- scans: completion 1
SELECT
    completion.completion_id, completion.request_key, completion.model_id, completion.attempt,
    request.pin_provider, completion.provider, request.pin_precision, completion."precision"
FROM raw.completion AS completion
INNER JOIN arm.request AS request ON completion.request_key = request.request_key
WHERE
    lower(trim(completion.provider)) <> lower(trim(request.pin_provider))
    OR lower(trim(completion."precision")) <> lower(trim(request.pin_precision))
