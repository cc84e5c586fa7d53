-- grain: one row is one call that a labelled tool rollout (replicate arm.replicate) made after its first turn, having started unsaturated.
-- columns: model_id, thinking, task, item_id, cluster_id, position (2, 3, 4+), saturated
-- serves: equation 5 of seed 001 (what POER is conditioned on)
-- decided: a call whose checkpoint is unreadable is left out, and so are all of a rollout whose first one is.
SELECT
    call.model_id, call.thinking, call.task, call.item_id, call.cluster_id,
    CASE WHEN call.position >= 4 THEN '4+' ELSE call.position::VARCHAR END AS position, call.saturated
FROM tooluse.call AS call
INNER JOIN tooluse.call AS opening ON call.rollout_id = opening.rollout_id AND opening.call_number = 1
INNER JOIN stat.parameter AS parameter ON parameter.name = 'arm.replicate' AND call.replicate = CAST(parameter.value AS INTEGER)
WHERE call.arm = 'tool' AND call.template = 'free' AND call.is_counted AND call.position >= 2 AND call.saturated IS NOT NULL AND NOT opening.saturated
