-- grain: one row is one cluster's contribution to one share of modality.retrospective, retrospective_difference or attribution_agreement (see stat.sums).
-- columns: task, pool, cell (task|model or `pooled`|thinking), statistic (stated|attribution, executed|attribution, difference|attribution; the pair
-- joint|stated|executed; agreement), kind, cluster_id, numerator, denominator
-- serves: the intervals of Table 2 of seed 000
WITH attributed_item AS (
    SELECT task, concat_ws('|', task, model_id, thinking) AS cell, cluster_id, stated, executed FROM modality.retrospective_item
    UNION ALL
    SELECT task, concat_ws('|', task, 'pooled', thinking) AS cell, cluster_id, stated, executed FROM modality.retrospective_item
),
attribution_count AS (
    SELECT
        item.task, item.cell, item.cluster_id, attributions.attribution, count(*)::DOUBLE AS n_items,
        count(*) FILTER (WHERE item.stated = attributions.attribution)::DOUBLE AS n_stated,
        count(*) FILTER (WHERE item.executed = attributions.attribution)::DOUBLE AS n_executed
    FROM attributed_item AS item
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS attributions (attribution)
    GROUP BY item.task, item.cell, item.cluster_id, attributions.attribution
),
pair_count AS (
    SELECT
        item.task, item.cell, item.cluster_id, concat_ws('|', 'joint', said.stated, did.executed) AS pair, count(*)::DOUBLE AS n_items,
        count(*) FILTER (WHERE item.stated = said.stated AND item.executed = did.executed)::DOUBLE AS n
    FROM attributed_item AS item
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS said (stated)
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS did (executed)
    GROUP BY item.task, item.cell, item.cluster_id, said.stated, did.executed
),
contribution AS (
    SELECT task, cell, concat_ws('|', 'stated', attribution) AS statistic, 'rate' AS kind, cluster_id, n_stated AS numerator, n_items AS denominator
    FROM attribution_count
    UNION ALL
    SELECT task, cell, concat_ws('|', 'executed', attribution), 'rate', cluster_id, n_executed, n_items FROM attribution_count
    UNION ALL
    SELECT task, cell, concat_ws('|', 'difference', attribution), 'difference', cluster_id, n_executed - n_stated, n_items FROM attribution_count
    UNION ALL
    SELECT task, cell, pair, 'rate', cluster_id, n, n_items FROM pair_count
    UNION ALL
    SELECT task, cell, 'agreement', 'rate', cluster_id, count(*) FILTER (WHERE stated = executed)::DOUBLE, count(*)::DOUBLE
    FROM attributed_item
    GROUP BY task, cell, cluster_id
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, kind, cluster_id, numerator, denominator
FROM contribution
