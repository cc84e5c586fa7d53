-- promise: the turns of one condition's rollouts come from one provider, in one precision, from one version of an engine, to one prompt.
-- severity: error
-- grain: one row is one condition of the tool-use audit and one aspect in which the turns that count differ; none where `quality.pool_drift` is true.
-- columns: model_id, thinking, task, arm, template, aspect (provider|precision|engine|prompt), n_values (of an item, where it is the prompt),
-- first_value, last_value (in the order of text), n (turns that tell)
-- serves: 3.3 of seed 001
-- decided: tables, figures and exports refuse to pool what stands here. What a reply does not say is no difference, and of a turn the last exchange counts.
-- scans: completion 1
WITH counted AS (
    SELECT
        completion.model_id, completion.thinking, completion.task, completion.arm, completion.template, completion.item_id,
        completion.provider, completion."precision", completion.engine || ' ' || completion.engine_version AS engine, completion.prompt_sha256
    FROM raw.completion AS completion
    INNER JOIN tooluse.finished AS finished ON completion.rollout_id = finished.rollout_id
    INNER JOIN stat.parameter AS parameter ON parameter.name = 'quality.pool_drift' AND parameter.value = 'false'
    WHERE completion.protocol = 'tool_use' AND finished.end_reason <> 'error'
    QUALIFY row_number() OVER (
        PARTITION BY completion.rollout_id, completion.turn ORDER BY completion.attempt DESC, completion.completion_id DESC
    ) = 1
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
