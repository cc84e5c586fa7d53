-- grain: one row is one model × thinking × item under one policy or intervention (arm × template): its replicates together.
-- columns: model_id, thinking, task, item_id, cluster_id, arm, template, n_rollouts (whose correctness is known), n_correct, accuracy
-- serves: 3.3.1 and 3.3.2 of seed 001 (correctness is averaged over the rollouts of an item)
-- cache: whole
SELECT
    model_id, thinking, task, item_id, cluster_id, arm, template, count(correct) AS n_rollouts, count(*) FILTER (WHERE correct) AS n_correct,
    count(*) FILTER (WHERE correct)::DOUBLE / count(correct) AS accuracy
FROM tooluse.rollout
GROUP BY model_id, thinking, task, item_id, cluster_id, arm, template
HAVING count(correct) > 0
