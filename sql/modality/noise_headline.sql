-- grain: one row is one measure of one cell (model × thinking × task × input shown) of which the study asks several replicates.
-- columns: model_id, thinking, task, arm (A|B), measure (predicted_change|executed_change|gap), n_replicates (of both arms that the measure reads),
-- n_items (read at every replicate), n_clusters, value_min, value_max (over replicates, on those items), spread (max - min)
-- serves: E.2 of seed 000, for the headline of Table 3
-- decided: replicate r of the claim is graded by replicate r of the joint answer; replicates are compared on the items that all of them read. A
-- spread is what these replicates did, and has no interval.
WITH replicate_answer AS (
    SELECT
        single.model_id, single.thinking, single.task, single.arm, single.replicate, single.item_id, single.cluster_id,
        single.with_other <> single.answer AS predicted_changed, single.answer <> joint.answer AS executed_changed,
        (SELECT value FROM stat.parameter WHERE name = 'arm.field_policy') = 'relevant'
        OR (single.outcome = 'usable' AND joint.outcome = 'usable') AS admitted
    FROM arm.answer AS single
    INNER JOIN arm.answer AS joint USING (model_id, thinking, task, item_id, replicate)
    WHERE single.arm IN ('A', 'B') AND single.template = 'assess' AND joint.arm = 'AB' AND joint.template = 'plain'
),
cell AS (
    SELECT model_id, thinking, task, arm, count(DISTINCT replicate) AS n_replicates
    FROM replicate_answer
    GROUP BY model_id, thinking, task, arm
    HAVING count(DISTINCT replicate) > 1
),
read_answer AS (
    SELECT *, count(*) OVER (PARTITION BY model_id, thinking, task, arm, item_id) AS n_read
    FROM replicate_answer
    WHERE admitted AND predicted_changed IS NOT NULL AND executed_changed IS NOT NULL
),
replicate_count AS (
    SELECT
        model_id, thinking, task, arm, replicate, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        count(*) FILTER (WHERE predicted_changed) AS n_predicted_changed, count(*) FILTER (WHERE executed_changed) AS n_executed_changed
    FROM read_answer
    INNER JOIN cell USING (model_id, thinking, task, arm)
    WHERE n_read = n_replicates
    GROUP BY model_id, thinking, task, arm, replicate
),
replicate_value AS (
    SELECT model_id, thinking, task, arm, n_items, n_clusters, 'predicted_change' AS measure, n_predicted_changed::DOUBLE / n_items AS value
    FROM replicate_count
    UNION ALL
    SELECT model_id, thinking, task, arm, n_items, n_clusters, 'executed_change' AS measure, n_executed_changed::DOUBLE / n_items AS value
    FROM replicate_count
    UNION ALL
    SELECT
        model_id, thinking, task, arm, n_items, n_clusters, 'gap' AS measure,
        (n_executed_changed - n_predicted_changed)::DOUBLE / n_items AS value
    FROM replicate_count
),
cell_measure AS (
    SELECT cell.model_id, cell.thinking, cell.task, cell.arm, cell.n_replicates, measures.measure
    FROM cell
    CROSS JOIN (VALUES ('predicted_change'), ('executed_change'), ('gap')) AS measures (measure)
)
SELECT
    model_id, thinking, task, arm, measure, n_replicates,
    COALESCE(max(n_items), 0) AS n_items, COALESCE(max(n_clusters), 0) AS n_clusters,
    min(value) AS value_min, max(value) AS value_max, max(value) - min(value) AS spread
FROM cell_measure
LEFT JOIN replicate_value USING (model_id, thinking, task, arm, measure)
GROUP BY model_id, thinking, task, arm, measure, n_replicates
