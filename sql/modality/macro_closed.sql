-- grain: as stat.closed, over the resamples of modality.macro_resampled.
-- columns: as stat.interval
-- serves: the intervals of Tables 6 and 10 of seed 000
-- over: stat.resampled is modality.macro_resampled
SELECT * FROM stat.closed
