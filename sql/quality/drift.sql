-- promise: the answers of one condition come from one provider, in one precision, from one version of an engine, to one prompt.
-- severity: error
-- grain: one row is one condition of the modality audit and one aspect in which the answers that count differ; none where `quality.pool_drift` is true.
-- columns: model_id, thinking, task, arm, template, aspect (provider|precision|engine|prompt), n_values (of an item, where it is the prompt),
-- first_value, last_value (in the order of text), n (answers that tell)
-- serves: E.1 of seed 000
-- decided: tables, figures and exports refuse to pool what stands here. What a reply does not say is no difference.
-- scans: completion 1
WITH counted AS (
    SELECT
        completion.model_id, completion.thinking, completion.task, completion.arm, completion.template, completion.item_id,
        completion.provider, completion."precision", completion.engine || ' ' || completion.engine_version AS engine, completion.prompt_sha256
    FROM raw.completion AS completion
    INNER JOIN attrition.outcome AS outcome ON completion.completion_id = outcome.completion_id
    INNER JOIN arm.request AS request ON completion.request_key = request.request_key
    INNER JOIN stat.parameter AS parameter ON parameter.name = 'quality.pool_drift' AND parameter.value = 'false'
    WHERE outcome.is_latest AND outcome.outcome <> 'provider_error'
),
told AS (
    SELECT
        counted.model_id, counted.thinking, counted.task, counted.arm, counted.template, aspects.aspect,
        CASE WHEN aspects.aspect = 'prompt' THEN counted.item_id END AS item_id,
        CASE aspects.aspect
            WHEN 'provider' THEN counted.provider
            WHEN 'precision' THEN counted."precision"
            WHEN 'engine' THEN counted.engine
            WHEN 'prompt' THEN counted.prompt_sha256
        END AS value
    FROM counted
    CROSS JOIN (VALUES ('provider'), ('precision'), ('engine'), ('prompt')) AS aspects (aspect)
),
differing AS (
    SELECT
        model_id, thinking, task, arm, template, aspect, count(DISTINCT value) AS n_values, min(value) AS first_value, max(value) AS last_value,
        count(value) AS n
    FROM told
    GROUP BY model_id, thinking, task, arm, template, aspect, item_id
    HAVING count(DISTINCT value) > 1
)
SELECT
    model_id, thinking, task, arm, template, aspect, max(n_values) AS n_values, min(first_value) AS first_value, max(last_value) AS last_value,
    sum(n)::BIGINT AS n
FROM differing
GROUP BY model_id, thinking, task, arm, template, aspect
