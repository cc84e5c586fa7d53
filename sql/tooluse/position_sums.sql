-- grain: one row is one cluster's contribution to one estimate of tooluse.veg_position (see stat.sums).
-- columns: task, cell (model|thinking|position), statistic (as named in tooluse.veg_position), kind, cluster_id, numerator, denominator
-- serves: Table 13 and Fig. 5a of seed 001
-- Sums of fractions are taken as decimals, so that they do not depend on the order of the rows.
-- cache: whole
WITH setting AS (
    SELECT
        CAST(max(value) FILTER (WHERE name = 'tooluse.epsilon') AS DOUBLE) AS epsilon,
        CAST(max(value) FILTER (WHERE name = 'arm.replicate') AS INTEGER) AS replicate
    FROM stat.parameter
),
cluster_sum AS (
    SELECT
        task, concat_ws('|', model_id, thinking, CASE WHEN position >= 4 THEN '4+' ELSE position::VARCHAR END) AS cell, cluster_id,
        count(*) FILTER (WHERE saturated) AS saturation, count(gap_before) AS n_gap_before,
        sum(veg::DECIMAL(38, 18)) AS veg, count(veg) AS n_veg,
        count(*) FILTER (WHERE abs(veg) < epsilon) AS near_zero, count(*) FILTER (WHERE veg < -0.05::DOUBLE) AS harmful,
        sum(veg::DECIMAL(38, 18)) FILTER (WHERE NOT saturated) AS veg_unsaturated, count(veg) FILTER (WHERE NOT saturated) AS n_unsaturated,
        count(*) FILTER (WHERE abs(veg) < epsilon AND NOT saturated) AS near_zero_unsaturated,
        count(*) FILTER (WHERE veg < -0.05::DOUBLE AND NOT saturated) AS harmful_unsaturated
    FROM tooluse.call AS call
    INNER JOIN setting ON call.replicate = setting.replicate
    WHERE arm = 'tool' AND template = 'free' AND is_counted
    GROUP BY task, cell, cluster_id
),
contribution AS (
    SELECT task, cell, cluster_id, 'saturation' AS statistic, 'rate' AS kind, saturation AS numerator, n_gap_before AS denominator FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg', 'difference', veg, n_veg FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'near_zero', 'rate', near_zero, n_veg FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'harmful', 'rate', harmful, n_veg FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_unsaturated', 'difference', veg_unsaturated, n_unsaturated FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'near_zero_unsaturated', 'rate', near_zero_unsaturated, n_unsaturated FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'harmful_unsaturated', 'rate', harmful_unsaturated, n_unsaturated FROM cluster_sum
)
SELECT
    task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, kind, cluster_id, COALESCE(numerator, 0)::DOUBLE AS numerator, denominator::DOUBLE AS denominator
FROM contribution
