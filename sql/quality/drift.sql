-- promise: the answers of one condition come from one provider, in one precision, from one version of an engine, to one prompt.
-- severity: error
-- grain: one row is one condition of the modality audit and one aspect in which the answers that count differ; none where `quality.pool_drift` is true.
-- columns: model_id, thinking, task, arm, template, aspect (provider|precision|engine|prompt), n_values (of an item, where it is the prompt),
-- first_value, last_value (in the order of text), n (answers that tell)
-- serves: E.1 of seed 000
-- decided: tables, figures and exports refuse to pool what stands here. What a reply does not say is no difference.
-- over: arm.served is arm.served_answer
SELECT * FROM arm.served_drift
