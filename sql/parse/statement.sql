-- grain: one row is one completed call: its tidy text and, where a plain prompt asked for a word, an integer or a letter, what it states.
-- columns: completion_id, task, item_id, arm, template, text (see parse.tidy); statements (in the order of the text, each `how:value`:
--   label for an `Answer: ...` or a bare first or last line; boxed for a `\boxed{...}`; sentence for a sentence that says so; unclear for a label
--   or box whose value is not clear, as written; NULL where the prompt asked otherwise)
-- serves: completions that were not asked for seed 000's labels
-- decided: sentences under a condition (if, whether, suppose) state nothing, nor do clauses about a part of the function (its numerator,
--   a term) or of the network (a path, a cut, a bound), nor alternatives (`even or odd`, `B or C`).
WITH asked AS (
    SELECT
        tidy.completion_id, tidy.task, tidy.item_id, tidy.arm, tidy.template, tidy.text,
        CASE WHEN label.template = 'plain' AND label.kind <> 'genres' THEN label.kind END AS kind
    FROM parse.tidy AS tidy
    INNER JOIN parse.label AS label ON tidy.task = label.task AND tidy.arm = label.arm AND tidy.template = label.template
    WHERE label.field = 'answer'
),
marked AS (
    -- a box (braces balanced, three deep) becomes a line of its own, and so does a bare value on the first or the last line
    SELECT
        completion_id, task, item_id, arm, template, text, kind,
        CASE WHEN kind IS NOT NULL THEN regexp_replace(regexp_replace(
            regexp_replace(
                CASE WHEN contains(text, 'boxed')
                    THEN regexp_replace(text, '\\f?boxed\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}', E'\nboxed: \\1\n', 'g')
                    ELSE text END,
                '[*`$]+|\\[()\[\],;!]', '', 'g'
            ), '(?i)^[\s"'']*((?:even|odd|neither)(?: even nor odd)?|-?[0-9]+|\(?[A-Z]\)?)[ \t"'']*[.!]?[ \t]*(?:\n|$)', E'answer: \\1\n'
        ), '(?i)\n[ \t"'']*((?:even|odd|neither)(?: even nor odd)?|-?[0-9]+|\(?[A-Z]\)?)[ \t"'']*[.!]?\s*$', E'\nanswer: \\1') END AS marked
    FROM asked
),
spoken AS (
    -- the sentences that could state something, without their bullets, numbers and quotes
    SELECT
        completion_id, task, item_id, arm, template, text, kind,
        list_transform(
            list_filter(string_split(regexp_replace(marked, '[.!?;](\s|$)', E'\n', 'g'), chr(10)), lambda line: CASE kind
                WHEN 'word' THEN regexp_matches(line, '(?i)even|odd|n ?e ?i ?t ?h ?e ?r|boxed|answer:')
                WHEN 'integer' THEN regexp_matches(line, '(?i)(?:answer|flow).*[0-9]|boxed|answer:')
                ELSE regexp_matches(line, '(?i)answer|choice|option|boxed') END),
            lambda line: regexp_replace(regexp_replace(regexp_replace(
                line, '(?i)\b(it|that)''s\b', '\1 is'
            ), '^[\s#>_~•+-]+|[\s_~.]+$|["'']+', '', 'g'), '^\(?[0-9]{1,2}[.)]\s+', '')
        ) AS sentences
    FROM marked
),
plain AS (
    -- fill words are dropped; for a word, `neither even nor odd` becomes one word and alternatives become none; for an integer, nodes lose
    -- their numbers; for a letter, which is an answer only in upper case, labels are raised and `option B is correct` is turned round
    SELECT
        completion_id, task, item_id, arm, template, text, kind,
        CASE kind
            WHEN 'word' THEN list_transform(
                list_filter(sentences, lambda said: NOT regexp_matches(said,
                    '(?i)\b(?:if|whether|when|suppose|assum\w+|unless|were|would|could|might|may|seems?|appears?|check|determine|test)\b'
                )),
                lambda said: regexp_replace(regexp_replace(regexp_replace(
                    lower(said),
                    '\b(?:an?|the|this|given|final|correct|best|overall|my|short|also|then|thus|therefore|hence|so|\w+ly) ', '', 'g'
                ),
                    '(?:neither|not) (?:even|odd)(?: function| symmetry| symmetric)?,? (?:n?or|and not) (?:even|odd)(?: function| symmetry)?',
                    'neither', 'g'
                ), '\b(?:even|odd|neither)(?:[ ,/]+(?:(?:or|and|nor)[ ,]+)?(?:even|odd|neither)\b)+', 'unclear', 'g')
            )
            WHEN 'integer' THEN list_transform(sentences, lambda said: regexp_replace(regexp_replace(
                lower(said),
                '\b(?:an?|the|this|given|final|correct|overall|my|also|then|thus|therefore|hence|so|exactly|just|\w+ly) ', '', 'g'
            ), '\b(source|sink|[st])(?: node)? ?[=:] ?(?:node )?[0-9]+', '\1', 'g'))
            ELSE list_transform(sentences, lambda said: CASE
                WHEN regexp_matches(said,
                    '^(?i:(?:the|my|final|correct|best|overall) )*(?i:answer|choice|option)(?i: choice| option)? ?[:=-]')
                    THEN regexp_replace(upper(said), '^[A-Z ]*', 'answer')
                ELSE regexp_replace(
                    said, '\b(?i:option|choice|answer) \(?([A-Z])\)? (?i:is (?:the )?(?:most )?(?:correct|right|best|likely))'
                    || '(?: (?i:answer|option|choice))?', 'answer is \1'
                )
            END)
        END AS sentences
    FROM spoken
),
clause AS (
    SELECT
        completion_id, task, item_id, arm, template, text, kind,
        CASE kind
            WHEN 'word' THEN list_filter(
                string_split(regexp_replace(
                    array_to_string(sentences, chr(10)), ' *(?:,|\b(?:because|since|as|where|while|whereas|but)\b) *', E'\n', 'g'
                ), chr(10)),
                lambda said: starts_with(said, 'boxed:') OR NOT regexp_matches(said,
                    '\b(?:numerator|denominator|term|exponent|power|polynomial|factor|product|quotient|sum|coefficient)s?\b.* (?:is|has) '
                )
            )
            WHEN 'integer' THEN list_filter(sentences, lambda said: regexp_matches(said, '^(?:boxed:|answer)')
                OR NOT (regexp_matches(said, '\b(?:if|unless|suppose|assum\w+|would|could|might|may|current|initial|so far|update)\b')
                    OR regexp_matches(
                        regexp_extract(said, 'flow\b([^:=]*?) ?(?:is|=|:|equals?|equal to|of|was) ?[0-9]', 1),
                        'limit|bound|cut|at most|at least|exceed|capacit|path|edge|bottleneck|less|upper|into|out of|enter|leav|along'
                        || '|through (?:[0-9(]|node|it)'
                    )))
            ELSE sentences
        END AS clauses
    FROM plain
),
stated AS (
    SELECT
        completion_id, task, item_id, arm, template, text,
        list_transform(clauses, lambda said: COALESCE(
            CASE
                WHEN starts_with(said, 'boxed:') THEN 'boxed:'
                WHEN regexp_matches(said, '^(?:answer|choice)(?: choice| value)? ?[:=-]') THEN 'label:'
                ELSE 'sentence:'
            END || nullif(CASE kind
                WHEN 'word' THEN replace(regexp_extract(said,
                    '(?:^(?:boxed|answer|choice|conclusion|verdict|result|classification|parity|symmetry)(?: choice| type)?'
                    || '(?: is)? ?[:=-]*[^a-z]*(?:\(?[a-d][.)] ?)?'
                    || '|\b(?:function|f|f\(x\)|y|it|graph|plot|curve|parity|symmetry)\b[^:]*? (?:is|is classified as|is considered'
                    || '|is said to be|must be|has|exhibits|shows|displays|possesses|represents|depicts):? )'
                    || '(?:(?:that|function|f|f\(x\)|it|be|is|has) *)*(even|odd|n ?e ?i ?t ?h ?e ?r)'
                    || '(?: function| symmetry| symmetric| parity)?(?: ?$| ?[^a-z /]| (?:by|about|on|over|with|for|in|under|due)\b)', 1), ' ', '')
                WHEN 'integer' THEN regexp_extract(said,
                    '(?:^(?:boxed|answer|answer value)(?: is)? ?[:=-]*[^0-9a-z-]*'
                    || '|max(?:imum|imal)?[ -]?(?:[a-z]+[ -]){0,3}flow\b[^:=]*? ?(?:is|=|:|equals?|equal to|of|was))'
                    || ' *(?:[0-9]+(?: ?\+ ?[0-9]+)* ?= ?)?(-?[0-9]+)(?: *units?(?: of flow)?)?'
                    || '(?: ?$| ?[;!)\]]|, ?[a-z]{2,}| (?:which|because|since|as|and|with|by|for|from|in|via|that|so|is) [^0-9 ]'
                    || '| ?\([^=+]*$)', 1)
                WHEN 'letter' THEN regexp_extract(said,
                    '(?:^boxed:|^answer ?[:=-]|(?i:answer|option|choice)(?i: [a-z ]*)? (?i:is:?|should be|must be)) *(?i:option |choice )?'
                    || '\(?([A-Z])\)?(?:$|[).:](?: |$)|,? (?i:because|since|as|which|for|with|is) |,? ?[-(] ?[A-Za-z]{2,})', 1)
            END, ''),
            CASE WHEN regexp_matches(said, '^(?:boxed: *\S|(?:answer|choice)(?: choice| value)? ?[:=-]\W*\w)') THEN 'unclear:' || said END
        )) AS statements
    FROM clause
)
SELECT
    completion_id, task, item_id, arm, template, text,
    list_filter(statements, lambda statement: statement IS NOT NULL) AS statements
FROM stated
