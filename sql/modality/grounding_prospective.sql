-- grain: one row is one model × thinking on a task with annotated evidence × whether the set that was shown holds it.
-- columns: model_id, thinking, task, shown (golden: the set shown holds the annotated evidence; other: the set withheld does), n_items, n_clusters,
-- predicted_change, executed_change, gap (executed - predicted), n_flagged (items whose flag was read), and over those claimed_insufficient,
-- precision, recall, silent_failure, missed
-- serves: B.3 of seed 000 (what the partition buys): with the evidence in hand, the withheld images should not change the answer; without
-- it, they should
-- decided: the conditions A and B are taken together: each annotated question gives one item of each kind.
WITH asked_group AS (
    SELECT DISTINCT single.model_id, single.thinking, single.task, split.shown
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
    model_id, thinking, task, shown, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    n_predicted_changed::DOUBLE / nullif(n_items, 0) AS predicted_change,
    n_executed_changed::DOUBLE / nullif(n_items, 0) AS executed_change,
    (n_executed_changed - n_predicted_changed)::DOUBLE / nullif(n_items, 0) AS gap,
    COALESCE(n_flagged, 0) AS n_flagged,
    n_claimed_insufficient::DOUBLE / nullif(n_flagged, 0) AS claimed_insufficient,
    n_hit::DOUBLE / nullif(n_claimed_insufficient, 0) AS precision,
    n_hit::DOUBLE / nullif(n_changed_flagged, 0) AS recall,
    (n_changed_flagged - n_hit)::DOUBLE / nullif(n_flagged, 0) AS silent_failure,
    (n_changed_flagged - n_hit)::DOUBLE / nullif(n_changed_flagged, 0) AS missed
FROM asked_group
LEFT JOIN item_count USING (model_id, thinking, task, shown)
