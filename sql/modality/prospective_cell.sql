-- grain: one row is one cell: model x thinking x task x input shown (arm A or B) that the study asks a self-report of.
-- columns: model_id, thinking, task, arm, n_asked (items asked for), n_items (those in prospective_item), n_clusters, n_predicted_changed,
-- n_executed_changed; predicted_change, executed_change (fractions of n_items), gap (executed - predicted), each with _low, _high (interval) and _se;
-- gap_p (two-sided, of no gap: see stat.closed), gap_p_holm (adjusted for the cells of the same thinking mode); few_clusters, resamples, seed
-- serves: Fig. 2 and 5 of seed 000; the cells of Table 3
-- decided: a cell that was asked for and has no item is a row with n_items 0 and NULL rates. Holm's family is every cell of Fig. 2: all tasks, models
-- and inputs of one thinking mode.
WITH asked_cell AS (
    SELECT model_id, thinking, task, arm, concat_ws('|', task, model_id, thinking, arm) AS cell, count(*) AS n_asked
    FROM modality.single
    GROUP BY model_id, thinking, task, arm
),
item_count AS (
    SELECT
        model_id, thinking, task, arm, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        count(*) FILTER (WHERE predicted_changed) AS n_predicted_changed,
        count(*) FILTER (WHERE executed_changed) AS n_executed_changed
    FROM modality.prospective_item
    GROUP BY model_id, thinking, task, arm
),
tested_cell AS (
    SELECT
        asked.thinking, asked.cell, gap.p,
        row_number() OVER (PARTITION BY asked.thinking ORDER BY gap.p, asked.cell) AS p_rank, count(*) OVER (PARTITION BY asked.thinking) AS n_tested
    FROM asked_cell AS asked
    INNER JOIN modality.prospective_interval AS gap ON asked.cell = gap.cell AND gap.statistic = 'gap'
    WHERE gap.p IS NOT NULL
),
holm AS (
    SELECT cell, max(least((n_tested - p_rank + 1) * p, 1)) OVER (PARTITION BY thinking ORDER BY p_rank ROWS UNBOUNDED PRECEDING) AS p
    FROM tested_cell
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.arm, asked.n_asked,
    COALESCE(item.n_items, 0) AS n_items, COALESCE(item.n_clusters, 0) AS n_clusters,
    COALESCE(item.n_predicted_changed, 0) AS n_predicted_changed, COALESCE(item.n_executed_changed, 0) AS n_executed_changed,
    item.n_predicted_changed::DOUBLE / nullif(item.n_items, 0) AS predicted_change,
    predicted.low AS predicted_change_low, predicted.high AS predicted_change_high, predicted.se AS predicted_change_se,
    item.n_executed_changed::DOUBLE / nullif(item.n_items, 0) AS executed_change,
    executed.low AS executed_change_low, executed.high AS executed_change_high, executed.se AS executed_change_se,
    (item.n_executed_changed - item.n_predicted_changed)::DOUBLE / nullif(item.n_items, 0) AS gap,
    gap.low AS gap_low, gap.high AS gap_high, gap.se AS gap_se, gap.p AS gap_p, holm.p AS gap_p_holm,
    gap.few_clusters, gap.resamples, gap.seed
FROM asked_cell AS asked
LEFT JOIN item_count AS item USING (model_id, thinking, task, arm)
LEFT JOIN modality.prospective_interval AS predicted ON asked.cell = predicted.cell AND predicted.statistic = 'predicted_change'
LEFT JOIN modality.prospective_interval AS executed ON asked.cell = executed.cell AND executed.statistic = 'executed_change'
LEFT JOIN modality.prospective_interval AS gap ON asked.cell = gap.cell AND gap.statistic = 'gap'
LEFT JOIN holm ON asked.cell = holm.cell
