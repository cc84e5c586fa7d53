-- grain: one row is one cell and one claim: model × thinking × task × inputs shown (arm AB, A or B) × claim.
-- columns: model_id, thinking, task, arm, claim (alone_a|alone_b|with_other), n_items, n_clusters, n_agreed, agreement (claims that equal the answer
-- given when the claimed inputs were supplied), n_copied, copy_baseline (agreement had the model repeated the answer it gave), chance_labels,
-- chance_answers (agreement of two independent draws: of gold labels; of a claim and an executed answer); agreement and copy_baseline with _low, _high
-- and _se; few_clusters, resamples, seed
-- serves: B.2 and B.4 of seed 000
-- decided: the paper's floor comes from the label distribution; the floor from the answers observed stands beside it. Both are over the cell's items.
-- They have no interval: a product of shares is no sum over clusters, and would have to be counted anew, value by value, in each resample.
WITH asked_arm AS (
    SELECT DISTINCT item.model_id, item.thinking, item.task, 'AB' AS arm, alone.claim
    FROM arm.item AS item
    CROSS JOIN (VALUES ('alone_a'), ('alone_b')) AS alone (claim)
    WHERE item.ab_assess_asked
    UNION ALL
    SELECT DISTINCT model_id, thinking, task, arm, 'with_other' AS claim FROM modality.single
),
asked_cell AS (
    SELECT *, concat_ws('|', task, model_id, thinking, arm, claim) AS cell FROM asked_arm
),
item_count AS (
    SELECT
        model_id, thinking, task, arm, claim, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        count(*) FILTER (WHERE agreed) AS n_agreed, count(*) FILTER (WHERE copied) AS n_copied
    FROM modality.counterfactual_item
    GROUP BY model_id, thinking, task, arm, claim
),
value_occurrence AS (
    SELECT model_id, thinking, task, arm, claim, gold AS value, 1 AS labels, 0 AS claims, 0 AS answers FROM modality.counterfactual_item
    WHERE gold IS NOT NULL
    UNION ALL
    SELECT model_id, thinking, task, arm, claim, claimed AS value, 0 AS labels, 1 AS claims, 0 AS answers FROM modality.counterfactual_item
    UNION ALL
    SELECT model_id, thinking, task, arm, claim, executed AS value, 0 AS labels, 0 AS claims, 1 AS answers FROM modality.counterfactual_item
),
value_count AS (
    SELECT
        model_id, thinking, task, arm, claim, value,
        sum(labels)::BIGINT AS n_labels, sum(claims)::BIGINT AS n_claims, sum(answers)::BIGINT AS n_answers
    FROM value_occurrence
    GROUP BY model_id, thinking, task, arm, claim, value
),
chance AS (
    SELECT
        model_id, thinking, task, arm, claim,
        sum(n_labels * n_labels)::DOUBLE / nullif(sum(n_labels) * sum(n_labels), 0) AS chance_labels,
        sum(n_claims * n_answers)::DOUBLE / nullif(sum(n_claims) * sum(n_answers), 0) AS chance_answers
    FROM value_count
    GROUP BY model_id, thinking, task, arm, claim
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.arm, asked.claim,
    COALESCE(item.n_items, 0) AS n_items, COALESCE(item.n_clusters, 0) AS n_clusters, COALESCE(item.n_agreed, 0) AS n_agreed,
    item.n_agreed::DOUBLE / nullif(item.n_items, 0) AS agreement,
    agreement.low AS agreement_low, agreement.high AS agreement_high, agreement.se AS agreement_se,
    COALESCE(item.n_copied, 0) AS n_copied, item.n_copied::DOUBLE / nullif(item.n_items, 0) AS copy_baseline,
    copied.low AS copy_baseline_low, copied.high AS copy_baseline_high, copied.se AS copy_baseline_se,
    chance.chance_labels, chance.chance_answers, agreement.few_clusters, agreement.resamples, agreement.seed
FROM asked_cell AS asked
LEFT JOIN item_count AS item USING (model_id, thinking, task, arm, claim)
LEFT JOIN chance USING (model_id, thinking, task, arm, claim)
LEFT JOIN modality.counterfactual_interval AS agreement ON asked.cell = agreement.cell AND agreement.statistic = 'agreement'
LEFT JOIN modality.counterfactual_interval AS copied ON asked.cell = copied.cell AND copied.statistic = 'copy_baseline'
