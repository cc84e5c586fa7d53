-- grain: one row is one completed call × a label that it should carry, read by the chosen rule set.
-- columns: as parse.strict
-- serves: seed 000, Appendix D; parameter parse.rules
-- decided: both rule sets are single streams of rows (no GROUP BY, no CTE read twice), so that the one that is not chosen ends with its
--   first chunk.
-- cache: incremental by completion_id
SELECT completion_id, label, field, kind, raw_value, value, ok, reason, rule
FROM parse.strict
WHERE EXISTS (SELECT 1 FROM stat.parameter AS chosen WHERE chosen.name = 'parse.rules' AND chosen.value = 'strict')
UNION ALL
SELECT completion_id, label, field, kind, raw_value, value, ok, reason, rule
FROM parse.lenient
WHERE EXISTS (SELECT 1 FROM stat.parameter AS chosen WHERE chosen.name = 'parse.rules' AND chosen.value = 'lenient')
