-- grain: one row is one item whose labelled tool rollout is finished for two models: the groups of both.
-- columns: model_id, thinking, base_model_id, base_thinking, task, item_id, cluster_id, calibrated_shift (1: calibrated with the model and not with the base,
-- -1: the reverse, else 0), miscalibrated_shift (likewise for cwl and lwp together)
-- serves: section 5 of seed 001 (evaluation beyond accuracy)
SELECT
    item.model_id, item.thinking, base.model_id AS base_model_id, base.thinking AS base_thinking, item.task, item.item_id, item.cluster_id,
    (item.mode = 'calibrated')::INTEGER - (base.mode = 'calibrated')::INTEGER AS calibrated_shift,
    (item.mode IN ('cwl', 'lwp'))::INTEGER - (base.mode IN ('cwl', 'lwp'))::INTEGER AS miscalibrated_shift
FROM tooluse.labelled_item AS item
INNER JOIN tooluse.labelled_item AS base
    ON item.task = base.task AND item.item_id = base.item_id AND (item.model_id <> base.model_id OR item.thinking <> base.thinking)
