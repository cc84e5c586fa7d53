-- grain: one row is one model × thinking × item at the replicate arm.replicate: all that the three arms answered and reported.
-- columns: model_id, thinking, task, item_id, cluster_id, gold; for each arm ab, a, b and template plain, assess: <arm>_<template>_asked,
--   <arm>_<template>_answer; ab_assess_alone_a, ab_assess_alone_b, a_assess_with_other, a_assess_sufficiency, b_assess_with_other,
--   b_assess_sufficiency (canonical text; NULL unless read)
-- serves: every measure of seed 000 that compares arms
-- decided: arm.field_policy `usable` leaves out every field of a call that lost one; `relevant` keeps what was read.
-- cache: whole
WITH answer AS (
    SELECT
        answer.model_id, answer.thinking, answer.task, answer.item_id, answer.cluster_id, answer.gold, answer.arm, answer.template,
        CASE WHEN kept THEN answer.answer END AS answer, CASE WHEN kept THEN answer.alone_a END AS alone_a,
        CASE WHEN kept THEN answer.alone_b END AS alone_b, CASE WHEN kept THEN answer.with_other END AS with_other,
        CASE WHEN kept THEN answer.sufficiency END AS sufficiency
    FROM (
        SELECT answer.*, policy.value = 'relevant' OR answer.outcome = 'usable' AS kept
        FROM arm.answer AS answer
        INNER JOIN stat.parameter AS replicate ON replicate.name = 'arm.replicate' AND answer.replicate = CAST(replicate.value AS INTEGER)
        INNER JOIN stat.parameter AS policy ON policy.name = 'arm.field_policy'
        WHERE answer.arm IN ('AB', 'A', 'B')
    ) AS answer
)
SELECT
    model_id, thinking, task, item_id, cluster_id, gold,
    count(*) FILTER (WHERE arm = 'AB' AND template = 'plain') > 0 AS ab_plain_asked,
    max(answer) FILTER (WHERE arm = 'AB' AND template = 'plain') AS ab_plain_answer,
    count(*) FILTER (WHERE arm = 'AB' AND template = 'assess') > 0 AS ab_assess_asked,
    max(answer) FILTER (WHERE arm = 'AB' AND template = 'assess') AS ab_assess_answer,
    count(*) FILTER (WHERE arm = 'A' AND template = 'plain') > 0 AS a_plain_asked,
    max(answer) FILTER (WHERE arm = 'A' AND template = 'plain') AS a_plain_answer,
    count(*) FILTER (WHERE arm = 'A' AND template = 'assess') > 0 AS a_assess_asked,
    max(answer) FILTER (WHERE arm = 'A' AND template = 'assess') AS a_assess_answer,
    count(*) FILTER (WHERE arm = 'B' AND template = 'plain') > 0 AS b_plain_asked,
    max(answer) FILTER (WHERE arm = 'B' AND template = 'plain') AS b_plain_answer,
    count(*) FILTER (WHERE arm = 'B' AND template = 'assess') > 0 AS b_assess_asked,
    max(answer) FILTER (WHERE arm = 'B' AND template = 'assess') AS b_assess_answer,
    max(alone_a) FILTER (WHERE arm = 'AB' AND template = 'assess') AS ab_assess_alone_a,
    max(alone_b) FILTER (WHERE arm = 'AB' AND template = 'assess') AS ab_assess_alone_b,
    max(with_other) FILTER (WHERE arm = 'A' AND template = 'assess') AS a_assess_with_other,
    max(sufficiency) FILTER (WHERE arm = 'A' AND template = 'assess') AS a_assess_sufficiency,
    max(with_other) FILTER (WHERE arm = 'B' AND template = 'assess') AS b_assess_with_other,
    max(sufficiency) FILTER (WHERE arm = 'B' AND template = 'assess') AS b_assess_sufficiency
FROM answer
GROUP BY model_id, thinking, task, item_id, cluster_id, gold
