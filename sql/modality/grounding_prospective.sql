-- grain: one row is one model × thinking on a task with annotated evidence × whether the set that was shown holds it.
-- columns: model_id, thinking, task, shown (golden: the set shown holds the annotated evidence; other: the set withheld does), n_items, n_clusters,
-- predicted_change, executed_change, gap (executed - predicted), n_flagged (items whose flag was read), and over those claimed_insufficient,
-- precision, recall, silent_failure, missed; each with _low, _high (interval) and _se; few_clusters, resamples, seed (of gap)
-- serves: B.3 of seed 000 (what the partition buys): with the evidence in hand, the withheld images should not change the answer; without
-- it, they should
-- decided: the conditions A and B are taken together: each annotated question gives one item of each kind.
WITH asked_group AS (
    SELECT DISTINCT
        single.model_id, single.thinking, single.task, split.shown,
        concat_ws('|', single.task, single.model_id, single.thinking, split.shown) AS cell
    FROM modality.single AS single
    INNER JOIN modality.evidence AS evidence USING (item_id)
    CROSS JOIN (VALUES ('golden'), ('other')) AS split (shown)
),
item_count AS (
    SELECT
        item.model_id, item.thinking, item.task, CASE WHEN item.arm = evidence.evidence THEN 'golden' ELSE 'other' END AS shown,
        count(*) AS n_items, count(DISTINCT item.cluster_id) AS n_clusters,
        count(*) FILTER (WHERE item.predicted_changed) AS n_predicted_changed,
        count(*) FILTER (WHERE item.executed_changed) AS n_executed_changed,
        count(item.claimed_insufficient) AS n_flagged,
        count(*) FILTER (WHERE item.claimed_insufficient) AS n_claimed_insufficient,
        count(*) FILTER (WHERE item.executed_changed AND item.claimed_insufficient IS NOT NULL) AS n_changed_flagged,
        count(*) FILTER (WHERE item.executed_changed AND item.claimed_insufficient) AS n_hit
    FROM modality.prospective_item AS item
    INNER JOIN modality.evidence AS evidence USING (item_id)
    GROUP BY item.model_id, item.thinking, item.task, CASE WHEN item.arm = evidence.evidence THEN 'golden' ELSE 'other' END
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.shown, COALESCE(item.n_items, 0) AS n_items, COALESCE(item.n_clusters, 0) AS n_clusters,
    item.n_predicted_changed::DOUBLE / nullif(item.n_items, 0) AS predicted_change,
    predicted_change.low AS predicted_change_low, predicted_change.high AS predicted_change_high, predicted_change.se AS predicted_change_se,
    item.n_executed_changed::DOUBLE / nullif(item.n_items, 0) AS executed_change,
    executed_change.low AS executed_change_low, executed_change.high AS executed_change_high, executed_change.se AS executed_change_se,
    (item.n_executed_changed - item.n_predicted_changed)::DOUBLE / nullif(item.n_items, 0) AS gap,
    gap.low AS gap_low, gap.high AS gap_high, gap.se AS gap_se,
    COALESCE(item.n_flagged, 0) AS n_flagged,
    item.n_claimed_insufficient::DOUBLE / nullif(item.n_flagged, 0) AS claimed_insufficient,
    claimed_insufficient.low AS claimed_insufficient_low, claimed_insufficient.high AS claimed_insufficient_high,
    claimed_insufficient.se AS claimed_insufficient_se,
    item.n_hit::DOUBLE / nullif(item.n_claimed_insufficient, 0) AS precision,
    precision.low AS precision_low, precision.high AS precision_high, precision.se AS precision_se,
    item.n_hit::DOUBLE / nullif(item.n_changed_flagged, 0) AS recall,
    recall.low AS recall_low, recall.high AS recall_high, recall.se AS recall_se,
    (item.n_changed_flagged - item.n_hit)::DOUBLE / nullif(item.n_flagged, 0) AS silent_failure,
    silent_failure.low AS silent_failure_low, silent_failure.high AS silent_failure_high, silent_failure.se AS silent_failure_se,
    (item.n_changed_flagged - item.n_hit)::DOUBLE / nullif(item.n_changed_flagged, 0) AS missed,
    missed.low AS missed_low, missed.high AS missed_high, missed.se AS missed_se,
    gap.few_clusters, gap.resamples, gap.seed
FROM asked_group AS asked
LEFT JOIN item_count AS item USING (model_id, thinking, task, shown)
LEFT JOIN modality.grounding_interval AS predicted_change ON asked.cell = predicted_change.cell AND predicted_change.statistic = 'predicted_change'
LEFT JOIN modality.grounding_interval AS executed_change ON asked.cell = executed_change.cell AND executed_change.statistic = 'executed_change'
LEFT JOIN modality.grounding_interval AS gap ON asked.cell = gap.cell AND gap.statistic = 'gap'
LEFT JOIN modality.grounding_interval AS claimed_insufficient
    ON asked.cell = claimed_insufficient.cell AND claimed_insufficient.statistic = 'claimed_insufficient'
LEFT JOIN modality.grounding_interval AS precision ON asked.cell = precision.cell AND precision.statistic = 'precision'
LEFT JOIN modality.grounding_interval AS recall ON asked.cell = recall.cell AND recall.statistic = 'recall'
LEFT JOIN modality.grounding_interval AS silent_failure ON asked.cell = silent_failure.cell AND silent_failure.statistic = 'silent_failure'
LEFT JOIN modality.grounding_interval AS missed ON asked.cell = missed.cell AND missed.statistic = 'missed'
