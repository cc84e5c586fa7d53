-- grain: one row is one model × thinking × task × position of a call: how often tool use goes on after it has made the model sure.
-- columns: model_id, thinking, task, position (all; 2, 3, 4+), n_items, n_clusters, n_calls (with k >= 2 in labelled rollouts that started unsaturated; see
-- tooluse.later_call), n_extended (of those, begun saturated), poer (n_extended / n_calls; NULL without such a call), poer_low, poer_high
-- serves: equation 5, Fig. 5b and C.3 of seed 001
-- decided: a call whose own or whose rollout's first checkpoint is unreadable is in neither count.
WITH cell AS (
    SELECT model_id, thinking, task, places.position, concat_ws('|', model_id, thinking, places.position) AS cell
    FROM (SELECT DISTINCT model_id, thinking, task FROM tooluse.rollout WHERE arm = 'tool' AND template = 'free') AS run
    CROSS JOIN (VALUES ('all'), ('2'), ('3'), ('4+')) AS places (position)
),
placed AS (
    SELECT model_id, thinking, task, item_id, cluster_id, position, saturated FROM tooluse.later_call
    UNION ALL
    SELECT model_id, thinking, task, item_id, cluster_id, 'all' AS position, saturated FROM tooluse.later_call
),
call_count AS (
    SELECT
        model_id, thinking, task, position, count(DISTINCT item_id) AS n_items, count(DISTINCT cluster_id) AS n_clusters, count(*) AS n_calls,
        count(*) FILTER (WHERE saturated) AS n_extended
    FROM placed
    GROUP BY model_id, thinking, task, position
),
estimate AS (
    SELECT
        task, cell,
        max(estimate) FILTER (WHERE statistic = 'poer') AS poer, max(low) FILTER (WHERE statistic = 'poer') AS poer_low,
        max(high) FILTER (WHERE statistic = 'poer') AS poer_high
    FROM tooluse.poer_interval
    GROUP BY task, cell
)
SELECT
    model_id, thinking, task, position, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters,
    COALESCE(n_calls, 0) AS n_calls, COALESCE(n_extended, 0) AS n_extended,
    poer, poer_low, poer_high
FROM cell
LEFT JOIN call_count USING (model_id, thinking, task, position)
LEFT JOIN estimate USING (task, cell)
