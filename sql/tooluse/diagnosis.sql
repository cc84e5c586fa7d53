-- grain: one row is one unhindered tool rollout that was probed, or made no call.
-- columns: rollout_id, model_id, thinking, task, item_id, cluster_id, replicate, n_calls, gap_first (g before the first call), veg_max, hit_max, poer
-- (NULL without a call), mode (no_call|cwl|lwp|calibrated; NULL: undiagnosed, for it hangs on an unreadable checkpoint)
-- serves: Algorithm 1 of seed 001, at tooluse.tau_sat and tooluse.epsilon
-- decided: see tooluse.grouped.
SELECT rollout_id, model_id, thinking, task, item_id, cluster_id, replicate, n_calls, gap_first, veg_max, hit_max, poer, mode
FROM tooluse.grouped
WHERE is_chosen
