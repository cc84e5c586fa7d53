-- grain: one row is one model × thinking × item that was run both unhindered and under an intervention on its rollout.
-- columns: model_id, thinking, task, item_id, cluster_id, arm (random_crop|noise|blank; tool under force_answer), template (free|force_answer),
-- accuracy_clean, accuracy_intervened (means over replicates), delta (intervened - clean)
-- serves: equation 2 of seed 001
-- decided: clean is tool under `free`, also for what is run under `force_answer`.
SELECT
    intervened.model_id, intervened.thinking, intervened.task, intervened.item_id, intervened.cluster_id, intervened.arm, intervened.template,
    clean.accuracy AS accuracy_clean, intervened.accuracy AS accuracy_intervened,
    (intervened.n_correct * clean.n_rollouts - clean.n_correct * intervened.n_rollouts)::DOUBLE / (intervened.n_rollouts * clean.n_rollouts) AS delta
FROM tooluse.item_accuracy AS intervened
INNER JOIN tooluse.item_accuracy AS clean
    ON intervened.model_id = clean.model_id AND intervened.thinking = clean.thinking AND intervened.task = clean.task
    AND intervened.item_id = clean.item_id
WHERE clean.arm = 'tool' AND clean.template = 'free' AND intervened.arm <> 'direct' AND (intervened.arm <> 'tool' OR intervened.template <> 'free')
