-- grain: one row is one cluster's contribution to one estimate of tooluse.veg_trajectory (see stat.sums).
-- columns: task, cell (model|thinking), statistic (as named in tooluse.veg_trajectory), kind, cluster_id, numerator, denominator
-- serves: Table 12 of seed 001
-- Sums of fractions are taken as decimals, so that they do not depend on the order of the rows.
-- cache: whole
WITH cluster_sum AS (
    SELECT
        task, concat_ws('|', model_id, thinking) AS cell, cluster_id,
        sum(veg_max::DECIMAL(38, 18)) AS veg_max, sum(veg_min::DECIMAL(38, 18)) AS veg_min, count(veg_max) AS n,
        sum(veg_max::DECIMAL(38, 18)) FILTER (WHERE correct) AS veg_max_correct, sum(veg_min::DECIMAL(38, 18)) FILTER (WHERE correct) AS veg_min_correct,
        count(veg_max) FILTER (WHERE correct) AS n_correct,
        sum(veg_max::DECIMAL(38, 18)) FILTER (WHERE NOT correct) AS veg_max_incorrect,
        sum(veg_min::DECIMAL(38, 18)) FILTER (WHERE NOT correct) AS veg_min_incorrect, count(veg_max) FILTER (WHERE NOT correct) AS n_incorrect
    FROM tooluse.trajectory AS trajectory
    INNER JOIN stat.parameter AS parameter ON parameter.name = 'arm.replicate' AND trajectory.replicate = CAST(parameter.value AS INTEGER)
    GROUP BY task, cell, cluster_id
),
contribution AS (
    SELECT task, cell, cluster_id, 'veg_max' AS statistic, veg_max AS numerator, n AS denominator FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_max_correct', veg_max_correct, n_correct FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_max_incorrect', veg_max_incorrect, n_incorrect FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_min', veg_min, n FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_min_correct', veg_min_correct, n_correct FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_min_incorrect', veg_min_incorrect, n_incorrect FROM cluster_sum
)
SELECT
    task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, 'difference' AS kind, cluster_id, COALESCE(numerator, 0)::DOUBLE AS numerator, denominator::DOUBLE AS denominator
FROM contribution
