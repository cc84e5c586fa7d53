-- grain: one row is one completed call × a label that it should carry, read by the paper's literal rules.
-- columns: completion_id, label, field, kind (see parse.label), raw_value (as written; values that disagree are joined by ` | `),
--   value (canonical text: sorted JSON array of genres, plain decimal, lower-case word, upper-case letter or flag; NULL unless ok),
--   ok, reason (missing, empty, duplicate_label, out_of_range, malformed; NULL where ok), rule
-- serves: seed 000, Appendix D
-- over: parse.value is parse.strict_value
SELECT completion_id, label, field, kind, raw_value, value, ok, reason, 'strict' AS rule
FROM parse.reading
