-- promise: the two evidence sets share no camera, and the annotated camera is in one of them, or is NONE_OF_THE_ABOVE.
-- severity: warning
-- grain: one row is one annotated item whose evidence set cannot be told; it is left out of grounding.
-- columns: item_id, task, golden_view, set_a, set_b (JSON text)
-- scans: item 1
WITH annotated AS (
    SELECT
        item_id, task, json_extract_string(annotation, '$.golden_view') AS golden_view,
        json_extract_string(annotation, '$.set_a') AS set_a, json_extract_string(annotation, '$.set_b') AS set_b
    FROM raw.item
)
SELECT annotated.item_id, annotated.task, annotated.golden_view, annotated.set_a, annotated.set_b
FROM annotated
LEFT JOIN modality.evidence AS evidence ON annotated.item_id = evidence.item_id
WHERE annotated.golden_view <> 'NONE_OF_THE_ABOVE' AND evidence.item_id IS NULL
