-- grain: one row is one rate of modality.counterfactual_agreement with its interval.
-- columns: as stat.interval
-- serves: B.4 of seed 000
-- over: stat.sums is modality.counterfactual_sums
-- cache: whole
SELECT * FROM stat.interval
