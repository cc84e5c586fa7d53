-- grain: one row is one completed call: its final text in one spelling, for the rules that forgive spelling.
-- columns: completion_id, task, item_id, arm, template, text (full-width forms, curly quotes, wide blanks, long dashes and carriage returns
--   as their ASCII twins; LaTeX's text commands taken off; lines otherwise as they were)
-- serves: parse.lenient
WITH ascii AS (
    -- translate is slow, and most texts are ASCII: as many bytes as characters
    SELECT
        completion_id, task, item_id, arm, template,
        CASE WHEN bit_length(final_text) = 8 * length(final_text) THEN final_text ELSE translate(
            final_text,
            '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿'
            || 'ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝“”„‘’′−–—‑' || chr(160) || chr(8199) || chr(8239) || chr(12288),
            '!"#$%&''()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_abcdefghijklmnopqrstuvwxyz{|}"""''''''----    '
        ) END AS text
    FROM attrition.call
    -- a predicate that parse.strict_value has not: else DuckDB would hold all texts in memory, to share them between both rule sets
    WHERE ending = 'completed' AND template IN ('plain', 'assess')
),
blank AS (
    SELECT
        completion_id, task, item_id, arm, template,
        CASE WHEN contains(text, chr(13)) THEN replace(text, chr(13), ' ') ELSE text END AS text
    FROM ascii
)
SELECT
    completion_id, task, item_id, arm, template,
    CASE WHEN contains(text, '\')
        THEN regexp_replace(text, '\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|emph|operatorname)\s*\{([^{}]*)\}', '\1', 'g')
        ELSE text END AS text
FROM blank
