-- grain: one row is one model × thinking × task whose tool rollouts were probed with the gold text (replicate arm.replicate).
-- columns: model_id, thinking, task, n_items, n_clusters, n_calls (probed), n_veg, n_correct, n_incorrect (calls whose VEG was read; by the rollout's answer);
-- veg, veg_correct, veg_incorrect (medians, nats per gold token), each with _iqr (upper less lower quartile), _low and _high
-- serves: Table 14 of seed 001
-- decided: medians and quartiles, for the tails are heavy; the thresholds of multiple choice do not carry over. Quartiles are interpolated as numpy's. A
-- median that no resample moves has no interval.
WITH cell AS (
    SELECT
        model_id, thinking, task, count(DISTINCT item_id) AS n_items, count(DISTINCT cluster_id) AS n_clusters, count(*) FILTER (WHERE part = 'veg') AS n_calls,
        count(veg) FILTER (WHERE part = 'veg') AS n_veg, count(veg) FILTER (WHERE part = 'veg_correct') AS n_correct,
        count(veg) FILTER (WHERE part = 'veg_incorrect') AS n_incorrect
    FROM tooluse.open_labelled
    GROUP BY model_id, thinking, task
),
ordered AS (
    SELECT model_id, thinking, task, part, list_sort(list(veg)) AS vegs, count(*) AS n
    FROM tooluse.open_labelled
    WHERE veg IS NOT NULL
    GROUP BY model_id, thinking, task, part
),
quantile AS (
    SELECT
        ordered.*, quarters.quarter, CAST(floor((n - 1) * quarter / 4) AS BIGINT) AS whole,
        (n - 1) * quarter / 4 - floor((n - 1) * quarter / 4) AS fraction
    FROM ordered
    CROSS JOIN (VALUES (1.0::DOUBLE), (2.0::DOUBLE), (3.0::DOUBLE)) AS quarters (quarter)
),
value AS (
    SELECT
        model_id, thinking, task, part, quarter,
        vegs[whole + 1] + fraction * (COALESCE(vegs[whole + 2], vegs[whole + 1]) - vegs[whole + 1]) AS value
    FROM quantile
),
quartile AS (
    SELECT
        model_id, thinking, task, part, max(value) FILTER (WHERE quarter = 2) AS median,
        max(value) FILTER (WHERE quarter = 3) - max(value) FILTER (WHERE quarter = 1) AS iqr
    FROM value
    GROUP BY model_id, thinking, task, part
),
summary AS (
    SELECT
        quartile.model_id, quartile.thinking, quartile.task,
        max(median) FILTER (WHERE part = 'veg') AS veg, max(iqr) FILTER (WHERE part = 'veg') AS veg_iqr,
        max(low) FILTER (WHERE part = 'veg') AS veg_low, max(high) FILTER (WHERE part = 'veg') AS veg_high,
        max(median) FILTER (WHERE part = 'veg_correct') AS veg_correct, max(iqr) FILTER (WHERE part = 'veg_correct') AS veg_correct_iqr,
        max(low) FILTER (WHERE part = 'veg_correct') AS veg_correct_low, max(high) FILTER (WHERE part = 'veg_correct') AS veg_correct_high,
        max(median) FILTER (WHERE part = 'veg_incorrect') AS veg_incorrect, max(iqr) FILTER (WHERE part = 'veg_incorrect') AS veg_incorrect_iqr,
        max(low) FILTER (WHERE part = 'veg_incorrect') AS veg_incorrect_low, max(high) FILTER (WHERE part = 'veg_incorrect') AS veg_incorrect_high
    FROM quartile
    LEFT JOIN tooluse.open_interval AS ends
        ON quartile.task = ends.task AND concat_ws('|', quartile.model_id, quartile.thinking) = ends.cell AND quartile.part = ends.statistic
    GROUP BY quartile.model_id, quartile.thinking, quartile.task
)
SELECT
    model_id, thinking, task, n_items, n_clusters, n_calls, n_veg, n_correct, n_incorrect, veg, veg_iqr, veg_low, veg_high,
    veg_correct, veg_correct_iqr, veg_correct_low, veg_correct_high, veg_incorrect, veg_incorrect_iqr, veg_incorrect_low, veg_incorrect_high
FROM cell
LEFT JOIN summary USING (model_id, thinking, task)
