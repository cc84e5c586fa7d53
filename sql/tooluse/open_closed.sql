-- grain: as stat.closed, over the resamples of tooluse.open_resampled.
-- columns: as stat.interval
-- serves: the intervals of Table 14 of seed 001
-- over: stat.resampled is tooluse.open_resampled
SELECT * FROM stat.closed
