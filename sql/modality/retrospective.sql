-- grain: one row is one attribution on one side: model (or `pooled`) × thinking × task × side × attribution; eight rows a group, those of 0
-- included.
-- columns: model_id (`pooled`: all models of the study together), thinking, task, side (stated|executed), attribution (A|B|both|either), n_items
-- (item × model), n_clusters, n (of the items), share (n / n_items) with share_low, share_high and share_se; few_clusters,
-- resamples, seed
-- serves: Table 2 of seed 000
-- decided: a group that was asked for and has no item keeps its rows, with n_items 0 and NULL shares. The distributions are marginals:
-- attribution_agreement has the joint one, retrospective_difference executed - stated.
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
    SELECT model_id, thinking, task, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters
    FROM attributed_item
    GROUP BY model_id, thinking, task
),
attribution_count AS (
    SELECT model_id, thinking, task, 'stated' AS side, stated AS attribution, count(*) AS n
    FROM attributed_item
    GROUP BY model_id, thinking, task, stated
    UNION ALL
    SELECT model_id, thinking, task, 'executed' AS side, executed AS attribution, count(*) AS n
    FROM attributed_item
    GROUP BY model_id, thinking, task, executed
),
asked_row AS (
    SELECT
        asked_group.model_id, asked_group.thinking, asked_group.task, sides.side, attributions.attribution,
        concat_ws('|', asked_group.task, asked_group.model_id, asked_group.thinking) AS cell
    FROM asked_group
    CROSS JOIN (VALUES ('stated'), ('executed')) AS sides (side)
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS attributions (attribution)
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.side, asked.attribution,
    COALESCE(size.n_items, 0) AS n_items, COALESCE(size.n_clusters, 0) AS n_clusters, COALESCE(attributed.n, 0) AS n,
    COALESCE(attributed.n, 0)::DOUBLE / nullif(size.n_items, 0) AS share, share.low AS share_low, share.high AS share_high, share.se AS share_se,
    share.few_clusters, share.resamples, share.seed
FROM asked_row AS asked
LEFT JOIN group_size AS size USING (model_id, thinking, task)
LEFT JOIN attribution_count AS attributed USING (model_id, thinking, task, side, attribution)
LEFT JOIN modality.retrospective_interval AS share
    ON asked.cell = share.cell AND concat_ws('|', asked.side, asked.attribution) = share.statistic
