-- grain: one row is one rollout of tooluse.trajectory under one pair of thresholds of tooluse.threshold: its group.
-- columns: rollout_id, model_id, thinking, task, item_id, cluster_id, replicate, tau_sat, epsilon, in_grid, is_chosen, n_calls, gap_first, veg_max, hit_max,
-- poer (some turn k >= 2 starts saturated although the first did not; NULL without a call or where that hangs on an unreadable checkpoint), mode
-- (no_call|cwl|lwp|calibrated; NULL where it hangs on one)
-- serves: Algorithm 1 of seed 001
-- decided: the algorithm's box is lost from the text. 1. no call: no_call. 2. g_first > tau_sat, or V_max < epsilon: cwl. 3. HitMax or POER: lwp.
-- 4. calibrated. Each condition is three-valued, so that a rollout is undiagnosed only where an unreadable checkpoint decides. tooluse.hit_max_first asks
-- HitMax before 2. Without any VEG V_max is minus infinity. A rollout that ended in an error may have gone on to any call.
WITH setting AS (
    SELECT max(value) = 'true' AS hit_max_first FROM stat.parameter WHERE name = 'tooluse.hit_max_first'
),
condition AS (
    SELECT
        trajectory.*, threshold.*, setting.hit_max_first,
        gap_first > tau_sat AS starts_saturated,
        CASE WHEN veg_max >= epsilon THEN FALSE WHEN n_veg_unread > 0 OR is_cut THEN NULL ELSE TRUE END AS is_inactive,
        CASE
            WHEN n_calls > 0 THEN gap_first <= tau_sat
                AND CASE WHEN gap_later > tau_sat THEN TRUE WHEN n_later_unread > 0 OR is_cut THEN NULL ELSE FALSE END
        END AS poer
    FROM tooluse.trajectory AS trajectory
    CROSS JOIN tooluse.threshold AS threshold
    CROSS JOIN setting
)
SELECT
    rollout_id, model_id, thinking, task, item_id, cluster_id, replicate, tau_sat, epsilon, in_grid, is_chosen, n_calls, gap_first, veg_max, hit_max, poer,
    CASE
        WHEN n_calls = 0 AND is_cut THEN NULL
        WHEN n_calls = 0 THEN 'no_call'
        WHEN hit_max_first AND hit_max THEN 'lwp'
        WHEN hit_max_first AND hit_max IS NULL AND NOT (NOT (starts_saturated OR is_inactive) AND poer) THEN NULL
        WHEN starts_saturated OR is_inactive THEN 'cwl'
        WHEN (starts_saturated OR is_inactive) IS NULL THEN NULL
        WHEN hit_max OR poer THEN 'lwp'
        WHEN NOT (hit_max OR poer) THEN 'calibrated'
    END AS mode
FROM condition
