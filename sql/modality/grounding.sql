-- grain: one row is one model × thinking on a task whose items' evidence is annotated (GoldenView).
-- columns: model_id, thinking, task, n_annotated (questions asked whose evidence set is known), n_scored (of those, attempted from both single sets
-- under plain), n_included (of those annotated, stated and executed attribution can be told), n_clusters (of those included); accuracy_golden,
-- accuracy_other (plain, from the set that holds the evidence, from the other), accuracy_delta (golden - other); over n_included: alignment_stated,
-- alignment_executed (attribution is exactly the evidence set), alignment_delta (stated - executed), single_stated, single_executed (attribution is
-- exactly one set), golden_given_single_stated, golden_given_single_executed (of those, it is the evidence set); each with _low, _high (interval) and
-- _se; alignment_delta_p (two-sided, of no difference), few_clusters, resamples, seed (of alignment_delta)
-- serves: Fig. 4 and Table 11 of seed 000
-- decided: accuracy is over all attempted rows, as task performance is: it needs no report. Stated and executed share one item set.
WITH question_count AS (
    SELECT
        model_id, thinking, task, concat_ws('|', task, model_id, thinking) AS cell, count(*) AS n_annotated,
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
    question.model_id, question.thinking, question.task, question.n_annotated, question.n_scored, question.n_included, question.n_clusters,
    question.n_golden_correct::DOUBLE / nullif(question.n_scored, 0) AS accuracy_golden,
    accuracy_golden.low AS accuracy_golden_low, accuracy_golden.high AS accuracy_golden_high, accuracy_golden.se AS accuracy_golden_se,
    question.n_other_correct::DOUBLE / nullif(question.n_scored, 0) AS accuracy_other,
    accuracy_other.low AS accuracy_other_low, accuracy_other.high AS accuracy_other_high, accuracy_other.se AS accuracy_other_se,
    (question.n_golden_correct - question.n_other_correct)::DOUBLE / nullif(question.n_scored, 0) AS accuracy_delta,
    accuracy_delta.low AS accuracy_delta_low, accuracy_delta.high AS accuracy_delta_high, accuracy_delta.se AS accuracy_delta_se,
    question.n_aligned_stated::DOUBLE / nullif(question.n_included, 0) AS alignment_stated,
    alignment_stated.low AS alignment_stated_low, alignment_stated.high AS alignment_stated_high, alignment_stated.se AS alignment_stated_se,
    question.n_aligned_executed::DOUBLE / nullif(question.n_included, 0) AS alignment_executed,
    alignment_executed.low AS alignment_executed_low, alignment_executed.high AS alignment_executed_high,
    alignment_executed.se AS alignment_executed_se,
    (question.n_aligned_stated - question.n_aligned_executed)::DOUBLE / nullif(question.n_included, 0) AS alignment_delta,
    alignment_delta.low AS alignment_delta_low, alignment_delta.high AS alignment_delta_high, alignment_delta.se AS alignment_delta_se,
    question.n_single_stated::DOUBLE / nullif(question.n_included, 0) AS single_stated,
    single_stated.low AS single_stated_low, single_stated.high AS single_stated_high, single_stated.se AS single_stated_se,
    question.n_single_executed::DOUBLE / nullif(question.n_included, 0) AS single_executed,
    single_executed.low AS single_executed_low, single_executed.high AS single_executed_high, single_executed.se AS single_executed_se,
    question.n_aligned_stated::DOUBLE / nullif(question.n_single_stated, 0) AS golden_given_single_stated,
    golden_given_single_stated.low AS golden_given_single_stated_low, golden_given_single_stated.high AS golden_given_single_stated_high,
    golden_given_single_stated.se AS golden_given_single_stated_se,
    question.n_aligned_executed::DOUBLE / nullif(question.n_single_executed, 0) AS golden_given_single_executed,
    golden_given_single_executed.low AS golden_given_single_executed_low, golden_given_single_executed.high AS golden_given_single_executed_high,
    golden_given_single_executed.se AS golden_given_single_executed_se,
    alignment_delta.p AS alignment_delta_p, alignment_delta.few_clusters, alignment_delta.resamples, alignment_delta.seed
FROM question_count AS question
LEFT JOIN modality.grounding_interval AS accuracy_golden ON question.cell = accuracy_golden.cell AND accuracy_golden.statistic = 'accuracy_golden'
LEFT JOIN modality.grounding_interval AS accuracy_other ON question.cell = accuracy_other.cell AND accuracy_other.statistic = 'accuracy_other'
LEFT JOIN modality.grounding_interval AS accuracy_delta ON question.cell = accuracy_delta.cell AND accuracy_delta.statistic = 'accuracy_delta'
LEFT JOIN modality.grounding_interval AS alignment_stated ON question.cell = alignment_stated.cell AND alignment_stated.statistic = 'alignment_stated'
LEFT JOIN modality.grounding_interval AS alignment_executed
    ON question.cell = alignment_executed.cell AND alignment_executed.statistic = 'alignment_executed'
LEFT JOIN modality.grounding_interval AS alignment_delta ON question.cell = alignment_delta.cell AND alignment_delta.statistic = 'alignment_delta'
LEFT JOIN modality.grounding_interval AS single_stated ON question.cell = single_stated.cell AND single_stated.statistic = 'single_stated'
LEFT JOIN modality.grounding_interval AS single_executed ON question.cell = single_executed.cell AND single_executed.statistic = 'single_executed'
LEFT JOIN modality.grounding_interval AS golden_given_single_stated
    ON question.cell = golden_given_single_stated.cell AND golden_given_single_stated.statistic = 'golden_given_single_stated'
LEFT JOIN modality.grounding_interval AS golden_given_single_executed
    ON question.cell = golden_given_single_executed.cell AND golden_given_single_executed.statistic = 'golden_given_single_executed'
