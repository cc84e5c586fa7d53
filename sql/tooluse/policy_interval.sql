-- grain: one row is one estimate of tooluse.policy_effect with its interval.
-- columns: as stat.interval
-- serves: the intervals of Table 1 of seed 001
-- over: stat.sums is tooluse.policy_sums
-- The estimate is added up as decimals, so that it does not depend on the order of the rows.
-- cache: whole
WITH exact AS (
    SELECT task, cell, statistic, sum(numerator::DECIMAL(38, 18))::DOUBLE / nullif(sum(denominator), 0) AS estimate
    FROM tooluse.policy_sums
    GROUP BY task, cell, statistic
)
SELECT exact.*, interval.* EXCLUDE (task, cell, statistic, estimate)
FROM exact
LEFT JOIN stat.interval AS interval ON exact.task = interval.task AND exact.cell = interval.cell AND exact.statistic = interval.statistic
