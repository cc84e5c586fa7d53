-- grain: one row is one call of the modality audit: its one outcome.
-- columns: completion_id, request_key, model_id, thinking, task, item_id, arm, template, replicate, attempt,
--   is_latest (no later attempt of the request is stored), outcome (repetition, truncated, provider_error, unparsed_answer,
--   unparsed_report, usable), reason (of the ending, or label and reason of the fields that were lost), lost_answer, lost_report (a field
--   other than ANSWER was lost; both NULL unless the call was completed), had_detector (the request asked for the loop detector)
-- serves: seed 000, Appendix D
-- decided: a completed call of a task or arm that parse.label does not know has lost its answer: nothing can be read from it.
-- scans: completion 1
WITH lost AS (
    SELECT
        completion_id,
        count(*) FILTER (WHERE field = 'answer' AND ok) = 0 AS lost_answer,
        count(*) FILTER (WHERE field <> 'answer' AND NOT ok) > 0 AS lost_report,
        array_to_string(list_sort(array_agg(label || ' ' || reason) FILTER (WHERE NOT ok)), ', ') AS reason
    FROM parse.field
    GROUP BY completion_id
),
call AS (
    SELECT
        completion_id, request_key, model_id, thinking, task, item_id, arm, template, replicate, attempt,
        row_number() OVER (PARTITION BY request_key ORDER BY attempt DESC, completion_id DESC) = 1 AS is_latest,
        COALESCE(json_type(request, '$.repetition_detection') <> 'NULL', FALSE) AS had_detector
    FROM raw.completion
    WHERE protocol = 'modality'
),
classified AS (
    SELECT
        call.*, ending.ending,
        CASE WHEN ending.ending = 'completed' THEN COALESCE(lost.lost_answer, TRUE) END AS lost_answer,
        CASE WHEN ending.ending = 'completed' THEN COALESCE(lost.lost_report, FALSE) END AS lost_report,
        COALESCE(
            ending.reason, lost.reason, CASE WHEN lost.completion_id IS NULL THEN 'no label is known for this task and arm' END
        ) AS reason
    FROM call
    INNER JOIN attrition.ending AS ending ON call.completion_id = ending.completion_id
    LEFT JOIN lost ON call.completion_id = lost.completion_id
)
SELECT
    completion_id, request_key, model_id, thinking, task, item_id, arm, template, replicate, attempt, is_latest,
    CASE WHEN ending <> 'completed' THEN ending WHEN lost_answer THEN 'unparsed_answer' WHEN lost_report THEN 'unparsed_report'
        ELSE 'usable' END AS outcome,
    reason, lost_answer, lost_report, had_detector
FROM classified
