-- grain: one row is one score of modality.title_floor with its interval.
-- columns: as stat.interval
-- serves: A.1 of seed 000
-- over: stat.sums is modality.title_sums
-- cache: whole
SELECT * FROM stat.interval
