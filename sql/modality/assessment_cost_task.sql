-- grain: one row is one task × thinking × arm type, over its cells (models × arms).
-- columns: thinking, task, arm_type (single: A and B; joint: AB), n_cells (with items), cost (median over cells; assess - plain), cost_min, cost_max,
-- answer_moved (median over cells)
-- serves: Table 10 of seed 000
SELECT
    thinking, task, CASE WHEN arm = 'AB' THEN 'joint' ELSE 'single' END AS arm_type, count(cost) AS n_cells,
    median(cost) AS cost, min(cost) AS cost_min, max(cost) AS cost_max, median(answer_moved) AS answer_moved
FROM modality.assessment_cost
GROUP BY thinking, task, CASE WHEN arm = 'AB' THEN 'joint' ELSE 'single' END
