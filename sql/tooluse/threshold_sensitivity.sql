-- grain: one row is one group of one model × thinking × task under one pair of thresholds of the two sweeps; five rows a pair, those of 0 included.
-- columns: model_id, thinking, task, tau_sat, epsilon, mode (no_call|cwl|lwp|calibrated|undiagnosed), n_items, n_clusters, n, share, mean_delta,
-- contribution, ate (as in tooluse.decomposed)
-- serves: Table 15 (tau_sat = 0.95) and Table 16 (epsilon = 0.01) of seed 001
-- decided: no intervals, as in the paper: those of tooluse.decomposition hold under the pair that tooluse.tau_sat and tooluse.epsilon set.
SELECT model_id, thinking, task, tau_sat, epsilon, mode, n_items, n_clusters, n, share, mean_delta, contribution, ate
FROM tooluse.decomposed
WHERE in_grid
