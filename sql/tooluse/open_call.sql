-- grain: one row is one tool call of a finished rollout at which the gold text was scored.
-- columns: rollout_id, model_id, thinking, task, item_id, cluster_id, arm, template, replicate, correct, turn, call_index; score_before, score_real, score_cf (mean
-- of three counterfactual crops; nats per gold token), veg (score_real - score_cf); each NULL where a checkpoint that it needs is unreadable
-- serves: the open-ended extension after C.3 of seed 001; per-step VEG for training
-- decided: the three crops must all be read; a call that ended in a tool error has no VEG.
WITH checkpoint AS (
    SELECT
        rollout_id, turn, call_index, max(score) FILTER (WHERE stage = 'before') AS score_before, max(score) FILTER (WHERE stage = 'real') AS score_real,
        (max(score) FILTER (WHERE stage = 'counterfactual' AND draw = 1) + max(score) FILTER (WHERE stage = 'counterfactual' AND draw = 2)
        + max(score) FILTER (WHERE stage = 'counterfactual' AND draw = 3)) / 3 AS score_cf
    FROM tooluse.open_probe
    GROUP BY rollout_id, turn, call_index
)
SELECT
    call.rollout_id, call.model_id, call.thinking, call.task, call.item_id, call.cluster_id, call.arm, call.template, call.replicate, call.correct, call.turn,
    call.call_index, checkpoint.score_before, CASE WHEN NOT call.is_error THEN checkpoint.score_real END AS score_real,
    CASE WHEN NOT call.is_error THEN checkpoint.score_cf END AS score_cf,
    CASE WHEN NOT call.is_error THEN checkpoint.score_real - checkpoint.score_cf END AS veg
FROM checkpoint
INNER JOIN tooluse.call AS call
    ON checkpoint.rollout_id = call.rollout_id AND checkpoint.turn = call.turn AND checkpoint.call_index = call.call_index
