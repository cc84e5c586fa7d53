-- grain: one row is one completed call × a label that it should carry: the values that the forgiving rules find for it.
-- columns: as parse.value
-- serves: a reading beside the paper's, and completions of prompts that did not ask for its labels
-- decided: a label may be spelled with emphasis, blanks and in any case, a value be wrapped in emphasis, `$...$`, a box or brackets, a list
--   stand in single quotes or none; a sufficiency word may stand alone on its line; where no report was asked for, the last clear statement
--   counts, and an answer label that contradicts it loses the field.
-- scans: item 1
WITH offered AS (
    SELECT item_id, list_transform(json_keys(annotation, '$.options'), lambda letter: upper(letter)) AS letters
    FROM raw.item
    WHERE json_type(annotation, '$.options') = 'OBJECT'
),
call AS (
    -- of an assess prompt, each line that opens with some label, as `PLOTALONE: value` whatever its spelling was (a sufficiency word alone
    -- gets its label); of a plain prompt for genres, each `[...]` that lists names
    SELECT
        completion_id, item_id, task, arm, template, statements,
        CASE WHEN template = 'assess' THEN list_transform(
            list_filter(string_split(text, chr(10)), lambda said: contains(said, ':') OR regexp_matches(said, '(?i)^.{0,20}sufficient')),
            lambda said: CASE
                WHEN regexp_full_match(said, '(?i)[\s*_`~$"''(\[>-]*(?:in)?sufficient[\s*_`~$"'')\].]*') THEN 'SUFFICIENCY:' || said
                ELSE upper(regexp_replace(string_split(said, ':')[1], '[^A-Za-z]', '', 'g')) || substr(said, strpos(said, ':'))
            END
        ) END AS lines,
        CASE WHEN template <> 'assess' AND statements IS NULL THEN list_filter(
            list_transform(
                list_filter(list_slice(string_split(text, '['), 2, length(text)), lambda rest: contains(rest, ']')),
                lambda rest: '[' || string_split(rest, ']')[1] || ']'
            ),
            lambda said: regexp_full_match(said, '(?s)\[\s*\]|\[\s*(?:"[^"\\]*"|''[^''"\\]*''|[A-Za-z][A-Za-z -]*)'
                || '(?:\s*,\s*(?:"[^"\\]*"|''[^''"\\]*''|[A-Za-z][A-Za-z -]*))*\s*,?\s*\]')
        ) END AS spans,
        list_transform(
            list_filter(statements, lambda said: starts_with(said, 'label:')), lambda said: substr(said, strpos(said, ':') + 1)
        ) AS stated_labels,
        statements[array_length(statements)] AS last_said
    FROM parse.statement
),
asked AS (
    SELECT
        call.completion_id, label.label, label.field, label.kind, COALESCE(offered.letters, ['A', 'B', 'C', 'D']) AS letters,
        call.statements, call.spans, call.last_said, call.stated_labels,
        list_transform(
            list_filter(call.lines, lambda said: starts_with(said, replace(label.label, '_', '') || ':')
                OR (label.field = 'answer' AND starts_with(said, 'FINALANSWER:'))),
            lambda said: substr(said, strpos(said, ':') + 1)
        ) AS lines
    FROM call
    INNER JOIN parse.label AS label ON call.task = label.task AND call.arm = label.arm AND call.template = label.template
    LEFT JOIN offered ON call.item_id = offered.item_id
),
bare AS (
    -- the value of a line without its wrapping: the last box, or what stands between emphasis, dollars, quotes and brackets
    SELECT
        completion_id, label, field, kind, letters,
        array_length(COALESCE(lines, spans, statements)) > 0 AS has_label,
        list_filter(list_transform(lines, lambda said: CASE
            WHEN kind = 'genres' THEN regexp_replace(said, '^[\s*_`~$]+|[\s*_`~$.]+$', '', 'g')
            ELSE regexp_replace(
                CASE WHEN contains(said, 'boxed')
                    THEN regexp_extract(said, '^.*\\f?boxed\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}', 1) ELSE said END,
                '^(?:[\s*_`~$"''(\[{<]|\\[()\[\],])+|(?:[\s*_`~$"'')\]}>.,;!]|\\[()\[\],])+$', '', 'g'
            )
        END), lambda said: said <> '') AS values,
        list_slice(spans, array_length(spans), array_length(spans)) AS last_span,
        CASE WHEN last_said IS NULL THEN stated_labels
            ELSE list_distinct(list_append(stated_labels, substr(last_said, strpos(last_said, ':') + 1))) END AS stated,
        array_length(list_distinct(list_transform(
            list_filter(string_split(array_to_string(lines, ' '), 'boxed'), lambda said: regexp_matches(said, '^\s*\{')),
            lambda said: regexp_extract(said, '^\s*\{([^{}]*)', 1)
        ))) > 1 OR (starts_with(last_said, 'boxed:')
            AND array_length(list_distinct(list_filter(statements, lambda said: starts_with(said, 'boxed:')))) > 1) AS changed
    FROM asked
),
named AS (
    SELECT
        completion_id, label, field, kind, letters, has_label, COALESCE(changed, FALSE) AS changed,
        list_transform(COALESCE(values, last_span, stated), lambda said: CASE kind
            WHEN 'integer' THEN regexp_replace(said, ' ?units?(?: of flow)?$', '')
            WHEN 'word' THEN regexp_replace(regexp_replace(said, '(?i)^(?:an? )?(even|odd|neither)(?: function| symmetry)$', '\1'),
                '(?i)^neither (?:even n?or odd|odd n?or even)(?: symmetry)?$', 'neither')
            WHEN 'letter' THEN regexp_replace(
                said, '^(?:(?i:option|choice) )?\(?([A-Za-z])(?:\)|[.:]|\)[.:])\s+(?:[a-zA-Z]{3,}|[0-9]).*$', '\1'
            )
            WHEN 'flag' THEN regexp_replace(said, '(?i)^((?:in)?sufficient)(?: - |[,(]| because | since )[^u]*$', '\1')
            WHEN 'genres' THEN CASE
                WHEN contains(said, '"') OR NOT regexp_full_match(said, '(?s)\[.*\w.*\]') THEN regexp_replace(said, ',\s*\]$', ']')
                ELSE '["' || array_to_string(list_transform(
                    string_split(regexp_replace(said, '^\[|,?\s*\]$', '', 'g'), ','), lambda name: trim(name, E' \t\r\n''')
                ), '","') || '"]'
            END
        END) AS found
    FROM bare
)
SELECT completion_id, label, field, kind, letters, has_label, changed, found
FROM named
