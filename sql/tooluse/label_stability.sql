-- grain: one row is one model × thinking × task of which several replicates were probed: how far an item keeps its group.
-- columns: model_id, thinking, task, n_replicates (probed), n_items (with a pair of replicates whose groups are both known), n_clusters, n_changed (of
-- those, with a pair that differs), changed (n_changed / n_items); n_pairs, n_pairs_left_out (one group or both not known), n_pairs_changed,
-- pair_changed (n_pairs_changed / n_pairs)
-- serves: the stability that C.1 and E.1 of seed 001 leave open
-- decided: a replicate of which no rollout was probed is none of these, though rollouts without a call have a group there.
WITH probed_replicate AS (
    SELECT DISTINCT model_id, thinking, task, replicate FROM tooluse.call WHERE n_checkpoints > 0 AND arm = 'tool' AND template = 'free'
),
label AS (
    SELECT rollout.model_id, rollout.thinking, rollout.task, rollout.item_id, rollout.cluster_id, rollout.replicate, diagnosis.mode
    FROM tooluse.rollout AS rollout
    INNER JOIN probed_replicate USING (model_id, thinking, task, replicate)
    LEFT JOIN tooluse.diagnosis AS diagnosis ON rollout.rollout_id = diagnosis.rollout_id
    WHERE rollout.arm = 'tool' AND rollout.template = 'free'
),
pair AS (
    SELECT one.model_id, one.thinking, one.task, one.item_id, one.cluster_id, one.mode <> other.mode AS differs
    FROM label AS one
    INNER JOIN label AS other
        ON one.model_id = other.model_id AND one.thinking = other.thinking AND one.task = other.task AND one.item_id = other.item_id
        AND one.replicate < other.replicate
),
item AS (
    SELECT
        model_id, thinking, task, item_id, cluster_id, count(differs) AS n_pairs, count(*) - count(differs) AS n_left_out,
        count(*) FILTER (WHERE differs) AS n_changed
    FROM pair
    GROUP BY model_id, thinking, task, item_id, cluster_id
),
replicate_count AS (
    SELECT model_id, thinking, task, count(*) AS n_replicates FROM probed_replicate GROUP BY model_id, thinking, task HAVING count(*) > 1
),
item_count AS (
    SELECT
        model_id, thinking, task, count(*) FILTER (WHERE n_pairs > 0) AS n_items, count(DISTINCT cluster_id) FILTER (WHERE n_pairs > 0) AS n_clusters,
        count(*) FILTER (WHERE n_changed > 0) AS n_changed,
        sum(n_pairs)::BIGINT AS n_pairs, sum(n_left_out)::BIGINT AS n_pairs_left_out, sum(n_changed)::BIGINT AS n_pairs_changed
    FROM item
    GROUP BY model_id, thinking, task
)
SELECT
    model_id, thinking, task, n_replicates, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters, COALESCE(n_changed, 0) AS n_changed,
    n_changed::DOUBLE / nullif(n_items, 0) AS changed, COALESCE(n_pairs, 0) AS n_pairs, COALESCE(n_pairs_left_out, 0) AS n_pairs_left_out,
    COALESCE(n_pairs_changed, 0) AS n_pairs_changed, n_pairs_changed::DOUBLE / nullif(n_pairs, 0) AS pair_changed
FROM replicate_count
LEFT JOIN item_count USING (model_id, thinking, task)
