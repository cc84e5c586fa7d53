-- grain: one row is one cell of the 4 × 4 table stated × executed attribution: model (or `pooled`) × thinking × task × stated × executed.
-- columns: model_id (`pooled`: all models of the study together), thinking, task, stated, executed (A|B|both|either), n_items (item × model),
-- n_clusters, n (items in this cell of the table), share (n / n_items), agreement (share of the table's diagonal, the same in its 16 rows)
-- serves: 3.2 of seed 000: the marginals of Table 2 do not imply agreement item by item
WITH asked_model AS (
    SELECT DISTINCT model_id, thinking, task FROM arm.item WHERE ab_assess_asked
),
asked_group AS (
    SELECT model_id, thinking, task FROM asked_model
    UNION ALL
    SELECT DISTINCT 'pooled' AS model_id, thinking, task FROM asked_model
),
attributed_item AS (
    SELECT model_id, thinking, task, cluster_id, stated, executed FROM modality.retrospective_item
    UNION ALL
    SELECT 'pooled' AS model_id, thinking, task, cluster_id, stated, executed FROM modality.retrospective_item
),
group_size AS (
    SELECT
        model_id, thinking, task, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        count(*) FILTER (WHERE stated = executed) AS n_agreed
    FROM attributed_item
    GROUP BY model_id, thinking, task
),
pair_count AS (
    SELECT model_id, thinking, task, stated, executed, count(*) AS n
    FROM attributed_item
    GROUP BY model_id, thinking, task, stated, executed
),
asked_row AS (
    SELECT asked_group.model_id, asked_group.thinking, asked_group.task, said.stated, did.executed
    FROM asked_group
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS said (stated)
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS did (executed)
)
SELECT
    model_id, thinking, task, stated, executed, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    COALESCE(n, 0) AS n, COALESCE(n, 0)::DOUBLE / nullif(n_items, 0) AS share, n_agreed::DOUBLE / nullif(n_items, 0) AS agreement
FROM asked_row
LEFT JOIN group_size USING (model_id, thinking, task)
LEFT JOIN pair_count USING (model_id, thinking, task, stated, executed)
