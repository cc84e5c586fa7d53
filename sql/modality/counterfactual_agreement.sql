-- grain: one row is one cell and one claim: model × thinking × task × inputs shown (arm AB, A or B) × claim.
-- columns: model_id, thinking, task, arm, claim (alone_a|alone_b|with_other), n_items, n_clusters, n_agreed, agreement (claims that equal the answer
-- given when the claimed inputs were supplied), n_copied, copy_baseline (agreement had the model repeated the answer it gave), chance_labels,
-- chance_answers (agreement of two independent draws: of gold labels; of a claim and an executed answer)
-- serves: B.2 and B.4 of seed 000
-- decided: the paper's floor comes from the label distribution; the floor from the answers observed stands beside it. Both are over the cell's items.
WITH asked_cell AS (
    SELECT DISTINCT item.model_id, item.thinking, item.task, 'AB' AS arm, alone.claim
    FROM arm.item AS item
    CROSS JOIN (VALUES ('alone_a'), ('alone_b')) AS alone (claim)
    WHERE item.ab_assess_asked
    UNION ALL
    SELECT DISTINCT model_id, thinking, task, arm, 'with_other' AS claim FROM modality.single
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
    model_id, thinking, task, arm, claim, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    COALESCE(n_agreed, 0) AS n_agreed, n_agreed::DOUBLE / nullif(n_items, 0) AS agreement,
    COALESCE(n_copied, 0) AS n_copied, n_copied::DOUBLE / nullif(n_items, 0) AS copy_baseline,
    chance_labels, chance_answers
FROM asked_cell
LEFT JOIN item_count USING (model_id, thinking, task, arm, claim)
LEFT JOIN chance USING (model_id, thinking, task, arm, claim)
