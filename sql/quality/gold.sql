-- promise: every item that the study asks for has a gold answer that its task can score.
-- severity: warning
-- grain: one row is one item asked for whose gold answer is missing or no answer of its task; it counts in no score.
-- columns: item_id, task
SELECT DISTINCT item_id, task
FROM arm.answer
WHERE gold IS NULL
