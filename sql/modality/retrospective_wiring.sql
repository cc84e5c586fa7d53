-- grain: one row is one attribution under one wiring: model (or `pooled`) × thinking × task × wiring × attribution.
-- columns: model_id (`pooled`: all models of the study together), thinking, task, wiring (plain|assess: the template of the arms that were executed),
-- attribution (A|B|both|either), n_items (item × model), n_clusters, n (executed so), share (n / n_items), n_stated, stated_share (stated so)
-- serves: Table 9 of seed 000
-- decided: stated, plain and assess are read on one common item set, the stated side too (the paper reprints Table 2's).
WITH asked_model AS (
    SELECT DISTINCT model_id, thinking, task FROM arm.item WHERE ab_assess_asked
),
asked_group AS (
    SELECT model_id, thinking, task FROM asked_model
    UNION ALL
    SELECT DISTINCT 'pooled' AS model_id, thinking, task FROM asked_model
),
attributed_item AS (
    SELECT model_id, thinking, task, cluster_id, stated, plain, assess FROM modality.retrospective_wiring_item
    UNION ALL
    SELECT 'pooled' AS model_id, thinking, task, cluster_id, stated, plain, assess FROM modality.retrospective_wiring_item
),
group_size AS (
    SELECT model_id, thinking, task, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters
    FROM attributed_item
    GROUP BY model_id, thinking, task
),
stated_count AS (
    SELECT model_id, thinking, task, stated AS attribution, count(*) AS n_stated
    FROM attributed_item
    GROUP BY model_id, thinking, task, stated
),
executed_count AS (
    SELECT model_id, thinking, task, 'plain' AS wiring, plain AS attribution, count(*) AS n
    FROM attributed_item
    GROUP BY model_id, thinking, task, plain
    UNION ALL
    SELECT model_id, thinking, task, 'assess' AS wiring, assess AS attribution, count(*) AS n
    FROM attributed_item
    GROUP BY model_id, thinking, task, assess
),
asked_row AS (
    SELECT asked_group.model_id, asked_group.thinking, asked_group.task, wirings.wiring, attributions.attribution
    FROM asked_group
    CROSS JOIN (VALUES ('plain'), ('assess')) AS wirings (wiring)
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS attributions (attribution)
)
SELECT
    model_id, thinking, task, wiring, attribution, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    COALESCE(n, 0) AS n, COALESCE(n, 0)::DOUBLE / nullif(n_items, 0) AS share,
    COALESCE(n_stated, 0) AS n_stated, COALESCE(n_stated, 0)::DOUBLE / nullif(n_items, 0) AS stated_share
FROM asked_row
LEFT JOIN group_size USING (model_id, thinking, task)
LEFT JOIN stated_count USING (model_id, thinking, task, attribution)
LEFT JOIN executed_count USING (model_id, thinking, task, wiring, attribution)
