-- grain: one row is one task in one thinking mode, over its cells (models × input shown).
-- columns: thinking, task, n_cells (with flagged items), n_empty_cells, n_items (summed over cells), n_clusters, n_cells_precision, n_cells_recall
-- (cells in which precision, recall exist); claimed_insufficient, precision, recall, base_rate, silent_failure, missed, self_contradiction
-- (medians over the cells in which each exists) with _min and _max (their range)
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
)
SELECT
    thinking, task, n_cells, n_empty_cells, n_items, COALESCE(n_clusters, 0) AS n_clusters, n_cells_precision, n_cells_recall,
    claimed_insufficient, claimed_insufficient_min, claimed_insufficient_max,
    precision, precision_min, precision_max, recall, recall_min, recall_max, base_rate, base_rate_min, base_rate_max,
    silent_failure, silent_failure_min, silent_failure_max, missed, missed_min, missed_max,
    self_contradiction, self_contradiction_min, self_contradiction_max
FROM cell
LEFT JOIN cluster_count USING (thinking, task)
