-- grain: one row is one item whose annotation names the input that holds its evidence.
-- columns: item_id, evidence (A|B: g, the evidence set that holds the annotated camera)
-- serves: 3.2 and B.3 of seed 000
-- decided: a camera in neither set, in both, or NONE_OF_THE_ABOVE names no set, and its question is left out.
-- scans: item 1
WITH annotated AS (
    SELECT
        item_id, '"' || json_extract_string(annotation, '$.golden_view') || '"' AS camera,
        json_extract_string(annotation, '$.set_a') AS set_a, json_extract_string(annotation, '$.set_b') AS set_b
    FROM raw.item
),
held AS (
    SELECT item_id, strpos(set_a, camera) > 0 AS in_a, strpos(set_b, camera) > 0 AS in_b FROM annotated
)
SELECT item_id, CASE WHEN in_a THEN 'A' ELSE 'B' END AS evidence
FROM held
WHERE in_a <> in_b
