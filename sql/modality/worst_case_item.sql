-- grain: one row is one item that a study asks a self-report of, with one input shown, and the most that its lost answers could say.
-- columns: model_id, thinking, task, arm, item_id, cluster_id, is_read (in modality.prospective_item), least, most (-1, 0 or 1: the smallest and
-- largest executed - predicted change that what was read allows; equal where is_read)
-- serves: the worst case behind Table 3 of seed 000
-- decided: what was read stays: where the claimed change is known and the executed one lost, only the executed one is imputed, and the reverse.
WITH asked AS (
    SELECT
        model_id, thinking, task, arm, item_id, cluster_id,
        (with_other <> assess_answer)::INTEGER AS predicted, (assess_answer <> joint_plain_answer)::INTEGER AS executed
    FROM modality.single
)
SELECT
    model_id, thinking, task, arm, item_id, cluster_id, predicted IS NOT NULL AND executed IS NOT NULL AS is_read,
    COALESCE(executed, 0) - COALESCE(predicted, 1) AS least, COALESCE(executed, 1) - COALESCE(predicted, 0) AS most
FROM asked
