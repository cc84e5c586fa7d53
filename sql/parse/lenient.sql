-- grain: one row is one completed call × a label that it should carry, read by the forgiving rules.
-- columns: as parse.strict; reason may be `changed` beside a value: of several boxes that differ the last was taken
-- serves: a reading beside the paper's, and completions of prompts that did not ask for its labels
-- over: parse.value is parse.lenient_value
SELECT completion_id, label, field, kind, raw_value, value, ok, reason, 'lenient' AS rule
FROM parse.reading
