-- grain: one row is one model × thinking on a task whose items' evidence is annotated (GoldenView).
-- columns: model_id, thinking, task, n_annotated (questions asked whose evidence set is known), n_scored (of those, attempted from both single sets
-- under plain), n_included (of those annotated, stated and executed attribution can be told), n_clusters (of those included); accuracy_golden,
-- accuracy_other (plain, from the set that holds the evidence, from the other), accuracy_delta (golden - other); over n_included: alignment_stated,
-- alignment_executed (attribution is exactly the evidence set), alignment_delta (stated - executed), single_stated, single_executed (attribution is
-- exactly one set), golden_given_single_stated, golden_given_single_executed (of those, it is the evidence set)
-- serves: Fig. 4 and Table 11 of seed 000
-- decided: accuracy is over all attempted rows, as task performance is: it needs no report. Stated and executed share one item set.
WITH question_count AS (
    SELECT
        model_id, thinking, task, count(*) AS n_annotated,
        count(*) FILTER (WHERE golden_correct IS NOT NULL AND other_correct IS NOT NULL) AS n_scored,
        count(*) FILTER (WHERE golden_correct AND other_correct IS NOT NULL) AS n_golden_correct,
        count(*) FILTER (WHERE other_correct AND golden_correct IS NOT NULL) AS n_other_correct,
        count(stated) AS n_included,
        count(DISTINCT cluster_id) FILTER (WHERE stated IS NOT NULL) AS n_clusters,
        count(*) FILTER (WHERE stated = evidence) AS n_aligned_stated,
        count(*) FILTER (WHERE executed = evidence) AS n_aligned_executed,
        count(*) FILTER (WHERE stated IN ('A', 'B')) AS n_single_stated,
        count(*) FILTER (WHERE executed IN ('A', 'B')) AS n_single_executed
    FROM modality.grounding_item
    GROUP BY model_id, thinking, task
)
SELECT
    model_id, thinking, task, n_annotated, n_scored, n_included, n_clusters,
    n_golden_correct::DOUBLE / nullif(n_scored, 0) AS accuracy_golden,
    n_other_correct::DOUBLE / nullif(n_scored, 0) AS accuracy_other,
    (n_golden_correct - n_other_correct)::DOUBLE / nullif(n_scored, 0) AS accuracy_delta,
    n_aligned_stated::DOUBLE / nullif(n_included, 0) AS alignment_stated,
    n_aligned_executed::DOUBLE / nullif(n_included, 0) AS alignment_executed,
    (n_aligned_stated - n_aligned_executed)::DOUBLE / nullif(n_included, 0) AS alignment_delta,
    n_single_stated::DOUBLE / nullif(n_included, 0) AS single_stated,
    n_single_executed::DOUBLE / nullif(n_included, 0) AS single_executed,
    n_aligned_stated::DOUBLE / nullif(n_single_stated, 0) AS golden_given_single_stated,
    n_aligned_executed::DOUBLE / nullif(n_single_executed, 0) AS golden_given_single_executed
FROM question_count
