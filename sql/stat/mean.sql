-- grain: one row is the mean over the statistics of one cell, in one resample.
-- columns: cell, resample, value (over the statistics that have a value there; NULL where none has)
-- serves: macro-F1, which is a mean of ratios; read over a family of sums (see stat.sums)
-- Values are added up as decimals, so that a mean does not depend on their order.
-- over: stat.series is series
WITH series AS MATERIALIZED (
    SELECT * FROM stat.statistic
),
member AS (
    SELECT cell, dense_rank() OVER (ORDER BY cell) AS cell_rank, bundle, place FROM series
),
value AS (
    SELECT
        member.cell_rank, resampled.resample,
        CASE member.place
            WHEN 1 THEN resampled.value_1 WHEN 2 THEN resampled.value_2 WHEN 3 THEN resampled.value_3 ELSE resampled.value_4
        END AS value
    FROM stat.resampled AS resampled
    INNER JOIN member ON resampled.bundle = member.bundle
),
mean AS (
    SELECT cell_rank, resample, sum(value::DECIMAL(18, 15))::DOUBLE AS total, count(value) AS n
    FROM value
    GROUP BY cell_rank, resample
)
SELECT cell.cell, mean.resample, mean.total / nullif(mean.n, 0) AS value
FROM mean
INNER JOIN (SELECT DISTINCT cell, cell_rank FROM member) AS cell ON mean.cell_rank = cell.cell_rank
