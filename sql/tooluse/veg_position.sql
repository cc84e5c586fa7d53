-- grain: one row is one model × thinking × task × position of a call in its rollout, over the labelled tool rollouts (replicate arm.replicate).
-- columns: model_id, thinking, task, position (k: 1, 2, 3, 4+; see tooluse.call), n_items (whose rollout has such a call), n_clusters, n_calls, n_gap_before,
-- n_veg, n_unsaturated (calls at which gap_before was read; VEG was; both were, and gap_before <= tooluse.tau_sat); saturation, veg (mean), near_zero,
-- harmful (rates, as in tooluse.veg_summary), veg_unsaturated, near_zero_unsaturated, harmful_unsaturated (over n_unsaturated), each with _low and _high
-- serves: Table 13 and Fig. 5a of seed 001
-- decided: the first call of each turn counts, and k is the turn's number; tooluse.calls `all` counts every call.
WITH labelled AS (
    SELECT call.*, CASE WHEN call.position >= 4 THEN '4+' ELSE call.position::VARCHAR END AS place
    FROM tooluse.call AS call
    INNER JOIN stat.parameter AS replicate ON replicate.name = 'arm.replicate' AND call.replicate = CAST(replicate.value AS INTEGER)
    WHERE call.arm = 'tool' AND call.template = 'free' AND call.is_counted
),
cell AS (
    SELECT model_id, thinking, task, places.position, concat_ws('|', model_id, thinking, places.position) AS cell
    FROM (SELECT DISTINCT model_id, thinking, task FROM tooluse.rollout WHERE arm = 'tool' AND template = 'free') AS run
    CROSS JOIN (VALUES ('1'), ('2'), ('3'), ('4+')) AS places (position)
),
call_count AS (
    SELECT
        model_id, thinking, task, place AS position, count(DISTINCT item_id) AS n_items, count(DISTINCT cluster_id) AS n_clusters, count(*) AS n_calls,
        count(gap_before) AS n_gap_before, count(veg) AS n_veg, count(veg) FILTER (WHERE NOT saturated) AS n_unsaturated
    FROM labelled
    GROUP BY model_id, thinking, task, place
),
estimate AS (
    SELECT
        task, cell,
        max(estimate) FILTER (WHERE statistic = 'saturation') AS saturation,
        max(low) FILTER (WHERE statistic = 'saturation') AS saturation_low, max(high) FILTER (WHERE statistic = 'saturation') AS saturation_high,
        max(estimate) FILTER (WHERE statistic = 'veg') AS veg, max(low) FILTER (WHERE statistic = 'veg') AS veg_low,
        max(high) FILTER (WHERE statistic = 'veg') AS veg_high,
        max(estimate) FILTER (WHERE statistic = 'near_zero') AS near_zero, max(low) FILTER (WHERE statistic = 'near_zero') AS near_zero_low,
        max(high) FILTER (WHERE statistic = 'near_zero') AS near_zero_high,
        max(estimate) FILTER (WHERE statistic = 'harmful') AS harmful, max(low) FILTER (WHERE statistic = 'harmful') AS harmful_low,
        max(high) FILTER (WHERE statistic = 'harmful') AS harmful_high,
        max(estimate) FILTER (WHERE statistic = 'veg_unsaturated') AS veg_unsaturated,
        max(low) FILTER (WHERE statistic = 'veg_unsaturated') AS veg_unsaturated_low, max(high) FILTER (WHERE statistic = 'veg_unsaturated') AS veg_unsaturated_high,
        max(estimate) FILTER (WHERE statistic = 'near_zero_unsaturated') AS near_zero_unsaturated,
        max(low) FILTER (WHERE statistic = 'near_zero_unsaturated') AS near_zero_unsaturated_low, max(high) FILTER (WHERE statistic = 'near_zero_unsaturated') AS near_zero_unsaturated_high,
        max(estimate) FILTER (WHERE statistic = 'harmful_unsaturated') AS harmful_unsaturated,
        max(low) FILTER (WHERE statistic = 'harmful_unsaturated') AS harmful_unsaturated_low, max(high) FILTER (WHERE statistic = 'harmful_unsaturated') AS harmful_unsaturated_high
    FROM tooluse.position_interval
    GROUP BY task, cell
)
SELECT
    model_id, thinking, task, position, COALESCE(n_items, 0) AS n_items, COALESCE(n_clusters, 0) AS n_clusters, COALESCE(n_calls, 0) AS n_calls,
    COALESCE(n_gap_before, 0) AS n_gap_before, COALESCE(n_veg, 0) AS n_veg, COALESCE(n_unsaturated, 0) AS n_unsaturated,
    saturation, saturation_low, saturation_high, veg, veg_low, veg_high, near_zero, near_zero_low, near_zero_high, harmful, harmful_low,
    harmful_high, veg_unsaturated, veg_unsaturated_low, veg_unsaturated_high, near_zero_unsaturated, near_zero_unsaturated_low,
    near_zero_unsaturated_high, harmful_unsaturated, harmful_unsaturated_low, harmful_unsaturated_high
FROM cell
LEFT JOIN call_count USING (model_id, thinking, task, position)
LEFT JOIN estimate USING (task, cell)
