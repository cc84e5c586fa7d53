-- grain: one row is one question's contribution to one rate of modality.grounding or modality.grounding_prospective (see stat.sums).
-- columns: task, pool, cell (task|model|thinking; task|model|thinking|shown), statistic (the rates of the two views), kind, cluster_id, numerator,
-- denominator
-- serves: the intervals of Fig. 4, of Table 11 and of B.3 of seed 000
WITH scored AS (
    SELECT
        task, concat_ws('|', task, model_id, thinking) AS cell, cluster_id, count(*)::DOUBLE AS n_items,
        count(*) FILTER (WHERE golden_correct)::DOUBLE AS n_golden, count(*) FILTER (WHERE other_correct)::DOUBLE AS n_other
    FROM modality.grounding_item
    WHERE golden_correct IS NOT NULL AND other_correct IS NOT NULL
    GROUP BY task, cell, cluster_id
),
included AS (
    SELECT
        task, concat_ws('|', task, model_id, thinking) AS cell, cluster_id, count(*)::DOUBLE AS n_items,
        count(*) FILTER (WHERE stated = evidence)::DOUBLE AS n_aligned_stated, count(*) FILTER (WHERE executed = evidence)::DOUBLE AS n_aligned_executed,
        count(*) FILTER (WHERE stated IN ('A', 'B'))::DOUBLE AS n_single_stated, count(*) FILTER (WHERE executed IN ('A', 'B'))::DOUBLE AS n_single_executed
    FROM modality.grounding_item
    WHERE stated IS NOT NULL
    GROUP BY task, cell, cluster_id
),
restored AS (
    SELECT
        item.task, concat_ws('|', item.task, item.model_id, item.thinking, CASE WHEN item.arm = evidence.evidence THEN 'golden' ELSE 'other' END) AS cell,
        item.cluster_id, count(*)::DOUBLE AS n_items,
        count(*) FILTER (WHERE item.predicted_changed)::DOUBLE AS n_predicted, count(*) FILTER (WHERE item.executed_changed)::DOUBLE AS n_executed,
        count(item.claimed_insufficient)::DOUBLE AS n_flagged, count(*) FILTER (WHERE item.claimed_insufficient)::DOUBLE AS n_claimed,
        count(*) FILTER (WHERE item.executed_changed AND item.claimed_insufficient IS NOT NULL)::DOUBLE AS n_changed,
        count(*) FILTER (WHERE item.executed_changed AND item.claimed_insufficient)::DOUBLE AS n_hit
    FROM modality.prospective_item AS item
    INNER JOIN modality.evidence AS evidence USING (item_id)
    GROUP BY item.task, cell, item.cluster_id
),
contribution AS (
    SELECT task, cell, 'accuracy_golden' AS statistic, 'rate' AS kind, cluster_id, n_golden AS numerator, n_items AS denominator FROM scored
    UNION ALL
    SELECT task, cell, 'accuracy_other', 'rate', cluster_id, n_other, n_items FROM scored
    UNION ALL
    SELECT task, cell, 'accuracy_delta', 'difference', cluster_id, n_golden - n_other, n_items FROM scored
    UNION ALL
    SELECT task, cell, 'alignment_stated', 'rate', cluster_id, n_aligned_stated, n_items FROM included
    UNION ALL
    SELECT task, cell, 'alignment_executed', 'rate', cluster_id, n_aligned_executed, n_items FROM included
    UNION ALL
    SELECT task, cell, 'alignment_delta', 'difference', cluster_id, n_aligned_stated - n_aligned_executed, n_items FROM included
    UNION ALL
    SELECT task, cell, 'single_stated', 'rate', cluster_id, n_single_stated, n_items FROM included
    UNION ALL
    SELECT task, cell, 'single_executed', 'rate', cluster_id, n_single_executed, n_items FROM included
    UNION ALL
    SELECT task, cell, 'golden_given_single_stated', 'rate', cluster_id, n_aligned_stated, n_single_stated FROM included
    UNION ALL
    SELECT task, cell, 'golden_given_single_executed', 'rate', cluster_id, n_aligned_executed, n_single_executed FROM included
    UNION ALL
    SELECT task, cell, 'predicted_change', 'rate', cluster_id, n_predicted, n_items FROM restored
    UNION ALL
    SELECT task, cell, 'executed_change', 'rate', cluster_id, n_executed, n_items FROM restored
    UNION ALL
    SELECT task, cell, 'gap', 'difference', cluster_id, n_executed - n_predicted, n_items FROM restored
    UNION ALL
    SELECT task, cell, 'claimed_insufficient', 'rate', cluster_id, n_claimed, n_flagged FROM restored
    UNION ALL
    SELECT task, cell, 'silent_failure', 'rate', cluster_id, n_changed - n_hit, n_flagged FROM restored
    UNION ALL
    SELECT task, cell, 'precision', 'rate', cluster_id, n_hit, n_claimed FROM restored
    UNION ALL
    SELECT task, cell, 'recall', 'rate', cluster_id, n_hit, n_changed FROM restored
    UNION ALL
    SELECT task, cell, 'missed', 'rate', cluster_id, n_changed - n_hit, n_changed FROM restored
)
SELECT task, CAST(NULL AS VARCHAR) AS pool, cell, statistic, kind, cluster_id, numerator, denominator
FROM contribution
