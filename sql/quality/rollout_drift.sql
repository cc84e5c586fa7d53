-- promise: the turns of one condition's rollouts come from one provider, in one precision, from one version of an engine, to one prompt.
-- severity: error
-- grain: one row is one condition of the tool-use audit and one aspect in which the turns that count differ; none where `quality.pool_drift` is true.
-- columns: model_id, thinking, task, arm, template, aspect (provider|precision|engine|prompt), n_values (of an item, where it is the prompt),
-- first_value, last_value (in the order of text), n (turns that tell)
-- serves: 3.3 of seed 001
-- decided: tables, figures and exports refuse to pool what stands here. What a reply does not say is no difference, and of a turn the last exchange counts.
-- over: arm.served is arm.served_turn
SELECT * FROM arm.served_drift
