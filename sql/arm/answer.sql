-- grain: one row is one model × thinking × item × arm × template × replicate that the study asks for: what was read from its latest
--   attempt.
-- columns: model_id, thinking, task, item_id, cluster_id, gold (canonical text), arm, template, replicate, call_item_id (the item whose
--   call gave the answer), outcome (NULL: never called), answer, alone_a, alone_b, with_other, sufficiency (canonical text; NULL unless read)
-- serves: seed 000, section 4 "Grid and scoring"; Appendix D "Grain"
-- decided: a film's image-only call is copied to the film's summary items that the same model and mode are asked about, in place of its own
--   row; not to one that has an image-only call of its own. Where it is copied to none, its own row stays.
-- cache: whole
-- scans: item 1
WITH field AS (
    SELECT
        completion_id,
        max(value) FILTER (WHERE field = 'answer') AS answer,
        max(value) FILTER (WHERE field = 'alone_a') AS alone_a,
        max(value) FILTER (WHERE field = 'alone_b') AS alone_b,
        max(value) FILTER (WHERE field = 'with_other') AS with_other,
        max(value) FILTER (WHERE field = 'sufficiency') AS sufficiency
    FROM parse.field
    GROUP BY completion_id
),
gold AS (
    SELECT
        item_id,
        CASE
            WHEN json_type(gold) = 'ARRAY'
                THEN '["' || array_to_string(list_sort(list_distinct(json_extract_string(gold, '$[*]'))), '","') || '"]'
            WHEN task = 'goldenview' THEN upper(json_extract_string(gold, '$'))
            ELSE lower(json_extract_string(gold, '$'))
        END AS gold
    FROM raw.item
),
request AS (
    SELECT request_key, model_id, thinking, task, item_id, cluster_id, arm, template, replicate
    FROM arm.request
    WHERE protocol = 'modality'
),
summary AS (
    SELECT model_id, thinking, task, item_id, cluster_id
    FROM request
    WHERE task = 'mmimdb' AND arm <> 'title' AND item_id <> cluster_id
    GROUP BY model_id, thinking, task, item_id, cluster_id
    HAVING count(*) FILTER (WHERE arm = 'B') = 0
),
asked AS (
    SELECT
        request.request_key, request.model_id, request.thinking, request.task, request.arm, request.template, request.replicate,
        request.item_id AS call_item_id, COALESCE(summary.item_id, request.item_id) AS item_id, request.cluster_id
    FROM request
    LEFT JOIN summary
        ON request.task = summary.task AND request.arm = 'B' AND request.item_id = request.cluster_id
        AND request.cluster_id = summary.cluster_id AND request.model_id = summary.model_id AND request.thinking = summary.thinking
),
latest AS (
    SELECT request_key, completion_id, outcome
    FROM attrition.outcome
    WHERE is_latest
)
SELECT
    asked.model_id, asked.thinking, asked.task, asked.item_id, asked.cluster_id, gold.gold, asked.arm, asked.template, asked.replicate,
    asked.call_item_id, latest.outcome, field.answer, field.alone_a, field.alone_b, field.with_other, field.sufficiency
FROM asked
LEFT JOIN gold ON asked.item_id = gold.item_id
LEFT JOIN latest ON asked.request_key = latest.request_key
LEFT JOIN field ON latest.completion_id = field.completion_id
