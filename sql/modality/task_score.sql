-- grain: one row is one model × thinking × task × arm × template × replicate, scored over one set of its rows; a set without rows has no row.
-- columns: model_id, thinking, task, arm, template, replicate, metric (sample_f1|macro_f1|accuracy), scored (attempted: all attempted rows; paired:
-- those attempted under both templates; repeated: those attempted at every replicate), n_items, n_clusters, n_lost (no answer was read), n_correct,
-- score (by the metric)
-- serves: A.1, A.3 and E.2 of seed 000: one scorer for performance, cost and noise
-- decided: macro-F1 is over the classes that occur as gold or answer.
WITH row_set AS (
    SELECT scored FROM (VALUES ('attempted'), ('paired'), ('repeated')) AS row_sets (scored)
),
answer_count AS (
    SELECT
        model_id, thinking, task, arm, template, replicate, metric, scored, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        count(*) FILTER (WHERE answer IS NULL) AS n_lost, count(*) FILTER (WHERE correct) AS n_correct, sum(set_f1) AS set_f1
    FROM modality.scored_answer
    INNER JOIN row_set ON CASE scored WHEN 'attempted' THEN attempted WHEN 'paired' THEN paired ELSE repeated END
    GROUP BY model_id, thinking, task, arm, template, replicate, metric, scored
),
class_f1 AS (
    SELECT
        model_id, thinking, task, arm, template, replicate, scored, class,
        (2.0 * sum(hit) / (2 * sum(hit) + sum(missed) + sum(false_alarm)))::DECIMAL(18, 15) AS f1
    FROM modality.class_item
    INNER JOIN row_set ON CASE scored WHEN 'attempted' THEN attempted WHEN 'paired' THEN paired ELSE repeated END
    GROUP BY model_id, thinking, task, arm, template, replicate, scored, class
),
macro AS (
    SELECT model_id, thinking, task, arm, template, replicate, scored, sum(f1) AS f1, count(*) AS n_classes
    FROM class_f1
    GROUP BY model_id, thinking, task, arm, template, replicate, scored
)
SELECT
    model_id, thinking, task, arm, template, replicate, metric, scored, n_items, n_clusters, n_lost, n_correct,
    CASE metric
        WHEN 'sample_f1' THEN set_f1::DOUBLE / n_items
        WHEN 'macro_f1' THEN f1::DOUBLE / n_classes
        ELSE n_correct::DOUBLE / n_items
    END AS score
FROM answer_count
LEFT JOIN macro USING (model_id, thinking, task, arm, template, replicate, scored)
