-- grain: one row is one attribution under one wiring: model (or `pooled`) × thinking × task × wiring × attribution.
-- columns: model_id (`pooled`: all models of the study together), thinking, task, wiring (plain|assess: the template of the arms that were executed),
-- attribution (A|B|both|either), n_items (item × model), n_clusters, n (executed so), share (n / n_items), n_stated, stated_share (stated so);
-- share and stated_share with _low, _high and _se; few_clusters, resamples, seed
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
    SELECT
        asked_group.model_id, asked_group.thinking, asked_group.task, wirings.wiring, attributions.attribution,
        concat_ws('|', asked_group.task, asked_group.model_id, asked_group.thinking) AS cell
    FROM asked_group
    CROSS JOIN (VALUES ('plain'), ('assess')) AS wirings (wiring)
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS attributions (attribution)
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.wiring, asked.attribution,
    COALESCE(size.n_items, 0) AS n_items, COALESCE(size.n_clusters, 0) AS n_clusters, COALESCE(executed.n, 0) AS n,
    COALESCE(executed.n, 0)::DOUBLE / nullif(size.n_items, 0) AS share, share.low AS share_low, share.high AS share_high, share.se AS share_se,
    COALESCE(stated.n_stated, 0) AS n_stated, COALESCE(stated.n_stated, 0)::DOUBLE / nullif(size.n_items, 0) AS stated_share,
    stated_share.low AS stated_share_low, stated_share.high AS stated_share_high, stated_share.se AS stated_share_se,
    share.few_clusters, share.resamples, share.seed
FROM asked_row AS asked
LEFT JOIN group_size AS size USING (model_id, thinking, task)
LEFT JOIN stated_count AS stated USING (model_id, thinking, task, attribution)
LEFT JOIN executed_count AS executed USING (model_id, thinking, task, wiring, attribution)
LEFT JOIN modality.retrospective_wiring_interval AS share
    ON asked.cell = share.cell AND concat_ws('|', asked.wiring, asked.attribution) = share.statistic
LEFT JOIN modality.retrospective_wiring_interval AS stated_share
    ON asked.cell = stated_share.cell AND concat_ws('|', 'stated', asked.attribution) = stated_share.statistic
