-- grain: one row is one model × thinking × task whose tool rollouts were probed with the gold text (replicate arm.replicate).
-- columns: model_id, thinking, task, n_items, n_clusters, n_calls (probed), n_veg, n_correct, n_incorrect (calls whose VEG was read; by the rollout's answer);
-- veg, veg_correct, veg_incorrect (medians, nats per gold token), each with _iqr (upper less lower quartile)
-- serves: Table 14 of seed 001
-- decided: medians and quartiles, for the tails are heavy; the thresholds of multiple choice do not carry over. Quartiles are interpolated as numpy's.
WITH labelled AS (
    SELECT call.*
    FROM tooluse.open_call AS call
    INNER JOIN stat.parameter AS parameter ON parameter.name = 'arm.replicate' AND call.replicate = CAST(parameter.value AS INTEGER)
    WHERE call.arm = 'tool' AND call.template = 'free'
),
cell AS (
    SELECT
        model_id, thinking, task, count(DISTINCT item_id) AS n_items, count(DISTINCT cluster_id) AS n_clusters, count(*) AS n_calls, count(veg) AS n_veg,
        count(veg) FILTER (WHERE correct) AS n_correct, count(veg) FILTER (WHERE NOT correct) AS n_incorrect
    FROM labelled
    GROUP BY model_id, thinking, task
),
split AS (
    SELECT model_id, thinking, task, 'all' AS part, veg FROM labelled
    UNION ALL
    SELECT model_id, thinking, task, CASE WHEN correct THEN 'correct' ELSE 'incorrect' END AS part, veg FROM labelled WHERE correct IS NOT NULL
),
ordered AS (
    SELECT model_id, thinking, task, part, list_sort(list(veg)) AS vegs, count(*) AS n FROM split WHERE veg IS NOT NULL GROUP BY model_id, thinking, task, part
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
        model_id, thinking, task, max(median) FILTER (WHERE part = 'all') AS veg, max(iqr) FILTER (WHERE part = 'all') AS veg_iqr,
        max(median) FILTER (WHERE part = 'correct') AS veg_correct, max(iqr) FILTER (WHERE part = 'correct') AS veg_correct_iqr,
        max(median) FILTER (WHERE part = 'incorrect') AS veg_incorrect, max(iqr) FILTER (WHERE part = 'incorrect') AS veg_incorrect_iqr
    FROM quartile
    GROUP BY model_id, thinking, task
)
SELECT
    model_id, thinking, task, n_items, n_clusters, n_calls, n_veg, n_correct, n_incorrect, veg, veg_iqr, veg_correct, veg_correct_iqr, veg_incorrect, veg_incorrect_iqr
FROM cell
LEFT JOIN summary USING (model_id, thinking, task)
