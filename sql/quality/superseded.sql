-- promise: all that was paid for in the chosen study is still asked for.
-- severity: warning
-- grain: one row is one completion of a request that an older grid of the study asked for and its newest does not: kept, and in no result.
-- columns: completion_id, request_key, model_id, thinking, task, item_id, arm, template, replicate, attempt, grid_id (the last that asked for it),
-- cost_usd
-- scans: completion 1, grid 1
WITH chosen AS (
    SELECT DISTINCT study FROM arm.request
),
older_request AS (
    SELECT grid.request_key, max(grid.grid_id) AS grid_id
    FROM raw.grid AS grid
    INNER JOIN chosen ON grid.study = chosen.study
    ANTI JOIN arm.request AS request ON grid.request_key = request.request_key
    GROUP BY grid.request_key
)
SELECT
    completion.completion_id, completion.request_key, completion.model_id, completion.thinking, completion.task, completion.item_id,
    completion.arm, completion.template, completion.replicate, completion.attempt, older_request.grid_id, completion.cost_usd
FROM raw.completion AS completion
INNER JOIN older_request ON completion.request_key = older_request.request_key
