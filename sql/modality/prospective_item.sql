-- grain: one row is one item of a cell (model × thinking × task × input shown) whose claim and whose restored behaviour were both read.
-- columns: model_id, thinking, task, arm (A|B: the input that was shown), item_id, cluster_id, predicted_changed (the model said that the other input
-- would change its answer), executed_changed (it did), claimed_insufficient (NULL where the flag was not read)
-- serves: equation 3 of seed 000
-- decided: one item set per cell: the answer given, the answer claimed and the plain joint answer were all read; a lost flag does not cost the item.
SELECT
    model_id, thinking, task, arm, item_id, cluster_id,
    with_other <> assess_answer AS predicted_changed,
    assess_answer <> joint_plain_answer AS executed_changed,
    sufficiency = 'INSUFFICIENT' AS claimed_insufficient
FROM modality.single
WHERE assess_answer IS NOT NULL AND with_other IS NOT NULL AND joint_plain_answer IS NOT NULL
