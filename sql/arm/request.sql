-- grain: one row is one request of the chosen study's newest grid: the boundary of every result.
-- columns: study, grid_id, request_key, pin_provider, pin_precision, protocol, model_id, thinking, task, item_id, cluster_id, arm, template, replicate
-- scans: grid 3, item 1
WITH chosen AS (
    SELECT COALESCE(
        (SELECT value FROM stat.parameter WHERE name = 'study'),
        (SELECT arg_max(study, created_at) FROM raw.grid)
    ) AS study
),
newest AS (
    SELECT grid.study, max(grid.grid_id) AS grid_id
    FROM raw.grid AS grid
    INNER JOIN chosen ON grid.study = chosen.study
    GROUP BY grid.study
)
SELECT
    grid.study, grid.grid_id, grid.request_key, grid.pin_provider, grid.pin_precision, grid.protocol, grid.model_id, grid.thinking,
    grid.task, grid.item_id, item.cluster_id, grid.arm, grid.template, grid.replicate
FROM raw.grid AS grid
INNER JOIN newest ON grid.study = newest.study AND grid.grid_id = newest.grid_id
LEFT JOIN raw.item AS item ON grid.item_id = item.item_id
