-- grain: one row is one question with annotated evidence that the study asks a model.
-- columns: model_id, thinking, task, item_id, cluster_id, evidence (A|B: g), golden_correct, other_correct (the plain answer from the set that holds
-- the evidence, from the other; FALSE where lost, NULL where not attempted), stated, executed (attributions; NULL where not both can be told)
-- serves: 3.2, Fig. 4 and A.4 of seed 000
WITH annotated AS (
    SELECT item.model_id, item.thinking, item.task, item.item_id, item.cluster_id, evidence.evidence
    FROM arm.item AS item
    INNER JOIN modality.evidence AS evidence USING (item_id)
),
single_answer AS (
    SELECT model_id, thinking, task, item_id, arm, correct
    FROM modality.scored_answer
    WHERE
        template = 'plain' AND arm IN ('A', 'B')
        AND headline
)
SELECT
    annotated.model_id, annotated.thinking, annotated.task, annotated.item_id, annotated.cluster_id, annotated.evidence,
    golden.correct AS golden_correct, other.correct AS other_correct, attribution.stated, attribution.executed
FROM annotated
LEFT JOIN single_answer AS golden
    ON annotated.model_id = golden.model_id AND annotated.thinking = golden.thinking AND annotated.task = golden.task
    AND annotated.item_id = golden.item_id AND annotated.evidence = golden.arm
LEFT JOIN single_answer AS other
    ON annotated.model_id = other.model_id AND annotated.thinking = other.thinking AND annotated.task = other.task
    AND annotated.item_id = other.item_id AND annotated.evidence <> other.arm
LEFT JOIN modality.retrospective_item AS attribution
    ON annotated.model_id = attribution.model_id AND annotated.thinking = attribution.thinking AND annotated.task = attribution.task
    AND annotated.item_id = attribution.item_id
