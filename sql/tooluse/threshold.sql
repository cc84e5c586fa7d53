-- grain: one row is one pair of thresholds of Algorithm 1.
-- columns: tau_sat, epsilon, in_grid (of the sensitivity tables), is_chosen (tooluse.tau_sat and tooluse.epsilon)
-- serves: E.1 of seed 001 (Tables 15 and 16: two sweeps through 0.95 and 0.01)
WITH grid AS (
    SELECT CAST(tau_sat AS DOUBLE) AS tau_sat, CAST(epsilon AS DOUBLE) AS epsilon
    FROM (VALUES
        ('0.95', '0.005'), ('0.95', '0.01'), ('0.95', '0.02'), ('0.95', '0.05'), ('0.80', '0.01'), ('0.90', '0.01'), ('0.97', '0.01'), ('0.99', '0.01')
    ) AS pair (tau_sat, epsilon)
),
chosen AS (
    SELECT
        CAST(max(value) FILTER (WHERE name = 'tooluse.tau_sat') AS DOUBLE) AS tau_sat,
        CAST(max(value) FILTER (WHERE name = 'tooluse.epsilon') AS DOUBLE) AS epsilon
    FROM stat.parameter
),
pair AS (
    SELECT tau_sat, epsilon, TRUE AS in_grid, FALSE AS is_chosen FROM grid
    UNION ALL
    SELECT tau_sat, epsilon, FALSE AS in_grid, TRUE AS is_chosen FROM chosen
)
SELECT tau_sat, epsilon, bool_or(in_grid) AS in_grid, bool_or(is_chosen) AS is_chosen
FROM pair
GROUP BY tau_sat, epsilon
