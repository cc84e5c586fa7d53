-- grain: one row is one turn of a finished rollout, with who gave it and to what prompt.
-- columns: as arm.served
-- serves: 3.3 of seed 001
-- decided: of a turn the last exchange counts.
-- scans: completion 1
SELECT
    completion.model_id, completion.thinking, completion.task, completion.arm, completion.template, completion.item_id,
    completion.provider, completion."precision", completion.engine || ' ' || completion.engine_version AS engine, completion.prompt_sha256
FROM raw.completion AS completion
INNER JOIN tooluse.finished AS finished ON completion.rollout_id = finished.rollout_id
WHERE completion.protocol = 'tool_use' AND finished.end_reason <> 'error'
QUALIFY row_number() OVER (
    PARTITION BY completion.rollout_id, completion.turn ORDER BY completion.attempt DESC, completion.completion_id DESC
) = 1
