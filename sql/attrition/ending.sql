-- grain: one row is one completion: how the call ended, before anyone reads its answer.
-- columns: completion_id, ending (repetition, truncated, provider_error, completed), reason (in words; NULL where completed)
-- serves: seed 000, Appendix D, the first three outcomes; `arm.settled`, which must not move with the rules that read answers
-- cache: incremental by completion_id
SELECT completion_id, ending, reason
FROM attrition.call
