-- grain: one row is one probed tool call of a finished rollout under the unhindered tool, of every replicate: a step that a training can reward.
-- columns: rollout_id, model_id, thinking, task, item_id, cluster_id, replicate, turn, call_index, correct (of the rollout); question, gold, image_sha256 (of the
-- item, as stored: rollout_id and turn lead to the turn's request and response in raw.completion), width, height (of that image), x1, y1, x2, y2 (the executed
-- box in its pixels; NULL where none is known); is_error, gap_before, gap_real, gap_cf, gain_real, gain_cf, veg, saturated (as in tooluse.call), score_before,
-- score_real, score_cf, veg_open (as veg in tooluse.open_call, nats per gold token), reason (why a value of multiple choice is NULL)
-- serves: per-step VEG as a reward for training (section 5 of seed 001)
-- decided: a step that could not be read stays, with NULL for its VEG and the reason: leaving it out, or 0, would reward what is not known.
-- scans: item 1
WITH shown AS (
    SELECT
        item_id, json_extract_string(inputs, '$.question') AS question, json_extract_string(gold, '$') AS gold,
        json_extract_string(inputs, '$.image') AS image_sha256
    FROM raw.item
)
SELECT
    call.rollout_id, call.model_id, call.thinking, call.task, call.item_id, call.cluster_id, call.replicate, call.turn, call.call_index, call.correct,
    shown.question, shown.gold, shown.image_sha256, crop.width, crop.height, crop.x1, crop.y1, crop.x2, crop.y2, call.is_error,
    call.gap_before, call.gap_real, call.gap_cf, call.gain_real, call.gain_cf, call.veg, call.saturated,
    scored.score_before, scored.score_real, scored.score_cf, scored.veg AS veg_open, CASE WHEN scored.rollout_id IS NULL THEN call.reason END AS reason
FROM tooluse.call AS call
LEFT JOIN shown ON call.item_id = shown.item_id
LEFT JOIN tooluse.crop AS crop ON call.rollout_id = crop.rollout_id AND call.turn = crop.turn AND call.call_index = crop.call_index
LEFT JOIN tooluse.open_call AS scored
    ON call.rollout_id = scored.rollout_id AND call.turn = scored.turn AND call.call_index = scored.call_index
WHERE call.arm = 'tool' AND call.template = 'free' AND (call.n_checkpoints > 0 OR scored.rollout_id IS NOT NULL)
