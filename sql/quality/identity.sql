-- promise: a completion says the same about itself as the grid cell that its request_key names.
-- severity: error
-- grain: one row is one completion whose identity differs from its cell's.
-- columns: completion_id, request_key, completion (its model, thinking, task, item, arm, template, replicate), cell (the grid's)
-- scans: completion 1, grid 1
WITH cell AS (
    SELECT DISTINCT request_key, concat_ws(', ', model_id, thinking, task, item_id, arm, template, replicate) AS identity
    FROM raw.grid
    WHERE protocol = 'modality'
),
completion AS (
    SELECT completion_id, request_key, concat_ws(', ', model_id, thinking, task, item_id, arm, template, replicate) AS identity
    FROM raw.completion
    WHERE protocol = 'modality'
)
SELECT completion.completion_id, completion.request_key, completion.identity AS completion, cell.identity AS cell
FROM completion
INNER JOIN cell ON completion.request_key = cell.request_key
WHERE completion.identity <> cell.identity
