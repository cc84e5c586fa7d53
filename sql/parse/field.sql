-- grain: one row is one completed call × a label that it should carry, read by the chosen rule set.
-- columns: as parse.strict
-- serves: seed 000, Appendix D; parameter parse.rules
-- cache: incremental by completion_id
SELECT completion_id, label, field, kind, raw_value, value, ok, reason, rule
FROM parse.strict
