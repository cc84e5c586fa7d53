-- grain: one row is one number of calls of one model × thinking × task × arm × template.
-- columns: model_id, thinking, task, arm, template, n_calls, n_items, n_clusters, n_rollouts (with that many calls, whose correctness is known), n_correct, accuracy
-- serves: E.3 of seed 001 (P1: accuracy by number of calls)
-- decided: all replicates are pooled, as in the paper.
SELECT
    model_id, thinking, task, arm, template, n_calls, count(DISTINCT item_id) AS n_items, count(DISTINCT cluster_id) AS n_clusters, count(*) AS n_rollouts,
    count(*) FILTER (WHERE correct) AS n_correct, count(*) FILTER (WHERE correct)::DOUBLE / count(*) AS accuracy
FROM tooluse.rollout
WHERE correct IS NOT NULL AND arm <> 'direct'
GROUP BY model_id, thinking, task, arm, template, n_calls
