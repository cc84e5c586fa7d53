-- grain: one row is one place of a finished rollout where an answer may be stated: its end, and its thoughts before the first call.
-- columns: rollout_id, place (final|before_call), value (what was stated: trimmed, without trailing punctuation, in lower case; NULL: nothing),
-- is_choice (the item offers options), letter (the option that the value names; NULL: none), gold (the item's: a letter where it offers options,
-- else a text in the form of value)
-- serves: A.2 of seed 001 (answer extraction); E.3 (the answer that is committed to before looking)
-- decided: the final answer is the last `<answer>` in the final text of the last turn, else the last `\boxed{}` whose braces balance. A value names
-- X where it is `x` or `(x)` or begins with `(x)`, `x.`, `x:` or `x)` and X is offered, else where it equals the text of just one option. In the think
-- block of the turn that makes the first call it is what follows a phrase such as `the answer should be` or `I think it's`, to the end of the clause:
-- the first that names an option.
-- cache: whole
-- scans: item 1
WITH offer AS (
    SELECT
        item_id, json_extract_string(gold, '$') AS gold, json_type(annotation, '$.options') = 'OBJECT' AS is_choice,
        json_extract(annotation, '$.options') AS options, json_keys(annotation, '$.options') AS keys
    FROM raw.item
),
item AS (
    SELECT
        item_id, COALESCE(is_choice, FALSE) AS is_choice, list_transform(keys, lambda name : upper(name)) AS letters,
        list_transform(keys, lambda name : lower(regexp_replace(
            json_extract_string(options, '$."' || name || '"'), '^[\s\p{Z}]+|[\s\p{Z}.,;:!?]+$', '', 'g'
        ))) AS meanings,
        CASE
            WHEN is_choice THEN upper(trim(gold)) ELSE lower(regexp_replace(gold, '^[\s\p{Z}]+|[\s\p{Z}.,;:!?]+$', '', 'g'))
        END AS gold
    FROM offer
),
place AS (
    SELECT rollout_id, item_id, 'final' AS place, last_completion_id AS completion_id FROM tooluse.finished
    UNION ALL
    SELECT rollout_id, item_id, 'before_call' AS place, calling_completion_id
    FROM tooluse.finished
    WHERE calling_completion_id IS NOT NULL
),
said AS (
    -- each piece but the first follows a mark after which an answer stands
    SELECT
        place.rollout_id, place.item_id, place.place,
        CASE WHEN place = 'final' THEN string_split(text.final_text, '<answer>') END AS tagged,
        CASE WHEN place = 'final' AND contains(text.final_text, '\boxed{') THEN string_split(text.final_text, '\boxed{') END AS boxed,
        CASE WHEN place = 'before_call' THEN string_split(regexp_replace(
            regexp_extract(text.text, '(?s)<think>(.*?)</think>', 1),
            '(?i)\banswer (?:is|should be|must be|would be|could be|might be|may be|will be|has to be|seems to be|appears to be)[: ]'
            || '|\bi (?:think|believe|guess)(?: that)? (?:it is|it.s|this is|that is)[: ]',
            chr(1), 'g'
        ), chr(1)) END AS phrased
    FROM place
    INNER JOIN parse.text AS text ON place.completion_id = text.completion_id
),
found AS (
    SELECT
        rollout_id, item_id, place,
        list_transform(
            list_filter(list_slice(tagged, 2, array_length(tagged)), lambda rest : contains(rest, '</answer>')),
            lambda rest : string_split(rest, '</answer>')[1]
        ) AS answers,
        -- before the brace that closes a box stand as many opening as closing ones
        list_filter(list_transform(
            list_transform(list_slice(boxed, 2, array_length(boxed)), lambda rest : string_split(rest, '}')),
            lambda pieces : list_filter(
                list_transform(range(1, array_length(pieces)), lambda n : array_to_string(list_slice(pieces, 1, n), '}')),
                lambda inside : length(replace(inside, '{', '')) = length(replace(inside, '}', ''))
            )[1]
        ), lambda inside : inside IS NOT NULL) AS boxes,
        list_transform(list_slice(phrased, 2, array_length(phrased)), lambda rest : regexp_replace(
            regexp_extract(rest, '(?is)^(.*?)(?:[.,;!?\n<]|\s(?:because|but|since|as|and|so|though|from|based)\b|$)', 1), '(?i)^\s*option\s+', ''
        )) AS phrases
    FROM said
),
candidate AS (
    SELECT
        rollout_id, item_id, place,
        list_transform(
            CASE
                WHEN place = 'before_call' THEN phrases
                WHEN array_length(answers) > 0 THEN list_slice(answers, array_length(answers), array_length(answers))
                ELSE list_slice(boxes, array_length(boxes), array_length(boxes))
            END,
            lambda raw : lower(regexp_replace(raw, '^[\s\p{Z}]+|[\s\p{Z}.,;:!?]+$', '', 'g'))
        ) AS values
    FROM found
),
marked AS (
    SELECT
        candidate.rollout_id, candidate.place, candidate.values, item.is_choice, item.gold, item.letters,
        list_transform(candidate.values, lambda value : upper(COALESCE(
            nullif(regexp_extract(value, '^\(([a-z])\)', 1), ''), nullif(regexp_extract(value, '^([a-z])(?:$|[.:)])', 1), '')
        ))) AS marks,
        list_transform(candidate.values, lambda value : CASE
            WHEN array_length(list_filter(item.meanings, lambda meaning : meaning = value)) = 1
                THEN item.letters[list_position(item.meanings, value)]
        END) AS meant
    FROM candidate
    LEFT JOIN item ON candidate.item_id = item.item_id
),
named AS (
    SELECT
        rollout_id, place, values, is_choice, gold,
        list_transform(range(1, array_length(values) + 1), lambda n : CASE
            WHEN list_contains(letters, marks[n]) THEN marks[n] ELSE meant[n]
        END) AS letters
    FROM marked
),
first_named AS (
    SELECT
        rollout_id, place, values, is_choice, gold, letters,
        COALESCE(list_position(list_transform(letters, lambda letter : letter IS NOT NULL), TRUE), 1) AS position
    FROM named
)
SELECT rollout_id, place, nullif(values[position], '') AS value, is_choice, letters[position] AS letter, gold
FROM first_named
