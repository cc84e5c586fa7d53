-- grain: one row is one task in one thinking mode, over its cells (models × input shown).
-- columns: thinking, task, n_cells (with flagged items), n_empty_cells, n_items (summed over cells), n_clusters, n_cells_precision, n_cells_recall
-- (cells in which precision, recall exist); claimed_insufficient, precision, recall, base_rate, silent_failure, missed, self_contradiction
-- (medians over the cells in which each exists) with _min and _max (their range), _low and _high (interval of the median); few_clusters, resamples,
-- seed (of base_rate)
-- serves: Table 4 of seed 000 (its rows are thinking = false)
WITH cell AS (
    SELECT
        thinking, task, count(*) FILTER (WHERE n_items > 0) AS n_cells, count(*) FILTER (WHERE n_items = 0) AS n_empty_cells,
        sum(n_items)::BIGINT AS n_items, count(precision) AS n_cells_precision, count(recall) AS n_cells_recall,
        median(claimed_insufficient) AS claimed_insufficient,
        min(claimed_insufficient) AS claimed_insufficient_min, max(claimed_insufficient) AS claimed_insufficient_max,
        median(precision) AS precision, min(precision) AS precision_min, max(precision) AS precision_max,
        median(recall) AS recall, min(recall) AS recall_min, max(recall) AS recall_max,
        median(base_rate) AS base_rate, min(base_rate) AS base_rate_min, max(base_rate) AS base_rate_max,
        median(silent_failure) AS silent_failure, min(silent_failure) AS silent_failure_min, max(silent_failure) AS silent_failure_max,
        median(missed) AS missed, min(missed) AS missed_min, max(missed) AS missed_max,
        median(self_contradiction) AS self_contradiction,
        min(self_contradiction) AS self_contradiction_min, max(self_contradiction) AS self_contradiction_max
    FROM modality.sufficiency_cell
    GROUP BY thinking, task
),
cluster_count AS (
    SELECT thinking, task, count(DISTINCT cluster_id) AS n_clusters
    FROM modality.prospective_item
    WHERE claimed_insufficient IS NOT NULL
    GROUP BY thinking, task
),
task AS (
    SELECT *, concat_ws('|', task, thinking) AS cell
    FROM cell
    LEFT JOIN cluster_count USING (thinking, task)
)
SELECT
    task.thinking, task.task, task.n_cells, task.n_empty_cells, task.n_items, COALESCE(task.n_clusters, 0) AS n_clusters,
    task.n_cells_precision, task.n_cells_recall,
    task.claimed_insufficient, task.claimed_insufficient_min, task.claimed_insufficient_max,
    claimed_insufficient.low AS claimed_insufficient_low, claimed_insufficient.high AS claimed_insufficient_high,
    task.precision, task.precision_min, task.precision_max,
    precision.low AS precision_low, precision.high AS precision_high,
    task.recall, task.recall_min, task.recall_max,
    recall.low AS recall_low, recall.high AS recall_high,
    task.base_rate, task.base_rate_min, task.base_rate_max,
    base_rate.low AS base_rate_low, base_rate.high AS base_rate_high,
    task.silent_failure, task.silent_failure_min, task.silent_failure_max,
    silent_failure.low AS silent_failure_low, silent_failure.high AS silent_failure_high,
    task.missed, task.missed_min, task.missed_max,
    missed.low AS missed_low, missed.high AS missed_high,
    task.self_contradiction, task.self_contradiction_min, task.self_contradiction_max,
    self_contradiction.low AS self_contradiction_low, self_contradiction.high AS self_contradiction_high,
    base_rate.few_clusters, base_rate.resamples, base_rate.seed
FROM task
LEFT JOIN modality.sufficiency_interval AS claimed_insufficient
    ON task.cell = claimed_insufficient.cell AND claimed_insufficient.statistic = 'claimed_insufficient'
LEFT JOIN modality.sufficiency_interval AS precision ON task.cell = precision.cell AND precision.statistic = 'precision'
LEFT JOIN modality.sufficiency_interval AS recall ON task.cell = recall.cell AND recall.statistic = 'recall'
LEFT JOIN modality.sufficiency_interval AS base_rate ON task.cell = base_rate.cell AND base_rate.statistic = 'base_rate'
LEFT JOIN modality.sufficiency_interval AS silent_failure ON task.cell = silent_failure.cell AND silent_failure.statistic = 'silent_failure'
LEFT JOIN modality.sufficiency_interval AS missed ON task.cell = missed.cell AND missed.statistic = 'missed'
LEFT JOIN modality.sufficiency_interval AS self_contradiction
    ON task.cell = self_contradiction.cell AND self_contradiction.statistic = 'self_contradiction'
