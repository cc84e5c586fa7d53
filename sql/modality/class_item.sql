-- grain: one row is one attempted answer and one class it counts for (its gold class, and the class it gave instead), where the metric is macro_f1.
-- columns: model_id, thinking, task, arm, template, replicate, item_id, cluster_id, attempted, paired, repeated (as in scored_answer), class, hit,
-- missed, false_alarm (0 or 1: a true positive, a false negative, a false positive of that class)
-- serves: Table 6 of seed 000
-- decided: a lost answer is a miss of its gold class and no false alarm of another.
SELECT
    model_id, thinking, task, arm, template, replicate, item_id, cluster_id, attempted, paired, repeated, gold AS class,
    CASE WHEN correct THEN 1 ELSE 0 END AS hit, CASE WHEN correct THEN 0 ELSE 1 END AS missed, 0 AS false_alarm
FROM modality.scored_answer
WHERE attempted AND metric = 'macro_f1'
UNION ALL
SELECT
    model_id, thinking, task, arm, template, replicate, item_id, cluster_id, attempted, paired, repeated, answer AS class,
    0 AS hit, 0 AS missed, 1 AS false_alarm
FROM modality.scored_answer
WHERE attempted AND metric = 'macro_f1' AND answer <> gold
