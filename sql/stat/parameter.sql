-- grain: one row is one parameter of the analysis, at its default; `--set NAME=VALUE` replaces the value for one call.
-- columns: name (dotted), value (text, cast where it is read; NULL: decided by the view that reads it), unit, note
SELECT name, value, unit, note
FROM (VALUES
    ('study', NULL, 'name', 'the study to read; NULL: of the modality and of the tool-use studies each the one whose grid was appended last'),
    ('parse.rules', 'strict', 'strict|lenient', 'the rule set that reads labels out of completions'),
    ('arm.field_policy', 'relevant', 'relevant|usable', 'relevant: rows whose fields that a measure needs were read; usable: only rows that lost no field'),
    ('arm.replicate', '0', 'integer', 'the replicate that headline views read'),
    ('quality.pool_drift', 'false', 'false|true', 'true: answers of one condition by several providers, precisions, engines or prompts may be pooled'),
    ('stat.resamples', '10000', 'resamples', 'bootstrap resamples of an interval'),
    ('stat.confidence', '0.95', 'fraction', 'coverage of an interval'),
    ('stat.seed', '0', 'integer', 'seed of the bootstrap weights'),
    ('stat.min_clusters', '20', 'clusters', 'fewer are flagged as too few for an interval to be trusted'),
    ('tooluse.tau_sat', '0.95', 'fraction', 'a checkpoint whose gap exceeds it is saturated: little is left for a call to add'),
    ('tooluse.epsilon', '0.01', 'fraction', 'a Visual Evidence Gain below it is near zero'),
    ('tooluse.calls', 'first', 'first|all', 'of several calls in a turn: first: positions, V_max, V_min and POER take the first; all: every one'),
    ('tooluse.hit_max_first', 'false', 'false|true', 'true: a rollout that reached the call limit is lwp before cwl is asked')
) AS parameter (name, value, unit, note)
