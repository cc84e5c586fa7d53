-- grain: one row is one rate of modality.grounding or modality.grounding_prospective with its interval.
-- columns: as stat.interval
-- serves: the intervals of Fig. 4, of Table 11 and of B.3 of seed 000
-- over: stat.sums is modality.grounding_sums
-- cache: whole
SELECT * FROM stat.interval
