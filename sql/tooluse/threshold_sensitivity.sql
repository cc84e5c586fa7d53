-- grain: one row is one group of one model × thinking × task under one pair of thresholds of the two sweeps; five rows a pair, those of 0 included.
-- columns: model_id, thinking, task, tau_sat, epsilon, mode (no_call|cwl|lwp|calibrated|undiagnosed), n_items, n_clusters, n; share, mean_delta,
-- contribution, each with _low and _high; ate (as in tooluse.decomposed)
-- serves: Table 15 (tau_sat = 0.95) and Table 16 (epsilon = 0.01) of seed 001
SELECT
    model_id, thinking, task, tau_sat, epsilon, mode, n_items, n_clusters, n, share, share_low, share_high, mean_delta, mean_delta_low, mean_delta_high,
    contribution, contribution_low, contribution_high, ate
FROM tooluse.decomposed_estimate
WHERE in_grid
