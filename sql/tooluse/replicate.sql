-- grain: one row is one quantity of one replicate (seed) of one model × thinking × task × arm × template.
-- columns: model_id, thinking, task, arm, template, replicate, quantity (accuracy; under the unhindered tool also veg, veg_correct, veg_incorrect), n (rollouts whose
-- correctness is known; calls whose VEG was read), value
-- serves: B.5 and C.1 of seed 001
-- Sums of fractions are taken as decimals, so that they do not depend on the order of the rows.
WITH veg AS (
    SELECT
        model_id, thinking, task, arm, template, replicate, sum(veg::DECIMAL(38, 18)) AS veg, count(veg) AS n,
        sum(veg::DECIMAL(38, 18)) FILTER (WHERE correct) AS veg_correct, count(veg) FILTER (WHERE correct) AS n_correct,
        sum(veg::DECIMAL(38, 18)) FILTER (WHERE NOT correct) AS veg_incorrect, count(veg) FILTER (WHERE NOT correct) AS n_incorrect
    FROM tooluse.call
    WHERE arm = 'tool' AND template = 'free' AND n_checkpoints > 0
    GROUP BY model_id, thinking, task, arm, template, replicate
)
SELECT
    model_id, thinking, task, arm, template, replicate, 'accuracy' AS quantity, count(correct) AS n,
    count(*) FILTER (WHERE correct)::DOUBLE / nullif(count(correct), 0) AS value
FROM tooluse.rollout
GROUP BY model_id, thinking, task, arm, template, replicate
UNION ALL
SELECT model_id, thinking, task, arm, template, replicate, 'veg', n, veg::DOUBLE / nullif(n, 0) FROM veg
UNION ALL
SELECT model_id, thinking, task, arm, template, replicate, 'veg_correct', n_correct, veg_correct::DOUBLE / nullif(n_correct, 0) FROM veg
UNION ALL
SELECT model_id, thinking, task, arm, template, replicate, 'veg_incorrect', n_incorrect, veg_incorrect::DOUBLE / nullif(n_incorrect, 0) FROM veg
