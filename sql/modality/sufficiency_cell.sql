-- grain: one row is one cell: model × thinking × task × input shown (arm A or B), over the items of prospective_item whose flag was read.
-- columns: model_id, thinking, task, arm, n_items, n_clusters, n_claimed_insufficient, n_executed_changed, n_flagged_changed (claimed insufficient
-- and changed); claimed_insufficient, precision (changed, of the claimed), recall (claimed, of the changed), base_rate (changed, of all: the precision of
-- a flag placed at random), silent_failure (claimed sufficient and changed, of all), missed (claimed sufficient, of the changed);
-- insufficient_yet_same, sufficient_yet_changed (flags that the model's own counterfactual answer contradicts, of all), self_contradiction
-- (both); each with _low, _high (interval) and _se; few_clusters, resamples, seed (of base_rate)
-- serves: Fig. 3 of seed 000 and equation 4; the cells of Table 4; C.2 (the flag against the counterfactual it should agree with)
-- decided: an empty denominator is NULL; a cell that was asked for and has no item is a row with n_items 0.
WITH asked_cell AS (
    SELECT DISTINCT model_id, thinking, task, arm, concat_ws('|', task, model_id, thinking, arm) AS cell FROM modality.single
),
item_count AS (
    SELECT
        model_id, thinking, task, arm, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        count(*) FILTER (WHERE claimed_insufficient) AS n_claimed_insufficient,
        count(*) FILTER (WHERE executed_changed) AS n_executed_changed,
        count(*) FILTER (WHERE claimed_insufficient AND executed_changed) AS n_flagged_changed,
        count(*) FILTER (WHERE claimed_insufficient AND NOT predicted_changed) AS n_insufficient_yet_same,
        count(*) FILTER (WHERE NOT claimed_insufficient AND predicted_changed) AS n_sufficient_yet_changed
    FROM modality.prospective_item
    WHERE claimed_insufficient IS NOT NULL
    GROUP BY model_id, thinking, task, arm
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.arm, COALESCE(item.n_items, 0) AS n_items, COALESCE(item.n_clusters, 0) AS n_clusters,
    COALESCE(item.n_claimed_insufficient, 0) AS n_claimed_insufficient, COALESCE(item.n_executed_changed, 0) AS n_executed_changed,
    COALESCE(item.n_flagged_changed, 0) AS n_flagged_changed,
    item.n_claimed_insufficient::DOUBLE / nullif(item.n_items, 0) AS claimed_insufficient,
    claimed_insufficient.low AS claimed_insufficient_low, claimed_insufficient.high AS claimed_insufficient_high,
    claimed_insufficient.se AS claimed_insufficient_se,
    item.n_flagged_changed::DOUBLE / nullif(item.n_claimed_insufficient, 0) AS precision,
    precision.low AS precision_low, precision.high AS precision_high, precision.se AS precision_se,
    item.n_flagged_changed::DOUBLE / nullif(item.n_executed_changed, 0) AS recall,
    recall.low AS recall_low, recall.high AS recall_high, recall.se AS recall_se,
    item.n_executed_changed::DOUBLE / nullif(item.n_items, 0) AS base_rate,
    base_rate.low AS base_rate_low, base_rate.high AS base_rate_high, base_rate.se AS base_rate_se,
    (item.n_executed_changed - item.n_flagged_changed)::DOUBLE / nullif(item.n_items, 0) AS silent_failure,
    silent_failure.low AS silent_failure_low, silent_failure.high AS silent_failure_high, silent_failure.se AS silent_failure_se,
    (item.n_executed_changed - item.n_flagged_changed)::DOUBLE / nullif(item.n_executed_changed, 0) AS missed,
    missed.low AS missed_low, missed.high AS missed_high, missed.se AS missed_se,
    item.n_insufficient_yet_same::DOUBLE / nullif(item.n_items, 0) AS insufficient_yet_same,
    insufficient_yet_same.low AS insufficient_yet_same_low, insufficient_yet_same.high AS insufficient_yet_same_high,
    insufficient_yet_same.se AS insufficient_yet_same_se,
    item.n_sufficient_yet_changed::DOUBLE / nullif(item.n_items, 0) AS sufficient_yet_changed,
    sufficient_yet_changed.low AS sufficient_yet_changed_low, sufficient_yet_changed.high AS sufficient_yet_changed_high,
    sufficient_yet_changed.se AS sufficient_yet_changed_se,
    (item.n_insufficient_yet_same + item.n_sufficient_yet_changed)::DOUBLE / nullif(item.n_items, 0) AS self_contradiction,
    self_contradiction.low AS self_contradiction_low, self_contradiction.high AS self_contradiction_high,
    self_contradiction.se AS self_contradiction_se,
    base_rate.few_clusters, base_rate.resamples, base_rate.seed
FROM asked_cell AS asked
LEFT JOIN item_count AS item USING (model_id, thinking, task, arm)
LEFT JOIN modality.sufficiency_interval AS claimed_insufficient
    ON asked.cell = claimed_insufficient.cell AND claimed_insufficient.statistic = 'claimed_insufficient'
LEFT JOIN modality.sufficiency_interval AS precision ON asked.cell = precision.cell AND precision.statistic = 'precision'
LEFT JOIN modality.sufficiency_interval AS recall ON asked.cell = recall.cell AND recall.statistic = 'recall'
LEFT JOIN modality.sufficiency_interval AS base_rate ON asked.cell = base_rate.cell AND base_rate.statistic = 'base_rate'
LEFT JOIN modality.sufficiency_interval AS silent_failure ON asked.cell = silent_failure.cell AND silent_failure.statistic = 'silent_failure'
LEFT JOIN modality.sufficiency_interval AS missed ON asked.cell = missed.cell AND missed.statistic = 'missed'
LEFT JOIN modality.sufficiency_interval AS insufficient_yet_same
    ON asked.cell = insufficient_yet_same.cell AND insufficient_yet_same.statistic = 'insufficient_yet_same'
LEFT JOIN modality.sufficiency_interval AS sufficient_yet_changed
    ON asked.cell = sufficient_yet_changed.cell AND sufficient_yet_changed.statistic = 'sufficient_yet_changed'
LEFT JOIN modality.sufficiency_interval AS self_contradiction
    ON asked.cell = self_contradiction.cell AND self_contradiction.statistic = 'self_contradiction'
