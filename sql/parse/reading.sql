-- grain: one row is one completed call × a label that it should carry × a rule set: what the values that the rule set found mean.
-- columns: as parse.strict
-- serves: seed 000, Appendix D
-- decided: both rule sets read values by one grammar and differ in how they find them; lines of a label that disagree, one that cannot be
--   read included, lose the field.
WITH genre AS (
    SELECT names, list_transform(names, lambda name: '"' || lower(name) || '"') AS quoted
    FROM (SELECT ['Action', 'Adventure', 'Animation', 'Biography', 'Comedy', 'Crime', 'Documentary', 'Drama', 'Family', 'Fantasy', 'Film-Noir',
        'History', 'Horror', 'Music', 'Musical', 'Mystery', 'Romance', 'Sci-Fi', 'Short', 'Sport', 'Thriller', 'War', 'Western'] AS names) AS mmimdb
),
found AS (
    SELECT completion_id, label, field, kind, letters, has_label, found, 'strict' AS rule FROM parse.strict_value
),
shaped AS (
    -- an array of JSON strings, as the list of its names in quotes and lower case; NULL for what is none
    SELECT
        *,
        CASE WHEN kind = 'genres' THEN list_transform(found, lambda value: CASE
            WHEN regexp_full_match(value, '\[[ \t\r\n]*"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"([ \t\r\n]*,[ \t\r\n]*"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")*[ \t\r\n]*\]')
                THEN list_transform(
                    string_split(regexp_replace(
                        lower(CASE WHEN contains(value, '\') AND json_valid(value) THEN json(value) ELSE value END), '^\[|\]$', '', 'g'
                    ), ','),
                    lambda name: trim(name, E' \t\r\n')
                )
        END) END AS arrays
    FROM found
),
understood AS (
    SELECT
        completion_id, label, field, kind, has_label, found, rule, arrays,
        CASE kind
            WHEN 'genres' THEN list_transform(arrays, lambda names: CASE
                WHEN array_length(list_filter(names, lambda name: NOT list_contains(genre.quoted, name))) = 0
                    THEN '["' || array_to_string(list_filter(genre.names, lambda name: list_contains(names, '"' || lower(name) || '"')), '","') || '"]'
            END)
            WHEN 'integer' THEN list_transform(found, lambda value: CASE
                WHEN regexp_full_match(value, '[+-]?[0-9]+')
                    THEN regexp_replace(regexp_replace(value, '^\+?(-?)0*([0-9])', '\1\2'), '^-0$', '0')
            END)
            WHEN 'word' THEN list_transform(found, lambda value: CASE WHEN lower(value) IN ('even', 'odd', 'neither') THEN lower(value) END)
            WHEN 'flag' THEN list_transform(found, lambda value: CASE WHEN lower(value) IN ('sufficient', 'insufficient') THEN upper(value) END)
            WHEN 'letter' THEN list_transform(found, lambda value: CASE WHEN list_contains(letters, upper(value)) THEN upper(value) END)
        END AS meanings
    FROM shaped
    CROSS JOIN genre
),
read AS (
    SELECT *, list_filter(meanings, lambda meaning: meaning IS NOT NULL) AS readable
    FROM understood
),
agreed AS (
    SELECT
        completion_id, label, field, kind, has_label, found, rule, arrays, list_distinct(readable) AS readings,
        array_length(readable) = array_length(found) AS all_read
    FROM read
),
settled AS (
    SELECT
        *,
        CASE WHEN all_read AND array_length(readings) = 1 THEN readings[1] END AS value,
        CASE WHEN all_read THEN array_length(readings) > 1 ELSE array_length(list_distinct(found)) > 1 END AS disagree
    FROM agreed
)
SELECT
    completion_id, label, field, kind,
    CASE WHEN array_length(found) > 0 THEN array_to_string(found, ' | ') END AS raw_value,
    value, value IS NOT NULL AS ok,
    CASE
        WHEN value IS NOT NULL THEN NULL
        WHEN NOT has_label THEN 'missing'
        WHEN array_length(found) = 0 THEN 'empty'
        WHEN disagree THEN 'duplicate_label'
        WHEN kind = 'genres' AND regexp_full_match(found[1], '\[[ \t\r\n]*\]') THEN 'empty'
        WHEN kind = 'genres' AND arrays[1] IS NOT NULL THEN 'out_of_range'
        WHEN kind IN ('word', 'flag', 'letter') AND regexp_full_match(found[1], '[A-Za-z]+') THEN 'out_of_range'
        ELSE 'malformed'
    END AS reason,
    rule
FROM settled
