-- grain: one row is one item and one claim about the answer to inputs that were not shown, where that answer was given too.
-- columns: model_id, thinking, task, arm (AB|A|B: the inputs that the claim was made under), claim (alone_a|alone_b|with_other), item_id, cluster_id,
-- gold, claimed (the answer claimed), executed (the plain answer to the inputs it speaks of), agreed, copied (the answer given beside the claim
-- would have been right as a claim)
-- serves: B.4 of seed 000, its headline quantity
-- decided: one item set per cell: the claim, the answer given beside it and the executed answer were all read, so that agreement and copy-answer
-- baseline are paired.
WITH claim AS (
    SELECT
        model_id, thinking, task, 'AB' AS arm, 'alone_a' AS claim, item_id, cluster_id, gold,
        ab_assess_answer AS given, ab_assess_alone_a AS claimed, a_plain_answer AS executed
    FROM arm.item
    WHERE ab_assess_asked
    UNION ALL
    SELECT
        model_id, thinking, task, 'AB' AS arm, 'alone_b' AS claim, item_id, cluster_id, gold,
        ab_assess_answer AS given, ab_assess_alone_b AS claimed, b_plain_answer AS executed
    FROM arm.item
    WHERE ab_assess_asked
    UNION ALL
    SELECT
        model_id, thinking, task, arm, 'with_other' AS claim, item_id, cluster_id, gold,
        assess_answer AS given, with_other AS claimed, joint_plain_answer AS executed
    FROM modality.single
)
SELECT
    model_id, thinking, task, arm, claim, item_id, cluster_id, gold, claimed, executed,
    claimed = executed AS agreed, given = executed AS copied
FROM claim
WHERE given IS NOT NULL AND claimed IS NOT NULL AND executed IS NOT NULL
