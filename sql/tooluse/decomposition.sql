-- grain: one row is one group of one model × thinking × task; five rows a cell, those of 0 included.
-- columns: model_id, thinking, task, mode (no_call|cwl|lwp|calibrated|undiagnosed), n_items (on which both policies were run), n_clusters, n (of the items, in
-- the group), share (n / n_items), mean_delta (mean of tool - direct accuracy over the group; NULL where it is empty), contribution (share *
-- mean_delta), each with _low and _high; ate (the sum of the five contributions)
-- serves: Tables 5, 17 and 20 of seed 001, at tooluse.tau_sat and tooluse.epsilon
-- decided: see tooluse.decomposed.
SELECT
    model_id, thinking, task, mode, n_items, n_clusters, n, share, share_low, share_high, mean_delta, mean_delta_low, mean_delta_high,
    contribution, contribution_low, contribution_high, ate
FROM tooluse.decomposed_estimate
WHERE is_chosen
