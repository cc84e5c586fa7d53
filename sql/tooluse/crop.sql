-- grain: one row is one observation that was shown for a call whose box is known.
-- columns: rollout_id, turn, call_index, call_number (among such calls), x1, y1, x2, y2 (the box in pixels of the item's image), width, height (of that image; NULL where not known), is_small (the
-- box covers less than 4 % of it), is_near (every side within 3 % of the image of the previous box's), is_inside (within the previous box); the last two are
-- NULL for a rollout's first box
-- serves: E.3 of seed 001 (P2 and P3)
-- decided: the box is the executed one, in the original image where the call cropped an earlier crop. The image's size is what the tool recorded, else
-- that of the image sent.
-- cache: whole
-- scans: observation 1, item 1, image 1
WITH sent AS (
    SELECT item.item_id, image.width, image.height
    FROM raw.item AS item
    INNER JOIN raw.image AS image ON json_extract_string(item.inputs, '$.image') = image.image_sha256
),
executed AS (
    SELECT
        rollout_id, turn, call_index, executed,
        CASE WHEN json_type(executed, '$.original_bbox_2d') IS NULL THEN '$.bbox_2d' ELSE '$.original_bbox_2d' END AS path,
        CASE WHEN json_extract_string(executed, '$.source') = '0' THEN TRY_CAST(json_extract_string(executed, '$.source_size[0]') AS DOUBLE) END AS width,
        CASE WHEN json_extract_string(executed, '$.source') = '0' THEN TRY_CAST(json_extract_string(executed, '$.source_size[1]') AS DOUBLE) END AS height
    FROM raw.observation
    WHERE draw = 0 AND error IS NULL
),
box AS (
    SELECT
        executed.rollout_id, executed.turn, executed.call_index,
        TRY_CAST(json_extract_string(executed, path || '[0]') AS DOUBLE) AS x1, TRY_CAST(json_extract_string(executed, path || '[1]') AS DOUBLE) AS y1,
        TRY_CAST(json_extract_string(executed, path || '[2]') AS DOUBLE) AS x2, TRY_CAST(json_extract_string(executed, path || '[3]') AS DOUBLE) AS y2,
        COALESCE(max(executed.width) OVER (PARTITION BY executed.rollout_id), sent.width) AS width,
        COALESCE(max(executed.height) OVER (PARTITION BY executed.rollout_id), sent.height) AS height
    FROM executed
    INNER JOIN tooluse.finished AS finished ON executed.rollout_id = finished.rollout_id
    LEFT JOIN sent ON finished.item_id = sent.item_id
),
known AS (
    SELECT
        *, row_number() OVER (PARTITION BY rollout_id ORDER BY turn, call_index) AS call_number,
        lag(x1) OVER (PARTITION BY rollout_id ORDER BY turn, call_index) AS last_x1, lag(y1) OVER (PARTITION BY rollout_id ORDER BY turn, call_index) AS last_y1,
        lag(x2) OVER (PARTITION BY rollout_id ORDER BY turn, call_index) AS last_x2, lag(y2) OVER (PARTITION BY rollout_id ORDER BY turn, call_index) AS last_y2
    FROM box
    WHERE x1 + y1 + x2 + y2 IS NOT NULL
)
SELECT
    rollout_id, turn, call_index, call_number, x1, y1, x2, y2, width, height, (x2 - x1) * (y2 - y1) < 0.04 * width * height AS is_small,
    abs(x1 - last_x1) <= 0.03 * width AND abs(x2 - last_x2) <= 0.03 * width AND abs(y1 - last_y1) <= 0.03 * height AND abs(y2 - last_y2) <= 0.03 * height AS is_near,
    x1 >= last_x1 AND y1 >= last_y1 AND x2 <= last_x2 AND y2 <= last_y2 AS is_inside
FROM known
