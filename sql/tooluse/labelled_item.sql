-- grain: one row is one model × thinking × item whose labelled tool rollout (replicate arm.replicate) is finished: its group.
-- columns: model_id, thinking, task, item_id, cluster_id, mode (no_call|cwl|lwp|calibrated, or undiagnosed: it was not probed, or hangs on a checkpoint that
-- is unreadable)
-- serves: Table 4 of seed 001
SELECT
    rollout.model_id, rollout.thinking, rollout.task, rollout.item_id, rollout.cluster_id, COALESCE(diagnosis.mode, 'undiagnosed') AS mode
FROM tooluse.rollout AS rollout
INNER JOIN stat.parameter AS parameter ON parameter.name = 'arm.replicate' AND rollout.replicate = CAST(parameter.value AS INTEGER)
LEFT JOIN tooluse.diagnosis AS diagnosis ON rollout.rollout_id = diagnosis.rollout_id
WHERE rollout.arm = 'tool' AND rollout.template = 'free'
