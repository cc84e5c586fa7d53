-- grain: one row is one completed call × a label that it should carry: the values that the paper's literal rules find for it.
-- columns: as parse.value; found is without surrounding white space and one trailing full stop, lines without a value are left out
-- serves: seed 000, Appendix D: "The parser matches the literal label"
-- decided: a label counts where a line starts with it; where the prompt asks for a bare array, the last `[...]` that is valid JSON and
--   holds no further bracket counts.
-- scans: item 1
WITH offered AS (
    SELECT item_id, list_transform(json_keys(annotation, '$.options'), lambda letter: upper(letter)) AS letters
    FROM raw.item
    WHERE json_type(annotation, '$.options') = 'OBJECT'
),
call AS (
    -- the lines that start with some label, or what stands behind each opening bracket
    SELECT
        completion_id, item_id, task, arm, template,
        CASE WHEN NOT (task = 'mmimdb' AND template = 'plain')
            THEN list_filter(string_split(final_text, chr(10)), lambda line: regexp_matches(line, '^[A-Z_]+:')) END AS lines,
        CASE WHEN task = 'mmimdb' AND template = 'plain' THEN list_filter(
            list_slice(string_split(final_text, '['), 2, length(final_text)), lambda rest: contains(rest, ']')
        ) END AS brackets
    FROM attrition.call
    WHERE ending = 'completed'
),
asked AS (
    SELECT
        call.completion_id, label.label, label.field, label.kind, COALESCE(offered.letters, ['A', 'B', 'C', 'D']) AS letters,
        list_transform(
            list_filter(call.lines, lambda line: starts_with(line, label.label || ':')),
            lambda line: trim(substr(line, length(label.label) + 2), ' ' || chr(9) || chr(11) || chr(12) || chr(13))
        ) AS values,
        -- json_valid forgives trailing commas, NaN and Infinity: an array of scalars is spelled out, in one of objects they are looked for
        list_filter(
            list_transform(call.brackets, lambda rest: '[' || string_split(rest, ']')[1] || ']'),
            lambda span: (contains(span, '{') AND json_valid(span) AND NOT regexp_matches(
                regexp_replace(span, '"(?:[^"\\]|\\.)*"', '""', 'g'), '(?i),[ \t\r\n]*[}\]]|nan|inf'
            )) OR regexp_full_match(span,
                '\[[ \t\r\n]*(?:(?:"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
                || '|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)'
                || '(?:[ \t\r\n]*,[ \t\r\n]*(?:"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
                || '|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null))*[ \t\r\n]*)?\]')
        ) AS spans
    FROM call
    INNER JOIN parse.label AS label ON call.task = label.task AND call.arm = label.arm AND call.template = label.template
    LEFT JOIN offered ON call.item_id = offered.item_id
)
SELECT
    completion_id, label, field, kind, letters, array_length(COALESCE(values, spans)) > 0 AS has_label,
    COALESCE(
        list_filter(
            list_transform(values, lambda said: CASE
                WHEN ends_with(said, '.') THEN trim(substr(said, 1, length(said) - 1), ' ' || chr(9) || chr(11) || chr(12) || chr(13))
                ELSE said
            END),
            lambda said: said <> ''
        ),
        list_slice(spans, array_length(spans), array_length(spans))
    ) AS found,
    FALSE AS changed
FROM asked
