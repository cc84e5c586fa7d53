-- promise: the contributions of the groups of rollouts add up to the policy-level effect, and their shares to 1, at every threshold.
-- severity: error
-- grain: one row is one model × thinking × task and pair of thresholds at which they do not, to 1e-12.
-- columns: model_id, thinking, task, tau_sat, epsilon, contributions (their sum), ate, shares (their sum)
-- serves: the equation of 4.3 of seed 001
SELECT model_id, thinking, task, tau_sat, epsilon, sum(contribution) AS contributions, max(ate) AS ate, sum(share) AS shares
FROM tooluse.decomposed
GROUP BY model_id, thinking, task, tau_sat, epsilon
HAVING abs(sum(contribution) - max(ate)) > 1e-12 OR abs(sum(share) - 1) > 1e-12
