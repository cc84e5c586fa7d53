-- grain: one row is one unhindered tool rollout (arm tool, template free) that Algorithm 1 can be asked about: it made no call, or was probed.
-- columns: rollout_id, model_id, thinking, task, item_id, cluster_id, replicate, correct, n_calls, hit_max, is_cut (it ended in an error, so that what it
-- would have done is not known); over the calls that count (see tooluse.calls): gap_first (g before the first call), veg_max, veg_min (of those that
-- were read), n_veg_unread (calls with evidence whose VEG was not read), gap_later (largest g before a call with k >= 2), n_later (such calls),
-- n_later_unread (of those, unreadable)
-- serves: 4.2 of seed 001 (the features of Algorithm 1)
-- decided: a call that ended in a tool error counts in n_calls and shows no evidence: it is left out of veg_max and veg_min.
-- cache: whole
WITH call_feature AS (
    SELECT
        rollout_id, sum(n_checkpoints) AS n_checkpoints,
        max(gap_before) FILTER (WHERE call_number = 1) AS gap_first,
        max(veg) FILTER (WHERE is_counted) AS veg_max, min(veg) FILTER (WHERE is_counted) AS veg_min,
        count(*) FILTER (WHERE is_counted AND NOT is_error AND veg IS NULL) AS n_veg_unread,
        max(gap_before) FILTER (WHERE is_counted AND position >= 2) AS gap_later,
        count(*) FILTER (WHERE is_counted AND position >= 2) AS n_later,
        count(*) FILTER (WHERE is_counted AND position >= 2 AND gap_before IS NULL) AS n_later_unread
    FROM tooluse.call
    WHERE arm = 'tool' AND template = 'free'
    GROUP BY rollout_id
)
SELECT
    rollout.rollout_id, model_id, thinking, task, item_id, cluster_id, replicate, correct, n_calls, hit_max,
    COALESCE(end_reason = 'error', FALSE) AS is_cut, gap_first, veg_max, veg_min, COALESCE(n_veg_unread, 0) AS n_veg_unread,
    gap_later, COALESCE(n_later, 0) AS n_later, COALESCE(n_later_unread, 0) AS n_later_unread
FROM tooluse.rollout AS rollout
LEFT JOIN call_feature ON rollout.rollout_id = call_feature.rollout_id
WHERE arm = 'tool' AND template = 'free' AND (n_calls = 0 OR n_checkpoints > 0)
