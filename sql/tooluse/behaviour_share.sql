-- grain: one row is one model × thinking × task × arm × template × part of its rollouts.
-- columns: model_id, thinking, task, arm, template, part (all; hit_max: those that reached the limit; or a mode of tooluse.diagnosis), n_items, n_clusters, n_rollouts,
-- accuracy (over those whose correctness is known), committed (over those with a call), small (of crops in an image of known size), near, restart (of boxes
-- after another; near where the size is known), commits_last (of those that reached the limit); each NULL without such
-- serves: E.3 of seed 001
-- decided: all replicates are pooled, as in the paper; the parts by mode hold the replicates that were probed.
WITH placed AS (
    SELECT *, 'all' AS part FROM tooluse.behaviour
    UNION ALL
    SELECT *, 'hit_max' AS part FROM tooluse.behaviour WHERE hit_max
    UNION ALL
    SELECT *, mode AS part FROM tooluse.behaviour WHERE mode IS NOT NULL
)
SELECT
    model_id, thinking, task, arm, template, part, count(DISTINCT item_id) AS n_items, count(DISTINCT cluster_id) AS n_clusters, count(*) AS n_rollouts,
    count(*) FILTER (WHERE correct)::DOUBLE / nullif(count(correct), 0) AS accuracy,
    count(*) FILTER (WHERE committed)::DOUBLE / nullif(count(committed), 0) AS committed,
    sum(n_small)::DOUBLE / nullif(sum(n_sized), 0) AS small,
    sum(n_near) FILTER (WHERE n_sized > 0)::DOUBLE / nullif(sum(n_moves) FILTER (WHERE n_sized > 0), 0) AS near,
    sum(n_restarts)::DOUBLE / nullif(sum(n_moves), 0) AS restart,
    count(*) FILTER (WHERE commits_last)::DOUBLE / nullif(count(commits_last), 0) AS commits_last
FROM placed
GROUP BY model_id, thinking, task, arm, template, part
