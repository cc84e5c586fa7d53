-- grain: one row is one group of one model × thinking × task under one pair of thresholds; five rows a cell, those of 0 included.
-- columns: model_id, thinking, task, tau_sat, epsilon, in_grid, is_chosen (see tooluse.threshold), mode (no_call|cwl|lwp|calibrated|undiagnosed), n_items (on
-- which both policies were run), n_clusters, n (of the items, in the group), share (n / n_items), mean_delta (mean of tool - direct over the
-- group; NULL where it is empty), contribution (share * mean_delta), ate (of all items)
-- serves: equation of 4.3 and E.2 of seed 001
-- decided: undiagnosed items are a group of their own, so that the contributions add up to the ATE.
-- Sums of fractions are taken as decimals, so that they do not depend on the order of the rows.
WITH cell AS (
    SELECT
        model_id, thinking, task, tau_sat, epsilon, in_grid, is_chosen, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        sum(delta::DECIMAL(38, 18))::DOUBLE / count(*) AS ate
    FROM tooluse.decomposed_item
    GROUP BY model_id, thinking, task, tau_sat, epsilon, in_grid, is_chosen
),
cell_mode AS (
    SELECT cell.*, modes.mode
    FROM cell
    CROSS JOIN (VALUES ('no_call'), ('cwl'), ('lwp'), ('calibrated'), ('undiagnosed')) AS modes (mode)
),
mode_sum AS (
    SELECT model_id, thinking, task, tau_sat, epsilon, mode, count(*) AS n, sum(delta::DECIMAL(38, 18))::DOUBLE AS delta
    FROM tooluse.decomposed_item
    GROUP BY model_id, thinking, task, tau_sat, epsilon, mode
)
SELECT
    model_id, thinking, task, tau_sat, epsilon, in_grid, is_chosen, mode, n_items, n_clusters, COALESCE(n, 0) AS n,
    COALESCE(n, 0)::DOUBLE / n_items AS share, delta / n AS mean_delta, COALESCE(delta, 0) / n_items AS contribution, ate
FROM cell_mode
LEFT JOIN mode_sum USING (model_id, thinking, task, tau_sat, epsilon, mode)
