-- grain: one row is one group of one model × thinking × task; five rows a cell, those of 0 included.
-- columns: model_id, thinking, task, mode (no_call|cwl|lwp|calibrated|undiagnosed), n_items (on which both policies were run), n_clusters, n (of the items, in
-- the group), share (n / n_items), mean_delta (mean of tool - direct accuracy over the group; NULL where it is empty), contribution (share *
-- mean_delta), each with _low and _high; ate (the sum of the five contributions)
-- serves: Tables 5, 17 and 20 of seed 001, at tooluse.tau_sat and tooluse.epsilon
-- decided: see tooluse.decomposed; the resamples draw items with their group.
WITH chosen AS (
    SELECT *, concat_ws('|', model_id, thinking, mode) AS cell FROM tooluse.decomposed WHERE is_chosen
),
ends AS (
    SELECT
        task, cell,
        max(low) FILTER (WHERE statistic = 'share') AS share_low, max(high) FILTER (WHERE statistic = 'share') AS share_high,
        max(low) FILTER (WHERE statistic = 'mean_delta') AS mean_delta_low, max(high) FILTER (WHERE statistic = 'mean_delta') AS mean_delta_high,
        max(low) FILTER (WHERE statistic = 'contribution') AS contribution_low, max(high) FILTER (WHERE statistic = 'contribution') AS contribution_high
    FROM tooluse.decomposition_interval
    GROUP BY task, cell
)
SELECT
    model_id, thinking, task, mode, n_items, n_clusters, n, share, share_low, share_high, mean_delta, mean_delta_low, mean_delta_high,
    contribution, contribution_low, contribution_high, ate
FROM chosen
LEFT JOIN ends USING (task, cell)
