-- grain: one row is one finished rollout that was offered the tool.
-- columns: rollout_id, model_id, thinking, task, item_id, cluster_id, arm, template, replicate, correct, n_calls, hit_max, mode (see tooluse.diagnosis; NULL: none);
-- stated_before (the answer that the thoughts before the first call state first; NULL: none, or no call), committed (that is the final answer; NULL without
-- a call); n_crops (boxes that are known), n_sized (of those, in an image of known size), n_small (under 4 % of it), n_moves (boxes after another), n_near
-- (of those with an image of known size, every side within 3 % of the image), n_inside (within the previous box: refinement), n_restarts (not within it);
-- commits_last (it reached the limit and still answered; NULL where it did not reach it)
-- serves: E.3 of seed 001
-- decided: thoughts that state no answer are not committed.
-- cache: whole
WITH crop_count AS (
    SELECT
        rollout_id, count(*) AS n_crops, count(is_small) AS n_sized, count(*) FILTER (WHERE is_small) AS n_small, count(is_inside) AS n_moves,
        count(*) FILTER (WHERE is_near) AS n_near, count(*) FILTER (WHERE is_inside) AS n_inside, count(*) FILTER (WHERE NOT is_inside) AS n_restarts
    FROM tooluse.crop
    GROUP BY rollout_id
),
stated AS (
    SELECT rollout_id, COALESCE(letter, CASE WHEN NOT is_choice THEN value END) AS answer FROM tooluse.statement WHERE place = 'before_call'
)
SELECT
    rollout.rollout_id, rollout.model_id, rollout.thinking, rollout.task, rollout.item_id, rollout.cluster_id, rollout.arm, rollout.template, rollout.replicate,
    rollout.correct, rollout.n_calls, rollout.hit_max, diagnosis.mode, stated.answer AS stated_before,
    CASE WHEN rollout.n_calls > 0 THEN COALESCE(stated.answer = rollout.answer, FALSE) END AS committed,
    COALESCE(n_crops, 0) AS n_crops, COALESCE(n_sized, 0) AS n_sized, COALESCE(n_small, 0) AS n_small, COALESCE(n_moves, 0) AS n_moves,
    COALESCE(n_near, 0) AS n_near, COALESCE(n_inside, 0) AS n_inside, COALESCE(n_restarts, 0) AS n_restarts,
    CASE WHEN rollout.hit_max THEN rollout.answer IS NOT NULL END AS commits_last
FROM tooluse.rollout AS rollout
LEFT JOIN tooluse.diagnosis AS diagnosis ON rollout.rollout_id = diagnosis.rollout_id
LEFT JOIN crop_count ON rollout.rollout_id = crop_count.rollout_id
LEFT JOIN stated ON rollout.rollout_id = stated.rollout_id
WHERE rollout.arm <> 'direct'
