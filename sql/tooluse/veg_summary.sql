-- grain: one row is one model × thinking × task: Visual Evidence Gain over all calls of its labelled tool rollouts (replicate arm.replicate).
-- columns: model_id, thinking, task, n_items (with such a rollout), n_clusters, n_calls, n_gap_before, n_veg (calls at which it was read), n_trajectories (with
-- a VEG that counts); gain_real, gain_cf, veg (means), veg_correct, veg_incorrect (veg by the rollout's answer), near_zero (share with |VEG| <
-- tooluse.epsilon), substantial (> 0.1), harmful (VEG < -0.05), saturation (share of read gap_before > tooluse.tau_sat), veg_saturated, veg_unsaturated
-- (veg by that), veg_max (mean over rollouts of the largest), each with _low and _high
-- serves: Tables 3 and 18 of seed 001
-- decided: calls of one turn are pooled, whatever tooluse.calls says; veg_max takes those that count.
WITH labelled AS (
    SELECT rollout.rollout_id, rollout.model_id, rollout.thinking, rollout.task, rollout.cluster_id
    FROM tooluse.rollout AS rollout
    INNER JOIN stat.parameter AS replicate ON replicate.name = 'arm.replicate' AND rollout.replicate = CAST(replicate.value AS INTEGER)
    WHERE rollout.arm = 'tool' AND rollout.template = 'free'
),
call_count AS (
    SELECT
        rollout_id, count(*) AS n_calls, count(gap_before) AS n_gap_before, count(veg) AS n_veg, max(CASE WHEN is_counted AND veg IS NOT NULL THEN 1 END) AS has_peak
    FROM tooluse.call
    GROUP BY rollout_id
),
cell AS (
    SELECT
        model_id, thinking, task, concat_ws('|', model_id, thinking) AS cell, count(*) AS n_items, count(DISTINCT cluster_id) AS n_clusters,
        COALESCE(sum(n_calls), 0)::BIGINT AS n_calls, COALESCE(sum(n_gap_before), 0)::BIGINT AS n_gap_before,
        COALESCE(sum(n_veg), 0)::BIGINT AS n_veg, count(has_peak) AS n_trajectories
    FROM labelled
    LEFT JOIN call_count USING (rollout_id)
    GROUP BY model_id, thinking, task
),
estimate AS (
    SELECT
        task, cell,
        max(estimate) FILTER (WHERE statistic = 'gain_real') AS gain_real, max(low) FILTER (WHERE statistic = 'gain_real') AS gain_real_low,
        max(high) FILTER (WHERE statistic = 'gain_real') AS gain_real_high,
        max(estimate) FILTER (WHERE statistic = 'gain_cf') AS gain_cf, max(low) FILTER (WHERE statistic = 'gain_cf') AS gain_cf_low,
        max(high) FILTER (WHERE statistic = 'gain_cf') AS gain_cf_high,
        max(estimate) FILTER (WHERE statistic = 'veg') AS veg, max(low) FILTER (WHERE statistic = 'veg') AS veg_low,
        max(high) FILTER (WHERE statistic = 'veg') AS veg_high,
        max(estimate) FILTER (WHERE statistic = 'veg_correct') AS veg_correct,
        max(low) FILTER (WHERE statistic = 'veg_correct') AS veg_correct_low, max(high) FILTER (WHERE statistic = 'veg_correct') AS veg_correct_high,
        max(estimate) FILTER (WHERE statistic = 'veg_incorrect') AS veg_incorrect,
        max(low) FILTER (WHERE statistic = 'veg_incorrect') AS veg_incorrect_low, max(high) FILTER (WHERE statistic = 'veg_incorrect') AS veg_incorrect_high,
        max(estimate) FILTER (WHERE statistic = 'near_zero') AS near_zero, max(low) FILTER (WHERE statistic = 'near_zero') AS near_zero_low,
        max(high) FILTER (WHERE statistic = 'near_zero') AS near_zero_high,
        max(estimate) FILTER (WHERE statistic = 'substantial') AS substantial,
        max(low) FILTER (WHERE statistic = 'substantial') AS substantial_low, max(high) FILTER (WHERE statistic = 'substantial') AS substantial_high,
        max(estimate) FILTER (WHERE statistic = 'harmful') AS harmful, max(low) FILTER (WHERE statistic = 'harmful') AS harmful_low,
        max(high) FILTER (WHERE statistic = 'harmful') AS harmful_high,
        max(estimate) FILTER (WHERE statistic = 'saturation') AS saturation,
        max(low) FILTER (WHERE statistic = 'saturation') AS saturation_low, max(high) FILTER (WHERE statistic = 'saturation') AS saturation_high,
        max(estimate) FILTER (WHERE statistic = 'veg_saturated') AS veg_saturated,
        max(low) FILTER (WHERE statistic = 'veg_saturated') AS veg_saturated_low, max(high) FILTER (WHERE statistic = 'veg_saturated') AS veg_saturated_high,
        max(estimate) FILTER (WHERE statistic = 'veg_unsaturated') AS veg_unsaturated,
        max(low) FILTER (WHERE statistic = 'veg_unsaturated') AS veg_unsaturated_low, max(high) FILTER (WHERE statistic = 'veg_unsaturated') AS veg_unsaturated_high,
        max(estimate) FILTER (WHERE statistic = 'veg_max') AS veg_max, max(low) FILTER (WHERE statistic = 'veg_max') AS veg_max_low,
        max(high) FILTER (WHERE statistic = 'veg_max') AS veg_max_high
    FROM tooluse.veg_interval
    GROUP BY task, cell
)
SELECT
    model_id, thinking, task, n_items, n_clusters, n_calls, n_gap_before, n_veg, n_trajectories,
    gain_real, gain_real_low, gain_real_high, gain_cf, gain_cf_low, gain_cf_high, veg, veg_low, veg_high, veg_correct, veg_correct_low,
    veg_correct_high, veg_incorrect, veg_incorrect_low, veg_incorrect_high, near_zero, near_zero_low, near_zero_high, substantial,
    substantial_low, substantial_high, harmful, harmful_low, harmful_high, saturation, saturation_low, saturation_high, veg_saturated,
    veg_saturated_low, veg_saturated_high, veg_unsaturated, veg_unsaturated_low, veg_unsaturated_high, veg_max, veg_max_low, veg_max_high
FROM cell
LEFT JOIN estimate USING (task, cell)
