-- promise: every request of the study has been settled; `vlmaudit generate` calls again for those that have not.
-- severity: warning
-- grain: one row is one request that was never called, or whose latest call failed at the provider.
-- columns: request_key, model_id, thinking, task, item_id, arm, template, replicate, attempts, outcome, reason
SELECT request_key, model_id, thinking, task, item_id, arm, template, replicate, attempts, outcome, reason
FROM arm.settled
WHERE NOT settled
