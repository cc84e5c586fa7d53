-- grain: one row is one task × thinking × arm type, over its cells (models × arms).
-- columns: thinking, task, arm_type (single: A and B; joint: AB), n_cells (with items), cost (median over cells; assess - plain) with cost_low, cost_high
-- (interval of the median), cost_min, cost_max (range), n_lower, n_higher (cells whose interval of cost lies below 0, above 0), answer_moved (median over
-- cells) with answer_moved_low, answer_moved_high; few_clusters, resamples, seed (of cost)
-- serves: Table 10 of seed 000
WITH cell AS (
    SELECT
        thinking, task, CASE WHEN arm = 'AB' THEN 'joint' ELSE 'single' END AS arm_type, count(cost) AS n_cells,
        median(cost) AS cost, min(cost) AS cost_min, max(cost) AS cost_max,
        count(*) FILTER (WHERE cost_high < 0) AS n_lower, count(*) FILTER (WHERE cost_low > 0) AS n_higher,
        median(answer_moved) AS answer_moved
    FROM modality.assessment_cost
    GROUP BY thinking, task, arm_type
),
pooled AS (
    SELECT *, concat_ws('|', task, thinking, arm_type) AS cell FROM cell
)
SELECT
    pooled.thinking, pooled.task, pooled.arm_type, pooled.n_cells, pooled.cost, cost.low AS cost_low, cost.high AS cost_high,
    pooled.cost_min, pooled.cost_max, pooled.n_lower, pooled.n_higher,
    pooled.answer_moved, answer_moved.low AS answer_moved_low, answer_moved.high AS answer_moved_high, cost.few_clusters, cost.resamples, cost.seed
FROM pooled
LEFT JOIN modality.performance_interval AS cost ON pooled.cell = cost.cell AND cost.statistic = 'cost'
LEFT JOIN modality.performance_interval AS answer_moved ON pooled.cell = answer_moved.cell AND answer_moved.statistic = 'answer_moved'
