-- grain: one row is one finished rollout on which a judge was asked: its latest ruling.
-- columns: rollout_id, model_id (the judge), ruled_correct (NULL where it has not ruled readably)
-- serves: A.2 of seed 001 (the second stage of answer verification)
-- decided: a ruling is `correct` or `incorrect`, whatever marks surround it, alone on the last line of the judge's final text.
-- scans: completion 1
WITH asked AS (
    SELECT
        completion.completion_id, completion.rollout_id, completion.model_id,
        row_number() OVER (PARTITION BY completion.rollout_id ORDER BY completion.attempt DESC, completion.completion_id DESC) = 1 AS is_latest
    FROM raw.completion AS completion
    INNER JOIN tooluse.finished AS finished ON completion.rollout_id = finished.rollout_id
    WHERE completion.protocol = 'judge'
),
said AS (
    SELECT asked.rollout_id, asked.model_id, string_split(regexp_replace(text.final_text, '[\s\p{Z}]+$', ''), chr(10)) AS lines
    FROM asked
    INNER JOIN parse.text AS text ON asked.completion_id = text.completion_id
    WHERE asked.is_latest
),
ruled AS (
    SELECT rollout_id, model_id, regexp_extract(lower(lines[array_length(lines)]), '^[^a-z]*(correct|incorrect)[^a-z]*$', 1) AS ruling
    FROM said
)
SELECT rollout_id, model_id, CASE ruling WHEN 'correct' THEN TRUE WHEN 'incorrect' THEN FALSE END AS ruled_correct
FROM ruled
