-- grain: one row is one finished rollout of the study (see tooluse.finished), with its answer.
-- columns: rollout_id, model_id, thinking, task, item_id, cluster_id, arm, template, replicate, attempt, end_reason, max_calls, n_turns, n_calls, hit_max,
-- prompt_tokens, completion_tokens, cost_usd (as in tooluse.finished); is_choice (the item offers options), answer (a letter where one was
-- read, else the text), ruling (how correct was found: exact; judge; pending: a judge has yet to rule; none: no judge is configured; no_answer;
-- error: the rollout ended in one; no_gold), correct (NULL where pending, error or no_gold)
-- serves: 3.3 and A.2 of seed 001
-- decided: no final answer is wrong; another readable letter is wrong. What exact match cannot read is the judge's: NULL until it has ruled where one is
-- configured (the grid asks for one on the task, or one was asked about a rollout of it), wrong where none is.
-- cache: whole
WITH final AS (
    SELECT rollout_id, value, is_choice, letter, gold FROM tooluse.statement WHERE place = 'final'
),
verdict AS (
    SELECT rollout_id, ruled_correct FROM tooluse.verdict
),
judged_task AS (
    SELECT task FROM arm.request WHERE protocol = 'judge'
    UNION
    SELECT finished.task
    FROM verdict
    INNER JOIN tooluse.finished AS finished ON verdict.rollout_id = finished.rollout_id
),
ruled AS (
    SELECT
        finished.*, final.is_choice, COALESCE(final.letter, final.value) AS answer, final.letter, final.value, final.gold, verdict.ruled_correct,
        CASE
            WHEN finished.end_reason = 'error' THEN 'error'
            WHEN final.value IS NULL THEN 'no_answer'
            WHEN final.gold IS NULL THEN 'no_gold'
            WHEN final.letter IS NOT NULL OR (NOT final.is_choice AND final.value = final.gold) THEN 'exact'
            WHEN verdict.ruled_correct IS NOT NULL THEN 'judge'
            WHEN judged_task.task IS NOT NULL THEN 'pending'
            ELSE 'none'
        END AS ruling
    FROM tooluse.finished AS finished
    LEFT JOIN final ON finished.rollout_id = final.rollout_id
    LEFT JOIN verdict ON finished.rollout_id = verdict.rollout_id
    LEFT JOIN judged_task ON finished.task = judged_task.task
)
SELECT
    rollout_id, model_id, thinking, task, item_id, cluster_id, arm, template, replicate, attempt, end_reason, max_calls, n_turns, n_calls, hit_max,
    prompt_tokens, completion_tokens, cost_usd, is_choice, answer, ruling,
    CASE ruling
        WHEN 'no_answer' THEN FALSE
        WHEN 'exact' THEN CASE WHEN is_choice THEN letter = gold ELSE TRUE END
        WHEN 'judge' THEN ruled_correct
        WHEN 'none' THEN FALSE
    END AS correct
FROM ruled
