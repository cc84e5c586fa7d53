-- grain: one row is one completed call: its final text in one spelling, for the rules that forgive spelling.
-- columns: completion_id, task, item_id, arm, template, text (full-width forms, curly quotes, wide blanks, long dashes and carriage returns as
--   their ASCII twins; LaTeX's text commands taken off; lines otherwise as they were)
-- serves: parse.lenient
WITH ascii AS (
    -- translate is slow, and most texts are ASCII
    SELECT
        completion_id, task, item_id, arm, template,
        CASE WHEN regexp_matches(final_text, '[^\x00-\x7f]') THEN translate(
            final_text,
            '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝“”„‘’′−–—‑'
            || chr(160) || chr(8199) || chr(8239) || chr(12288),
            '!"#$%&''()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_abcdefghijklmnopqrstuvwxyz{|}"""''''''----    '
        ) ELSE final_text END AS text
    FROM attrition.call
    WHERE ending = 'completed'
)
SELECT
    completion_id, task, item_id, arm, template,
    regexp_replace(
        replace(text, chr(13), ' '), '\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|emph|operatorname)\s*\{([^{}]*)\}', '\1', 'g'
    ) AS text
FROM ascii
