-- grain: one row is one item, with both inputs shown, whose stated and executed attribution can both be told.
-- columns: model_id, thinking, task, item_id, cluster_id, stated, executed: A or B (that input alone gives the joint answer), either (each does),
-- both (neither does); stated by the answers that the model claims each input alone would give, executed by those it gives
-- serves: equations 1 and 2 of seed 000
-- decided: one item set for both sides: the assess answer and its two alone-claims, and the three plain answers, were all read.
SELECT
    model_id, thinking, task, item_id, cluster_id,
    CASE
        WHEN ab_assess_alone_a = ab_assess_answer AND ab_assess_alone_b = ab_assess_answer THEN 'either'
        WHEN ab_assess_alone_a = ab_assess_answer THEN 'A'
        WHEN ab_assess_alone_b = ab_assess_answer THEN 'B'
        ELSE 'both'
    END AS stated,
    CASE
        WHEN a_plain_answer = ab_plain_answer AND b_plain_answer = ab_plain_answer THEN 'either'
        WHEN a_plain_answer = ab_plain_answer THEN 'A'
        WHEN b_plain_answer = ab_plain_answer THEN 'B'
        ELSE 'both'
    END AS executed
FROM arm.item
WHERE
    ab_assess_answer IS NOT NULL AND ab_assess_alone_a IS NOT NULL AND ab_assess_alone_b IS NOT NULL
    AND ab_plain_answer IS NOT NULL AND a_plain_answer IS NOT NULL AND b_plain_answer IS NOT NULL
