-- grain: one row is one bundle of statistics, or one median over a pool, with the ends of its percentile intervals.
-- columns: as stat.percentile
-- serves: read over a family of sums (see stat.sums)
-- over: stat.value is stat.drawn
SELECT * FROM stat.percentile
