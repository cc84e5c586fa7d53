-- grain: one row is one group of one model × thinking × task; five rows a cell, those of 0 included.
-- columns: model_id, thinking, task, mode (no_call|cwl|lwp|calibrated|undiagnosed), n_items (with a finished tool rollout at replicate arm.replicate),
-- n_clusters, n (of the items, in the group), share (n / n_items), share_low, share_high
-- serves: Tables 4 and 19 of seed 001
-- decided: undiagnosed rollouts are a group of their own, so that the shares add up to 1.
WITH cell AS (
    SELECT model_id, thinking, task, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters
    FROM tooluse.labelled_item
    GROUP BY model_id, thinking, task
),
cell_mode AS (
    SELECT cell.*, modes.mode, concat_ws('|', cell.model_id, cell.thinking, modes.mode) AS cell
    FROM cell
    CROSS JOIN (VALUES ('no_call'), ('cwl'), ('lwp'), ('calibrated'), ('undiagnosed')) AS modes (mode)
),
mode_count AS (
    SELECT model_id, thinking, task, mode, count(*) AS n FROM tooluse.labelled_item GROUP BY model_id, thinking, task, mode
),
ends AS (
    SELECT task, cell, low AS share_low, high AS share_high FROM tooluse.mode_interval
)
SELECT
    model_id, thinking, task, mode, n_items, n_clusters, COALESCE(n, 0) AS n, COALESCE(n, 0)::DOUBLE / n_items AS share, share_low, share_high
FROM cell_mode
LEFT JOIN mode_count USING (model_id, thinking, task, mode)
LEFT JOIN ends USING (task, cell)
