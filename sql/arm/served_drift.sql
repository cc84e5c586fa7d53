-- grain: one row is one condition and one aspect in which its answers differ; none where `quality.pool_drift` is true.
-- columns: model_id, thinking, task, arm, template, aspect (provider|precision|engine|prompt), n_values (of an item, where it is the prompt),
-- first_value, last_value (in the order of text), n (answers that tell)
-- serves: read over the answers of either audit (see arm.served)
-- decided: what a reply does not say is no difference.
WITH told AS (
    SELECT
        served.model_id, served.thinking, served.task, served.arm, served.template, aspects.aspect,
        CASE WHEN aspects.aspect = 'prompt' THEN served.item_id END AS item_id,
        CASE aspects.aspect
            WHEN 'provider' THEN served.provider
            WHEN 'precision' THEN served."precision"
            WHEN 'engine' THEN served.engine
            WHEN 'prompt' THEN served.prompt_sha256
        END AS value
    FROM arm.served AS served
    INNER JOIN stat.parameter AS parameter ON parameter.name = 'quality.pool_drift' AND parameter.value = 'false'
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
