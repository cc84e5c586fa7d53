-- grain: one row is one quantity of one model × thinking × task × arm × template over its replicates (seeds).
-- columns: model_id, thinking, task, arm, template, quantity (see tooluse.replicate), n_replicates (that have a value), mean, sd (sample standard deviation; NULL of
-- one), lowest, highest
-- serves: B.5 and C.1 of seed 001 (mean ± sample standard deviation across seeds)
-- Values are taken as decimals, so that their sums do not depend on the order of the rows.
WITH average AS (
    SELECT
        model_id, thinking, task, arm, template, quantity, count(value) AS n_replicates, sum(value::DECIMAL(38, 18))::DOUBLE / count(value) AS mean,
        min(value) AS lowest, max(value) AS highest
    FROM tooluse.replicate
    WHERE value IS NOT NULL
    GROUP BY model_id, thinking, task, arm, template, quantity
),
deviation AS (
    SELECT
        replicate.model_id, replicate.thinking, replicate.task, replicate.arm, replicate.template, replicate.quantity,
        sum(power(replicate.value - average.mean, 2)::DECIMAL(38, 30))::DOUBLE AS squares
    FROM tooluse.replicate AS replicate
    INNER JOIN average USING (model_id, thinking, task, arm, template, quantity)
    WHERE replicate.value IS NOT NULL
    GROUP BY replicate.model_id, replicate.thinking, replicate.task, replicate.arm, replicate.template, replicate.quantity
)
SELECT
    model_id, thinking, task, arm, template, quantity, n_replicates, mean, sqrt(squares / nullif(n_replicates - 1, 0)) AS sd, lowest, highest
FROM average
INNER JOIN deviation USING (model_id, thinking, task, arm, template, quantity)
