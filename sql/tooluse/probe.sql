-- grain: one row is one checkpoint of a finished rollout at which options were asked for: the latest reading of their log-probabilities.
-- columns: rollout_id, turn, call_index, stage (before|real|counterfactual), draw (1 to 3 of a counterfactual, else 0), gap (g: probability of the
-- gold option less that of the best wrong one, after a soft-max over the options; NULL where unreadable), mass (raw probability of all options together),
-- reason (why it is unreadable)
-- serves: equation 3 of seed 001 and A.3 (the answer readout)
-- decided: candidates are matched by token id among the top log-probabilities and the sampled token, wherever they stand. Where a label has several
-- tokens their probabilities add. A label that lacks one of its tokens, a value that is no finite number and vLLM's floor of -9999 make the checkpoint
-- unreadable: none is ever taken for a probability of 0. The latest attempt counts. One label alone is an open-ended probe (tooluse.open_probe).
-- cache: whole
-- scans: probe 3, item 1
WITH repeated AS (
    SELECT rollout_id, turn, call_index, stage, draw, max(attempt) AS last_attempt
    FROM raw.probe
    WHERE attempt > 1
    GROUP BY rollout_id, turn, call_index, stage, draw
),
gold AS (
    SELECT finished.rollout_id, upper(trim(json_extract_string(item.gold, '$'))) AS gold
    FROM tooluse.finished AS finished
    INNER JOIN raw.item AS item ON finished.item_id = item.item_id
),
offer AS (
    SELECT options, json_keys(options) AS keys
    FROM raw.probe
    WHERE json_type(options) = 'OBJECT'
    GROUP BY options
),
option AS (
    SELECT
        options, list_transform(keys, lambda label : upper(label)) AS labels,
        list_transform(keys, lambda label : list_transform(
            string_split(regexp_replace(json_extract_string(options, '$."' || label || '"'), '[^0-9,]', '', 'g'), ','),
            lambda token : 'token_id:' || token
        )) AS label_tokens
    FROM offer
),
reply AS (
    SELECT
        probe.rollout_id, probe.turn, probe.call_index, probe.stage, probe.draw, gold.gold, probe.options, probe.http_status,
        COALESCE(json_type(probe.error) <> 'NULL', FALSE) AS is_error,
        TRY(json_extract_string(probe.response, '$.choices[0].logprobs.content[0].top_logprobs[*].token')) AS top_tokens,
        TRY(json_extract_string(probe.response, '$.choices[0].logprobs.content[0].top_logprobs[*].logprob')) AS top_values,
        TRY(json_extract_string(probe.response, ['$.choices[0].logprobs.content[0].token', '$.choices[0].logprobs.content[0].logprob'])) AS sampled
    FROM raw.probe AS probe
    INNER JOIN gold ON probe.rollout_id = gold.rollout_id
    LEFT JOIN repeated
        ON probe.rollout_id = repeated.rollout_id AND probe.turn = repeated.turn AND probe.call_index = repeated.call_index
        AND probe.stage = repeated.stage AND probe.draw = repeated.draw
    WHERE COALESCE(repeated.last_attempt = probe.attempt, TRUE) AND COALESCE(array_length(json_keys(probe.options)) <> 1, TRUE)
),
candidate AS (
    SELECT
        reply.* EXCLUDE (options, top_tokens, top_values, sampled), option.labels, option.label_tokens,
        list_concat(top_tokens, [sampled[1]]) AS tokens,
        list_transform(list_concat(top_values, [sampled[2]]), lambda value : TRY_CAST(value AS DOUBLE)) AS values,
        top_tokens IS NOT NULL AS is_json, array_length(top_tokens) = array_length(top_values) AS is_paired
    FROM reply
    LEFT JOIN option ON reply.options = option.options
),
matched AS (
    -- each label's usable log-probabilities, NULL for one that is not; NaN is larger than any number
    SELECT
        *,
        list_transform(label_tokens, lambda ids : list_transform(
            list_transform(ids, lambda id : values[list_position(tokens, id)]),
            lambda value : CASE WHEN value > -9999 AND value < 1e300 THEN value END
        )) AS logprobs
    FROM candidate
),
scaled AS (
    SELECT
        *, list_max(list_transform(logprobs, lambda values : list_max(values))) AS highest,
        list_position(list_transform(logprobs, lambda values : list_count(values) < array_length(values)), TRUE) AS unusable
    FROM matched
),
shifted AS (
    -- probabilities too small for a double keep their ratio; all others are taken as they are, so that nothing is rounded twice
    SELECT *, CASE WHEN highest < -600 THEN highest ELSE 0 END AS shift FROM scaled
),
weighed AS (
    SELECT
        *, CASE WHEN unusable IS NULL AND NOT is_error AND COALESCE(http_status BETWEEN 200 AND 299, TRUE) AND is_paired
            THEN list_transform(logprobs, lambda values : list_sum(list_transform(values, lambda value : exp(value - shift)))) END AS weights
    FROM shifted
),
compared AS (
    SELECT
        *, list_sum(weights) AS total, weights[list_position(labels, gold)] AS gold_weight,
        list_max(list_transform(range(1, array_length(labels) + 1), lambda place : CASE WHEN labels[place] <> gold THEN weights[place] END)) AS wrong_weight
    FROM weighed
),
explained AS (
    SELECT
        *, label_tokens[unusable][list_position(list_transform(logprobs[unusable], lambda value : value IS NULL), TRUE)] AS unusable_token
    FROM compared
)
SELECT
    rollout_id, turn, call_index, stage, draw, (gold_weight - wrong_weight) / total AS gap, total * exp(shift) AS mass,
    CASE
        WHEN gold_weight - wrong_weight IS NOT NULL THEN NULL
        WHEN is_error THEN 'transport error'
        WHEN http_status NOT BETWEEN 200 AND 299 THEN 'HTTP status ' || http_status
        WHEN NOT is_json THEN 'body is not JSON'
        WHEN labels IS NULL THEN 'no options'
        WHEN NOT is_paired THEN 'a token without a log-probability'
        WHEN NOT list_contains(tokens, unusable_token) THEN 'no log-probability of option ' || labels[unusable]
        WHEN values[list_position(tokens, unusable_token)] <= -9999 THEN 'log-probability of option ' || labels[unusable] || ' at the floor of -9999'
        WHEN unusable IS NOT NULL THEN 'log-probability of option ' || labels[unusable] || ' is no finite number'
        WHEN gold_weight IS NULL THEN 'gold is no option'
        ELSE 'no wrong option'
    END AS reason
FROM explained
