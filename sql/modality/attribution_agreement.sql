-- grain: one row is one cell of the 4 × 4 table stated × executed attribution: model (or `pooled`) × thinking × task × stated × executed.
-- columns: model_id (`pooled`: all models of the study together), thinking, task, stated, executed (A|B|both|either), n_items (item × model),
-- n_clusters, n (items in this cell of the table), share (n / n_items), agreement (share of the table's diagonal, the
-- same in its 16 rows), each with _low, _high and _se; few_clusters, resamples, seed
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
    SELECT
        asked_group.model_id, asked_group.thinking, asked_group.task, said.stated, did.executed,
        concat_ws('|', asked_group.task, asked_group.model_id, asked_group.thinking) AS cell
    FROM asked_group
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS said (stated)
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS did (executed)
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.stated, asked.executed,
    COALESCE(size.n_items, 0) AS n_items, COALESCE(size.n_clusters, 0) AS n_clusters, COALESCE(pair.n, 0) AS n,
    COALESCE(pair.n, 0)::DOUBLE / nullif(size.n_items, 0) AS share, share.low AS share_low, share.high AS share_high, share.se AS share_se,
    size.n_agreed::DOUBLE / nullif(size.n_items, 0) AS agreement,
    agreement.low AS agreement_low, agreement.high AS agreement_high, agreement.se AS agreement_se,
    agreement.few_clusters, agreement.resamples, agreement.seed
FROM asked_row AS asked
LEFT JOIN group_size AS size USING (model_id, thinking, task)
LEFT JOIN pair_count AS pair USING (model_id, thinking, task, stated, executed)
LEFT JOIN modality.retrospective_interval AS share
    ON asked.cell = share.cell AND concat_ws('|', 'joint', asked.stated, asked.executed) = share.statistic
LEFT JOIN modality.retrospective_interval AS agreement ON asked.cell = agreement.cell AND agreement.statistic = 'agreement'
