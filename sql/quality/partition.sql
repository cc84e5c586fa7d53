-- promise: every call that was made has exactly one outcome, and the outcomes add up.
-- severity: error
-- grain: one row is one condition (model × thinking × task × arm × template) whose outcomes do not add up.
-- columns: model_id, thinking, task, arm, template, n_attempted, n_sum (of the outcomes), n_completed, n_completed_sum (of its three)
-- serves: Appendix D of seed 000
WITH condition_sum AS (
    SELECT
        model_id, thinking, task, arm, template, n_attempted, n_completed,
        n_unparsed_answer + n_unparsed_report + n_usable AS n_completed_sum,
        COALESCE(n_repetition, 0) + COALESCE(n_repetition_unasked, 0) + n_truncated + n_provider_error + n_unparsed_answer
            + n_unparsed_report + n_usable AS n_sum
    FROM attrition.condition
)
SELECT model_id, thinking, task, arm, template, n_attempted, n_sum, n_completed, n_completed_sum
FROM condition_sum
WHERE n_sum <> n_attempted OR n_completed_sum <> n_completed
