-- grain: one row is one condition that the study asks for: model × thinking × task × arm × template.
-- columns: model_id, thinking, task, arm, template; n_requests (asked for), n_attempted (called), and of the latest attempts
--   n_repetition (NULL where no request carried the loop detector), n_repetition_unasked (ended so all the same, and is not known to have
--   carried it), n_truncated, n_provider_error, n_unparsed_answer, n_unparsed_report, n_usable: a partition; n_completed (the last three),
--   and of those, overlapping, n_lost_answer, n_lost_report, n_lost_either; parse_failure_of_completed (n_lost_either / n_completed)
-- serves: seed 000, Tables 14 and 15
-- decided: the latest attempt counts; replicate is arm.replicate; a film's image-only and title calls count once per film; a condition
--   of which nothing was called yet is a row with n_attempted 0.
WITH request AS (
    SELECT request.request_key, request.model_id, request.thinking, request.task, request.arm, request.template
    FROM arm.request AS request
    INNER JOIN stat.parameter AS parameter ON parameter.name = 'arm.replicate' AND request.replicate = CAST(parameter.value AS INTEGER)
    WHERE request.protocol = 'modality'
),
latest AS (
    SELECT request_key, outcome, lost_answer, lost_report, had_detector
    FROM attrition.outcome
    WHERE is_latest
),
counted AS (
    SELECT
        request.model_id, request.thinking, request.task, request.arm, request.template,
        count(*) AS n_requests,
        count(latest.outcome) AS n_attempted,
        count(*) FILTER (WHERE latest.had_detector) AS n_detector,
        count(*) FILTER (WHERE latest.outcome = 'repetition' AND latest.had_detector) AS n_repetition,
        count(*) FILTER (WHERE latest.outcome = 'repetition' AND NOT latest.had_detector) AS n_repetition_unasked,
        count(*) FILTER (WHERE latest.outcome = 'truncated') AS n_truncated,
        count(*) FILTER (WHERE latest.outcome = 'provider_error') AS n_provider_error,
        count(*) FILTER (WHERE latest.outcome = 'unparsed_answer') AS n_unparsed_answer,
        count(*) FILTER (WHERE latest.outcome = 'unparsed_report') AS n_unparsed_report,
        count(*) FILTER (WHERE latest.outcome = 'usable') AS n_usable,
        count(latest.lost_answer) AS n_completed,
        count(*) FILTER (WHERE latest.lost_answer) AS n_lost_answer,
        count(*) FILTER (WHERE latest.lost_report) AS n_lost_report,
        count(*) FILTER (WHERE latest.lost_answer OR latest.lost_report) AS n_lost_either
    FROM request
    LEFT JOIN latest ON request.request_key = latest.request_key
    GROUP BY request.model_id, request.thinking, request.task, request.arm, request.template
)
SELECT
    model_id, thinking, task, arm, template, n_requests, n_attempted,
    CASE WHEN n_detector > 0 THEN n_repetition END AS n_repetition,
    n_repetition_unasked, n_truncated, n_provider_error, n_unparsed_answer, n_unparsed_report, n_usable,
    n_completed, n_lost_answer, n_lost_report, n_lost_either,
    n_lost_either::DOUBLE / nullif(n_completed, 0) AS parse_failure_of_completed
FROM counted
