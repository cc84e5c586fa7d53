-- grain: one row is one request of a newest grid that the call reads (see arm.study): the boundary of every result.
-- columns: study, grid_id, request_key, pin_provider, pin_precision, protocol, model_id, thinking, task, item_id, cluster_id, arm, template, replicate
-- scans: grid 1, item 1
SELECT
    grid.study, grid.grid_id, grid.request_key, grid.pin_provider, grid.pin_precision, grid.protocol, grid.model_id, grid.thinking,
    grid.task, grid.item_id, item.cluster_id, grid.arm, grid.template, grid.replicate
FROM raw.grid AS grid
INNER JOIN arm.study AS study ON grid.study = study.study AND grid.grid_id = study.grid_id
LEFT JOIN raw.item AS item ON grid.item_id = item.item_id
