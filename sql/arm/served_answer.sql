-- grain: one row is one answer of the modality audit that counts, with who gave it and to what prompt.
-- columns: as arm.served
-- serves: E.1 of seed 000
-- scans: completion 1
SELECT
    completion.model_id, completion.thinking, completion.task, completion.arm, completion.template, completion.item_id,
    completion.provider, completion."precision", completion.engine || ' ' || completion.engine_version AS engine, completion.prompt_sha256
FROM raw.completion AS completion
INNER JOIN attrition.outcome AS outcome ON completion.completion_id = outcome.completion_id
INNER JOIN arm.request AS request ON completion.request_key = request.request_key
WHERE outcome.is_latest AND outcome.outcome <> 'provider_error'
