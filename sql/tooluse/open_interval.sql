-- grain: one row is one median of tooluse.veg_open with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 14 of seed 001
-- over: stat.series is tooluse.open_series
-- cache: whole
SELECT * FROM tooluse.open_closed
