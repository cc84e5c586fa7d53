-- grain: one row is one attribution: model (or `pooled`) × thinking × task × attribution; four rows a group, those of 0 included.
-- columns: model_id (`pooled`: all models of the study together), thinking, task, attribution (A|B|both|either), n_items (item × model), n_clusters,
-- n_stated, n_executed, stated_share, executed_share, difference (executed - stated), each with _low and _high, difference_se, difference_p (two-sided,
-- of no difference); few_clusters, resamples, seed
-- serves: the columns Δ of Table 2 of seed 000
-- decided: paired: both sides are read on one item set.
WITH side AS (
    SELECT
        model_id, thinking, task, attribution, concat_ws('|', task, model_id, thinking) AS cell,
        max(n_items) AS n_items, max(n_clusters) AS n_clusters,
        max(n) FILTER (WHERE side = 'stated') AS n_stated, max(n) FILTER (WHERE side = 'executed') AS n_executed
    FROM modality.retrospective
    GROUP BY model_id, thinking, task, attribution
)
SELECT
    side.model_id, side.thinking, side.task, side.attribution, side.n_items, side.n_clusters, side.n_stated, side.n_executed,
    side.n_stated::DOUBLE / nullif(side.n_items, 0) AS stated_share, stated.low AS stated_share_low, stated.high AS stated_share_high,
    side.n_executed::DOUBLE / nullif(side.n_items, 0) AS executed_share, executed.low AS executed_share_low, executed.high AS executed_share_high,
    (side.n_executed - side.n_stated)::DOUBLE / nullif(side.n_items, 0) AS difference,
    difference.low AS difference_low, difference.high AS difference_high, difference.se AS difference_se, difference.p AS difference_p,
    difference.few_clusters, difference.resamples, difference.seed
FROM side
LEFT JOIN modality.retrospective_interval AS stated
    ON side.cell = stated.cell AND concat_ws('|', 'stated', side.attribution) = stated.statistic
LEFT JOIN modality.retrospective_interval AS executed
    ON side.cell = executed.cell AND concat_ws('|', 'executed', side.attribution) = executed.statistic
LEFT JOIN modality.retrospective_interval AS difference
    ON side.cell = difference.cell AND concat_ws('|', 'difference', side.attribution) = difference.statistic
