-- grain: one row is one flip rate of modality.noise_floor with its interval.
-- columns: as stat.interval
-- serves: E.2 of seed 000
-- over: stat.sums is modality.noise_sums
-- cache: whole
SELECT * FROM stat.interval
