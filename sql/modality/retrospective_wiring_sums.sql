-- grain: one row is one cluster's contribution to one share of modality.retrospective_wiring (see stat.sums).
-- columns: task, pool, cell (task|model or `pooled`|thinking), statistic (stated|attribution, plain|attribution, assess|attribution), kind, cluster_id,
-- numerator, denominator
-- serves: the intervals of Table 9 of seed 000
WITH attributed_item AS (
    SELECT task, concat_ws('|', task, model_id, thinking) AS cell, cluster_id, stated, plain, assess FROM modality.retrospective_wiring_item
    UNION ALL
    SELECT task, concat_ws('|', task, 'pooled', thinking) AS cell, cluster_id, stated, plain, assess FROM modality.retrospective_wiring_item
),
attribution_count AS (
    SELECT
        item.task, item.cell, item.cluster_id, attributions.attribution, count(*)::DOUBLE AS n_items,
        count(*) FILTER (WHERE item.stated = attributions.attribution)::DOUBLE AS n_stated,
        count(*) FILTER (WHERE item.plain = attributions.attribution)::DOUBLE AS n_plain,
        count(*) FILTER (WHERE item.assess = attributions.attribution)::DOUBLE AS n_assess
    FROM attributed_item AS item
    CROSS JOIN (VALUES ('A'), ('B'), ('both'), ('either')) AS attributions (attribution)
    GROUP BY item.task, item.cell, item.cluster_id, attributions.attribution
),
contribution AS (
    SELECT task, cell, concat_ws('|', 'stated', attribution) AS statistic, cluster_id, n_stated AS numerator, n_items AS denominator
    FROM attribution_count
    UNION ALL
    SELECT task, cell, concat_ws('|', 'plain', attribution), cluster_id, n_plain, n_items FROM attribution_count
    UNION ALL
    SELECT task, cell, concat_ws('|', 'assess', attribution), cluster_id, n_assess, n_items FROM attribution_count
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, 'rate' AS kind, cluster_id, numerator, denominator
FROM contribution
