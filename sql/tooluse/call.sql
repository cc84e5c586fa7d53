-- grain: one row is one tool call of a finished rollout: an observation that was shown.
-- columns: rollout_id, model_id, thinking, task, item_id, cluster_id, arm, template, replicate, correct (of the rollout), turn, call_index, call_number (in the
-- rollout, from 1), turn_number (its turn among those that call, from 1), first_of_turn, is_counted (by tooluse.calls: what positions, V_max, V_min and POER
-- take), position (k: turn_number, or call_number where tooluse.calls is `all`), is_error (the call ended in a tool error), n_checkpoints (probed);
-- gap_before, gap_real, gap_cf (mean of three counterfactual crops), gain_real (gap_real - gap_before), gain_cf (gap_cf - gap_before), veg (gap_real -
-- gap_cf), each in [-1, 1] or a difference of such, NULL where a checkpoint that it needs is unreadable; saturated (gap_before > tooluse.tau_sat);
-- mass_before, mass_real, mass_cf (raw probability of the options; mean of three), reason (of the checkpoints that are unreadable)
-- serves: 3.3.3 of seed 001; per-step VEG for training (section 5)
-- decided: the three crops must all be read; a call that ended in a tool error shows no evidence and has no gap_real, gap_cf.
-- cache: whole
-- scans: observation 1
WITH shown AS (
    SELECT
        rollout_id, turn, call_index, error IS NOT NULL AS is_error,
        row_number() OVER (PARTITION BY rollout_id ORDER BY turn, call_index) AS call_number,
        dense_rank() OVER (PARTITION BY rollout_id ORDER BY turn) AS turn_number,
        row_number() OVER (PARTITION BY rollout_id, turn ORDER BY call_index) = 1 AS first_of_turn
    FROM raw.observation
    WHERE draw = 0
),
checkpoint AS (
    SELECT
        rollout_id, turn, call_index, count(*) AS n_checkpoints,
        max(gap) FILTER (WHERE stage = 'before') AS gap_before, max(gap) FILTER (WHERE stage = 'real') AS gap_real,
        (max(gap) FILTER (WHERE stage = 'counterfactual' AND draw = 1) + max(gap) FILTER (WHERE stage = 'counterfactual' AND draw = 2)
        + max(gap) FILTER (WHERE stage = 'counterfactual' AND draw = 3)) / 3 AS gap_cf,
        max(mass) FILTER (WHERE stage = 'before') AS mass_before, max(mass) FILTER (WHERE stage = 'real') AS mass_real,
        (max(mass) FILTER (WHERE stage = 'counterfactual' AND draw = 1) + max(mass) FILTER (WHERE stage = 'counterfactual' AND draw = 2)
        + max(mass) FILTER (WHERE stage = 'counterfactual' AND draw = 3)) / 3 AS mass_cf,
        'before: ' || CASE count(*) FILTER (WHERE stage = 'before') WHEN 0 THEN 'not probed' ELSE max(reason) FILTER (WHERE stage = 'before') END AS reason_before,
        'real: ' || CASE count(*) FILTER (WHERE stage = 'real') WHEN 0 THEN 'not probed' ELSE max(reason) FILTER (WHERE stage = 'real') END AS reason_real,
        CASE
            WHEN count(DISTINCT draw) FILTER (WHERE stage = 'counterfactual' AND draw BETWEEN 1 AND 3) < 3 THEN 'counterfactual: fewer than three'
            ELSE 'counterfactual: ' || min(reason) FILTER (WHERE stage = 'counterfactual')
        END AS reason_cf
    FROM tooluse.probe
    GROUP BY rollout_id, turn, call_index
),
setting AS (
    SELECT
        CAST(max(value) FILTER (WHERE name = 'tooluse.tau_sat') AS DOUBLE) AS tau_sat, max(value) FILTER (WHERE name = 'tooluse.calls') = 'all' AS takes_all
    FROM stat.parameter
)
SELECT
    rollout.rollout_id, rollout.model_id, rollout.thinking, rollout.task, rollout.item_id, rollout.cluster_id, rollout.arm, rollout.template,
    rollout.replicate, rollout.correct, shown.turn, shown.call_index, shown.call_number, shown.turn_number, shown.first_of_turn,
    shown.first_of_turn OR setting.takes_all AS is_counted,
    CASE WHEN setting.takes_all THEN shown.call_number ELSE shown.turn_number END AS position,
    shown.is_error, COALESCE(checkpoint.n_checkpoints, 0) AS n_checkpoints,
    checkpoint.gap_before,
    CASE WHEN NOT shown.is_error THEN checkpoint.gap_real END AS gap_real,
    CASE WHEN NOT shown.is_error THEN checkpoint.gap_cf END AS gap_cf,
    CASE WHEN NOT shown.is_error THEN checkpoint.gap_real - checkpoint.gap_before END AS gain_real,
    CASE WHEN NOT shown.is_error THEN checkpoint.gap_cf - checkpoint.gap_before END AS gain_cf,
    CASE WHEN NOT shown.is_error THEN checkpoint.gap_real - checkpoint.gap_cf END AS veg,
    checkpoint.gap_before > setting.tau_sat AS saturated,
    checkpoint.mass_before, checkpoint.mass_real, checkpoint.mass_cf,
    CASE
        WHEN checkpoint.n_checkpoints IS NULL THEN 'not probed'
        WHEN shown.is_error THEN concat_ws('; ', checkpoint.reason_before, 'tool error')
        ELSE nullif(concat_ws('; ', checkpoint.reason_before, checkpoint.reason_real, checkpoint.reason_cf), '')
    END AS reason
FROM shown
INNER JOIN tooluse.rollout AS rollout ON shown.rollout_id = rollout.rollout_id
LEFT JOIN checkpoint ON shown.rollout_id = checkpoint.rollout_id AND shown.turn = checkpoint.turn AND shown.call_index = checkpoint.call_index
CROSS JOIN setting
