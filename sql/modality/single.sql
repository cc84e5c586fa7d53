-- grain: one row is one item that a study shows to a model with one input alone, asking for the answer and a self-report.
-- columns: model_id, thinking, task, arm (A|B: the input that was shown), item_id, cluster_id, gold, assess_answer, with_other, sufficiency
-- (as said under `assess`), plain_answer (the same input under `plain`), joint_assess_answer, joint_plain_answer (both inputs); each NULL unless read
-- serves: 3.3 and Table 1 of seed 000 (the prospective row and its mirror)
SELECT
    model_id, thinking, task, 'A' AS arm, item_id, cluster_id, gold,
    a_assess_answer AS assess_answer, a_assess_with_other AS with_other, a_assess_sufficiency AS sufficiency,
    a_plain_answer AS plain_answer, ab_assess_answer AS joint_assess_answer, ab_plain_answer AS joint_plain_answer
FROM arm.item
WHERE a_assess_asked
UNION ALL
SELECT
    model_id, thinking, task, 'B' AS arm, item_id, cluster_id, gold,
    b_assess_answer AS assess_answer, b_assess_with_other AS with_other, b_assess_sufficiency AS sufficiency,
    b_plain_answer AS plain_answer, ab_assess_answer AS joint_assess_answer, ab_plain_answer AS joint_plain_answer
FROM arm.item
WHERE b_assess_asked
