-- grain: one row is one cluster's contribution to one score or cost that is a sum over rows (see stat.sums); macro-F1, which is none, is in class_sums.
-- columns: task, pool (task|thinking|single or joint, of cost and answer_moved), cell (task|model|thinking|arm), statistic (accuracy|template,
-- score|template: over all attempted rows; score_plain, score_assess, cost: over those attempted under both templates; answer_moved), kind,
-- cluster_id, numerator, denominator
-- serves: the intervals of Tables 5-7 and 10 of seed 000
-- decided: only modality.scored_answer's headline replicate, as the views.
WITH answer AS (
    SELECT
        task, concat_ws('|', task, thinking, CASE WHEN arm = 'AB' THEN 'joint' ELSE 'single' END) AS pool,
        concat_ws('|', task, model_id, thinking, arm) AS cell, template, item_id, cluster_id, metric, answer, paired, correct,
        CASE WHEN metric = 'sample_f1' THEN set_f1 ELSE correct::INTEGER END AS score
    FROM modality.scored_answer
    WHERE headline AND attempted
),
attempted AS (
    SELECT
        task, cell, template, metric, cluster_id, count(*)::DOUBLE AS n_items, count(*) FILTER (WHERE correct)::DOUBLE AS n_correct, sum(score)::DOUBLE AS score
    FROM answer
    GROUP BY task, cell, template, metric, cluster_id
),
paired AS (
    SELECT
        task, pool, cell, cluster_id, count(*) FILTER (WHERE template = 'plain')::DOUBLE AS n_items,
        sum(score) FILTER (WHERE template = 'plain')::DOUBLE AS score_plain,
        sum(score) FILTER (WHERE template = 'assess')::DOUBLE AS score_assess,
        sum(CASE WHEN template = 'plain' THEN -score ELSE score END)::DOUBLE AS cost
    FROM answer
    WHERE paired AND metric <> 'macro_f1'
    GROUP BY task, pool, cell, cluster_id
),
read_item AS (
    SELECT task, pool, cell, cluster_id, min(answer) < max(answer) AS moved
    FROM answer
    WHERE paired AND answer IS NOT NULL
    GROUP BY task, pool, cell, cluster_id, item_id
    HAVING count(*) = 2
),
contribution AS (
    SELECT
        task, NULL AS pool, cell, concat_ws('|', 'accuracy', template) AS statistic, 'rate' AS kind, cluster_id, n_correct AS numerator,
        n_items AS denominator
    FROM attempted
    UNION ALL
    SELECT task, NULL AS pool, cell, concat_ws('|', 'score', template), 'rate', cluster_id, score, n_items FROM attempted WHERE metric <> 'macro_f1'
    UNION ALL
    SELECT task, NULL AS pool, cell, 'score_plain', 'rate', cluster_id, score_plain, n_items FROM paired
    UNION ALL
    SELECT task, NULL AS pool, cell, 'score_assess', 'rate', cluster_id, score_assess, n_items FROM paired
    UNION ALL
    SELECT task, pool, cell, 'cost', 'difference', cluster_id, cost, n_items FROM paired
    UNION ALL
    SELECT task, pool, cell, 'answer_moved', 'rate', cluster_id, count(*) FILTER (WHERE moved)::DOUBLE, count(*)::DOUBLE FROM read_item
    GROUP BY task, pool, cell, cluster_id
)
SELECT task, pool, cell, statistic, kind, cluster_id, numerator, denominator
FROM contribution
