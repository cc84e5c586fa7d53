-- grain: one row is one completed call × a label that it should carry: the values that the paper's literal rules find for it.
-- columns: completion_id, label, field, kind (see parse.label), letters (those that the item offers), has_label (a line starts with the
--   label), found (the values in order, without surrounding white space and one trailing full stop; lines without a value left out)
-- serves: seed 000, Appendix D: "The parser matches the literal label"
-- decided: a label counts where a line starts with it; where the prompt asks for a bare array, the last `[...]` that is valid JSON and
--   holds no further bracket counts.
-- scans: item 1
WITH completed AS (
    SELECT text.completion_id, text.task, text.item_id, text.arm, text.template, text.final_text
    FROM parse.text AS text
    INNER JOIN attrition.ending AS ending ON text.completion_id = ending.completion_id
    WHERE ending.ending = 'completed'
),
offered AS (
    SELECT item_id, list_transform(json_keys(annotation, '$.options'), lambda letter: upper(letter)) AS letters
    FROM raw.item
    WHERE json_type(annotation, '$.options') = 'OBJECT'
),
split AS (
    SELECT
        completed.completion_id, label.label, label.field, label.kind, label.found_in,
        COALESCE(offered.letters, ['A', 'B', 'C', 'D']) AS letters,
        CASE WHEN label.found_in = 'line' THEN string_split(chr(10) || completed.final_text, chr(10) || label.label || ':')
            ELSE string_split(completed.final_text, '[') END AS pieces
    FROM completed
    INNER JOIN parse.label AS label ON completed.task = label.task AND completed.arm = label.arm AND completed.template = label.template
    LEFT JOIN offered ON completed.item_id = offered.item_id
),
opened AS (
    -- what follows each label, to the end of its line, or each opening bracket, to the first closing one
    SELECT
        completion_id, label, field, kind, letters, found_in,
        CASE WHEN found_in = 'line' THEN list_transform(list_slice(pieces, 2, array_length(pieces)), lambda rest: regexp_extract(
            split_part(rest, chr(10), 1), '^[ \t\v\f\r]*(.*?)[ \t\v\f\r]*\.?[ \t\v\f\r]*$', 1
        ))
            ELSE list_transform(list_filter(list_slice(pieces, 2, array_length(pieces)), lambda rest: contains(rest, ']')),
                lambda rest: '[' || split_part(rest, ']', 1) || ']') END AS values
    FROM split
),
checked AS (
    -- json_valid forgives trailing commas and NaN, so the elements are spelled out; an array of objects is left to it
    SELECT
        completion_id, label, field, kind, letters, found_in, values,
        CASE WHEN found_in = 'span' THEN list_filter(values, lambda span: (contains(span, '{') AND json_valid(span)) OR regexp_full_match(
            span, '\[[ \t\r\n]*(("([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null)'
            || '([ \t\r\n]*,[ \t\r\n]*("([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null))*[ \t\r\n]*)?\]'
        )) END AS spans
    FROM opened
)
SELECT
    completion_id, label, field, kind, letters,
    array_length(COALESCE(spans, values)) > 0 AS has_label,
    CASE WHEN found_in = 'line' THEN list_filter(values, lambda value: value <> '')
        ELSE list_slice(spans, array_length(spans), array_length(spans)) END AS found
FROM checked
