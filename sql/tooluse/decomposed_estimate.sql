-- grain: one row is one group of one model × thinking × task under one pair of thresholds, as in tooluse.decomposed, with intervals.
-- columns: as tooluse.decomposed; share, mean_delta and contribution each with _low and _high
-- serves: Tables 5, 15, 16, 17 and 20 of seed 001
-- decided: the resamples draw items with their group.
WITH decomposed AS (
    SELECT *, concat_ws('|', model_id, thinking, tau_sat, epsilon, mode) AS cell FROM tooluse.decomposed
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
    model_id, thinking, task, tau_sat, epsilon, in_grid, is_chosen, mode, n_items, n_clusters, n, share, share_low, share_high,
    mean_delta, mean_delta_low, mean_delta_high, contribution, contribution_low, contribution_high, ate
FROM decomposed
LEFT JOIN ends USING (task, cell)
