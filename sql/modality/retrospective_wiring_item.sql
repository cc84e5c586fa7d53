-- grain: one row is one item of retrospective_item whose two single-input answers under `assess` were read too.
-- columns: model_id, thinking, task, item_id, cluster_id, stated, plain, assess (A|B|both|either): the attribution stated, the one executed by the
-- three plain arms, the one executed by the three assess arms
-- serves: A.3 of seed 000
SELECT
    retrospective.model_id, retrospective.thinking, retrospective.task, retrospective.item_id, retrospective.cluster_id,
    retrospective.stated, retrospective.executed AS plain,
    CASE
        WHEN item.a_assess_answer = item.ab_assess_answer AND item.b_assess_answer = item.ab_assess_answer THEN 'either'
        WHEN item.a_assess_answer = item.ab_assess_answer THEN 'A'
        WHEN item.b_assess_answer = item.ab_assess_answer THEN 'B'
        ELSE 'both'
    END AS assess
FROM modality.retrospective_item AS retrospective
INNER JOIN arm.item AS item USING (model_id, thinking, task, item_id)
WHERE item.a_assess_answer IS NOT NULL AND item.b_assess_answer IS NOT NULL
