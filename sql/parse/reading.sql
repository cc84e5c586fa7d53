-- grain: one row is one completed call × a label that it should carry: what the values that a rule set found mean.
-- columns: as parse.strict, but rule
-- serves: seed 000, Appendix D; read over a rule set's values (see parse.value)
-- decided: both rule sets read values by one grammar and differ in how they find them; values of a label that disagree, one that cannot be
--   read included, lose the field.
WITH genre AS (
    SELECT names, list_transform(names, lambda name: lower(name)) AS lowered
    FROM (SELECT [
        'Action', 'Adventure', 'Animation', 'Biography', 'Comedy', 'Crime', 'Documentary', 'Drama', 'Family', 'Fantasy', 'Film-Noir', 'History',
        'Horror', 'Music', 'Musical', 'Mystery', 'Romance', 'Sci-Fi', 'Short', 'Sport', 'Thriller', 'War', 'Western'
    ] AS names) AS mmimdb
),
listed AS (
    -- an array of JSON strings as the list of its names in the 23's spelling, NULL for one that is no genre; NULL for what is no such array
    SELECT
        value.*, genre.names,
        CASE WHEN kind = 'genres' THEN list_transform(found, lambda said: CASE
            WHEN regexp_full_match(said, '\[[ \t\r\n]*"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
                || '(?:[ \t\r\n]*,[ \t\r\n]*"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")*[ \t\r\n]*\]')
                -- DuckDB holds a lone surrogate for malformed; it is in no genre's name either
                THEN list_transform(
                    json_extract_string(CASE WHEN contains(said, '\') AND NOT json_valid(said) THEN '["?"]' ELSE said END, '$[*]'),
                    lambda name: genre.names[list_position(genre.lowered, lower(name))]
                )
        END) END AS lists
    FROM parse.value AS value
    CROSS JOIN genre
),
understood AS (
    SELECT
        completion_id, label, field, kind, has_label, changed, found, lists,
        CASE kind
            WHEN 'genres' THEN list_transform(lists, lambda genres: CASE
                WHEN array_length(list_filter(genres, lambda name: name IS NULL)) = 0
                    THEN '["' || array_to_string(list_filter(names, lambda name: list_contains(genres, name)), '","') || '"]'
            END)
            WHEN 'integer' THEN list_transform(found, lambda said: CASE
                WHEN regexp_full_match(said, '[+-]?[0-9]+')
                    THEN regexp_replace(regexp_replace(said, '^\+?(-?)0*([0-9])', '\1\2'), '^-0$', '0')
            END)
            WHEN 'word' THEN list_transform(found, lambda said: CASE WHEN lower(said) IN ('even', 'odd', 'neither') THEN lower(said) END)
            WHEN 'flag' THEN list_transform(found, lambda said: CASE
                WHEN lower(said) IN ('sufficient', 'insufficient') THEN upper(said)
            END)
            WHEN 'letter' THEN list_transform(found, lambda said: CASE WHEN list_contains(letters, upper(said)) THEN upper(said) END)
        END AS meanings
    FROM listed
),
compared AS (
    SELECT
        completion_id, label, field, kind, has_label, changed, found, lists[1] AS first_list, meanings[1] AS meaning,
        CASE WHEN array_length(found) > 1 THEN array_length(list_distinct(meanings)) > 1 OR (
            array_length(list_filter(meanings, lambda each: each IS NULL)) > 0 AND array_length(list_distinct(found)) > 1
        ) ELSE FALSE END AS disagree
    FROM understood
)
SELECT
    completion_id, label, field, kind,
    CASE WHEN array_length(found) > 0 THEN array_to_string(found, ' | ') END AS raw_value,
    CASE WHEN NOT disagree THEN meaning END AS value,
    NOT disagree AND meaning IS NOT NULL AS ok,
    CASE
        WHEN NOT has_label THEN 'missing'
        WHEN array_length(found) = 0 THEN 'empty'
        WHEN disagree THEN 'duplicate_label'
        WHEN meaning IS NOT NULL THEN CASE WHEN changed THEN 'changed' END
        WHEN kind = 'genres' AND regexp_full_match(found[1], '\[[ \t\r\n]*\]') THEN 'empty'
        WHEN kind = 'genres' AND first_list IS NOT NULL THEN 'out_of_range'
        WHEN kind IN ('word', 'flag', 'letter') AND regexp_full_match(found[1], '[A-Za-z]+') THEN 'out_of_range'
        ELSE 'malformed'
    END AS reason
FROM compared
