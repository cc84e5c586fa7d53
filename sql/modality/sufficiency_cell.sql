-- grain: one row is one cell: model × thinking × task × input shown (arm A or B), over the items of prospective_item whose flag was read.
-- columns: model_id, thinking, task, arm, n_items, n_clusters, n_claimed_insufficient, n_executed_changed, n_flagged_changed (claimed insufficient
-- and changed); claimed_insufficient, precision (changed, of the claimed), recall (claimed, of the changed), base_rate (changed, of all: the precision of
-- a flag placed at random), silent_failure (claimed sufficient and changed, of all), missed (claimed sufficient, of the changed);
-- insufficient_yet_same, sufficient_yet_changed (flags that the model's own counterfactual answer contradicts, of all), self_contradiction (both)
-- serves: Fig. 3 of seed 000 and equation 4; the cells of Table 4; C.2 (the flag against the counterfactual it should agree with)
-- decided: an empty denominator is NULL; a cell that was asked for and has no item is a row with n_items 0.
WITH asked_cell AS (
    SELECT DISTINCT model_id, thinking, task, arm FROM modality.single
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
    model_id, thinking, task, arm, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    COALESCE(n_claimed_insufficient, 0) AS n_claimed_insufficient, COALESCE(n_executed_changed, 0) AS n_executed_changed,
    COALESCE(n_flagged_changed, 0) AS n_flagged_changed,
    n_claimed_insufficient::DOUBLE / nullif(n_items, 0) AS claimed_insufficient,
    n_flagged_changed::DOUBLE / nullif(n_claimed_insufficient, 0) AS precision,
    n_flagged_changed::DOUBLE / nullif(n_executed_changed, 0) AS recall,
    n_executed_changed::DOUBLE / nullif(n_items, 0) AS base_rate,
    (n_executed_changed - n_flagged_changed)::DOUBLE / nullif(n_items, 0) AS silent_failure,
    (n_executed_changed - n_flagged_changed)::DOUBLE / nullif(n_executed_changed, 0) AS missed,
    n_insufficient_yet_same::DOUBLE / nullif(n_items, 0) AS insufficient_yet_same,
    n_sufficient_yet_changed::DOUBLE / nullif(n_items, 0) AS sufficient_yet_changed,
    (n_insufficient_yet_same + n_sufficient_yet_changed)::DOUBLE / nullif(n_items, 0) AS self_contradiction
FROM asked_cell
LEFT JOIN item_count USING (model_id, thinking, task, arm)
