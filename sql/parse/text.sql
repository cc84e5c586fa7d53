-- grain: one row is one completion: what its body says, with the reasoning put back inline. The only view that reads `response`.
-- columns: of the call, as stored: completion_id, request_key, task, item_id, arm, template, provider, precision, completion_tokens,
--   max_tokens, http_status, error; body (no body, no UTF-8, no JSON object, no message, message: how far the body can be read);
--   body_error, choice_error (the error objects as text; NULL: none);
--   finish_reason, native_finish_reason (the upstream host's own word), stop_reason: as sent, NULL where absent;
--   reasoning_source (the body's field that held the reasoning), reasoning, text (reasoning inline, then content),
--   think_open (the last `<think>` stands after the last `</think>`), final_text (after the last `</think>`; NULL while one is open)
-- serves: seed 000, Appendix E.1: both serving paths are read in one form
-- decided: of `reasoning` and `reasoning_content` the first that is not empty; text parts are joined without a separator, as they are
--   streamed; a body that is no JSON only for a lone surrogate escape is read with U+FFFD in its place; the first choice is read.
-- scans: completion 1
WITH readable AS (
    SELECT
        completion_id, request_key, task, item_id, arm, template, provider, "precision", completion_tokens, max_tokens, http_status, error,
        CASE WHEN response_bytes IS NOT NULL THEN 'no UTF-8' WHEN response IS NULL THEN 'no body' END AS unreadable,
        CASE
            WHEN starts_with(response, '{') AND NOT contains(response, '\u') THEN response
            WHEN NOT regexp_matches(response, '^[ \t\r\n]*\{') THEN NULL
            WHEN regexp_matches(response, '\\u[dD][89a-fA-F]') AND NOT json_valid(response)
                THEN regexp_replace(response, '\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\\ufffd', 'g')
            ELSE response
        END AS response
    FROM raw.completion
),
walked AS (
    -- one walk over each body, and TRY around it: asking json_valid first would parse every body twice
    SELECT
        *,
        TRY(json_extract_string(response, [
            '$.choices[0].message.content', '$.choices[0].message.content[0]', '$.choices[0].message.reasoning',
            '$.choices[0].message.reasoning_content', '$.choices[0].finish_reason', '$.choices[0].native_finish_reason',
            '$.choices[0].stop_reason', '$.choices[0].error', '$.error'
        ])) AS value
    FROM readable
),
message AS (
    -- content is a string, or (where it has a first element) a list of typed parts
    SELECT
        completion_id, request_key, task, item_id, arm, template, provider, "precision", completion_tokens, max_tokens, http_status, error,
        CASE
            WHEN unreadable IS NOT NULL THEN unreadable
            WHEN value IS NULL THEN 'no JSON object'
            WHEN COALESCE(value[1], value[3], value[4]) IS NOT NULL THEN 'message'
            WHEN json_extract_string(response, '$.choices[0].message') IS NOT NULL THEN 'message'
            ELSE 'no message'
        END AS body,
        value[9] AS body_error, value[8] AS choice_error,
        value[5] AS finish_reason, value[6] AS native_finish_reason, value[7] AS stop_reason,
        value[1] AS content, nullif(value[3], '') AS reasoning, nullif(value[4], '') AS reasoning_content,
        CASE WHEN value[2] IS NOT NULL THEN json_extract(value[1], '$[*]') END AS parts
    FROM walked
),
typed AS (
    SELECT
        *,
        list_filter(parts, lambda part: COALESCE(regexp_matches(json_extract_string(part, '$.type'), 'think|reason'), FALSE)) AS thoughts,
        list_filter(parts, lambda part: NOT COALESCE(regexp_matches(json_extract_string(part, '$.type'), 'think|reason'), FALSE)) AS texts
    FROM message
),
spoken AS (
    SELECT
        * EXCLUDE (content, parts, thoughts, texts, reasoning, reasoning_content),
        CASE
            WHEN body <> 'message' THEN NULL
            WHEN parts IS NULL THEN COALESCE(content, '')
            ELSE array_to_string(list_transform(texts, lambda part: COALESCE(
                json_extract_string(part, '$.text'), CASE WHEN json_type(part) = 'VARCHAR' THEN json_extract_string(part, '$') END, ''
            )), '')
        END AS content,
        CASE
            WHEN reasoning IS NOT NULL THEN 'reasoning'
            WHEN reasoning_content IS NOT NULL THEN 'reasoning_content'
            WHEN array_length(thoughts) > 0 THEN 'content'
        END AS reasoning_source,
        COALESCE(reasoning, reasoning_content, array_to_string(list_transform(thoughts, lambda part: COALESCE(
            CASE WHEN json_type(part, '$.thinking') = 'ARRAY' THEN array_to_string(json_extract_string(part, '$.thinking[*].text'), '') END,
            json_extract_string(part, '$.thinking'), json_extract_string(part, '$.reasoning'), json_extract_string(part, '$.text'), ''
        )), '')) AS reasoning
    FROM typed
),
inline AS (
    SELECT
        * EXCLUDE (content),
        CASE WHEN reasoning_source IS NULL THEN content ELSE '<think>' || reasoning || '</think>' || content END AS text
    FROM spoken
),
blocks AS (
    SELECT *, CASE WHEN contains(text, '</think>') THEN string_split(text, '</think>') ELSE [text] END AS blocks
    FROM inline
),
closed AS (
    SELECT * EXCLUDE (blocks), blocks[array_length(blocks)] AS after_think
    FROM blocks
)
SELECT
    * EXCLUDE (after_think),
    contains(after_think, '<think>') AS think_open,
    CASE WHEN NOT contains(after_think, '<think>') THEN after_think END AS final_text
FROM closed
