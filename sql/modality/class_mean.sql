-- grain: one row is one macro-F1 of modality.macro_series in one resample.
-- columns: as stat.mean; cell (cell|statistic of macro_series)
-- serves: the intervals of Tables 6 and 10 of seed 000
-- decided: in each resample over the classes that occur in it as gold or answer.
-- over: stat.sums is modality.class_sums
SELECT * FROM stat.mean
