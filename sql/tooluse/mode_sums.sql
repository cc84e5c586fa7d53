-- grain: one row is one cluster's contribution to one share of tooluse.mode_share (see stat.sums).
-- columns: task, cell (model|thinking|mode), statistic (share), kind, cluster_id, numerator, denominator
-- serves: Tables 4 and 19 of seed 001
-- cache: whole
WITH mode AS (
    SELECT mode FROM (VALUES ('no_call'), ('cwl'), ('lwp'), ('calibrated'), ('undiagnosed')) AS modes (mode)
)
SELECT
    item.task, CAST(NULL AS VARCHAR) AS pool, concat_ws('|', item.model_id, item.thinking, mode.mode) AS cell, 'share' AS statistic, 'rate' AS kind,
    item.cluster_id, count(*) FILTER (WHERE item.mode = mode.mode)::DOUBLE AS numerator, count(*)::DOUBLE AS denominator
FROM tooluse.labelled_item AS item
CROSS JOIN mode
GROUP BY item.task, item.model_id, item.thinking, mode.mode, item.cluster_id
