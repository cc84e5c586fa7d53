-- grain: one row is one cluster's contribution to one estimate of tooluse.veg_summary (see stat.sums).
-- columns: task, cell (model|thinking), statistic (as named in tooluse.veg_summary), kind, cluster_id, numerator, denominator
-- serves: Tables 3 and 18 of seed 001
-- decided: each estimate is over the calls (or trajectories) at which what it needs was read. All calls of a turn are pooled.
-- Sums of fractions are taken as decimals, so that they do not depend on the order of the rows.
-- cache: whole
WITH setting AS (
    SELECT
        CAST(max(value) FILTER (WHERE name = 'tooluse.epsilon') AS DOUBLE) AS epsilon,
        CAST(max(value) FILTER (WHERE name = 'arm.replicate') AS INTEGER) AS replicate
    FROM stat.parameter
),
labelled_call AS (
    SELECT
        call.task, concat_ws('|', call.model_id, call.thinking) AS cell, call.cluster_id, call.correct, call.saturated, call.gap_before,
        call.gain_real::DECIMAL(38, 18) AS gain_real, call.gain_cf::DECIMAL(38, 18) AS gain_cf, call.veg::DECIMAL(38, 18) AS exact_veg, call.veg, setting.epsilon
    FROM tooluse.call AS call
    INNER JOIN setting ON call.replicate = setting.replicate
    WHERE call.arm = 'tool' AND call.template = 'free'
),
labelled_trajectory AS (
    SELECT
        trajectory.task, concat_ws('|', trajectory.model_id, trajectory.thinking) AS cell, trajectory.cluster_id,
        trajectory.veg_max::DECIMAL(38, 18) AS veg_max
    FROM tooluse.trajectory AS trajectory
    INNER JOIN setting ON trajectory.replicate = setting.replicate
),
cluster_sum AS (
    SELECT
        task, cell, cluster_id,
        sum(gain_real) AS gain_real, count(gain_real) AS n_gain_real, sum(gain_cf) AS gain_cf, count(gain_cf) AS n_gain_cf,
        sum(exact_veg) AS veg, count(veg) AS n_veg,
        sum(exact_veg) FILTER (WHERE correct) AS veg_correct, count(veg) FILTER (WHERE correct) AS n_correct,
        sum(exact_veg) FILTER (WHERE NOT correct) AS veg_incorrect, count(veg) FILTER (WHERE NOT correct) AS n_incorrect,
        count(*) FILTER (WHERE abs(veg) < epsilon) AS near_zero, count(*) FILTER (WHERE abs(veg) > 0.1::DOUBLE) AS substantial,
        count(*) FILTER (WHERE veg < -0.05::DOUBLE) AS harmful,
        count(*) FILTER (WHERE saturated) AS saturation, count(gap_before) AS n_gap_before,
        sum(exact_veg) FILTER (WHERE saturated) AS veg_saturated, count(veg) FILTER (WHERE saturated) AS n_saturated,
        sum(exact_veg) FILTER (WHERE NOT saturated) AS veg_unsaturated, count(veg) FILTER (WHERE NOT saturated) AS n_unsaturated
    FROM labelled_call
    GROUP BY task, cell, cluster_id
),
peak_sum AS (
    SELECT task, cell, cluster_id, sum(veg_max) AS veg_max, count(veg_max) AS n_trajectories FROM labelled_trajectory GROUP BY task, cell, cluster_id
),
contribution AS (
    SELECT task, cell, cluster_id, 'gain_real' AS statistic, 'difference' AS kind, gain_real AS numerator, n_gain_real AS denominator FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'gain_cf', 'difference', gain_cf, n_gain_cf FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg', 'difference', veg, n_veg FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_correct', 'difference', veg_correct, n_correct FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_incorrect', 'difference', veg_incorrect, n_incorrect FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'near_zero', 'rate', near_zero, n_veg FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'substantial', 'rate', substantial, n_veg FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'harmful', 'rate', harmful, n_veg FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'saturation', 'rate', saturation, n_gap_before FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_saturated', 'difference', veg_saturated, n_saturated FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_unsaturated', 'difference', veg_unsaturated, n_unsaturated FROM cluster_sum
    UNION ALL
    SELECT task, cell, cluster_id, 'veg_max', 'difference', veg_max, n_trajectories FROM peak_sum
)
SELECT
    task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, kind, cluster_id, COALESCE(numerator, 0)::DOUBLE AS numerator, denominator::DOUBLE AS denominator
FROM contribution
