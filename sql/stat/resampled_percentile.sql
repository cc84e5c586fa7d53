-- grain: one row is one statistic of one cell with the ends of its percentile interval.
-- columns: as stat.percentile
-- serves: read over a family of sums (see stat.sums)
-- over: stat.value is stat.resampled
SELECT * FROM stat.percentile
