-- grain: one row is one task, as published: over its 16 cells (8 models × both single-input conditions), thinking off.
-- columns: task; predicted_change, executed_change (medians over cells) with _min and _max (their range), gap (median of the cells' gaps)
-- serves: Table 3 of seed 000, to stand beside our own
SELECT
    task, predicted_change, predicted_change_min, predicted_change_max, executed_change, executed_change_min, executed_change_max,
    gap
FROM (VALUES
    ('mmimdb', 0.088, 0.005, 0.382, 0.721, 0.510, 0.926, 0.601),
    ('isobench/math_parity', 0.000, 0.000, 0.008, 0.076, 0.000, 0.436, 0.073),
    ('isobench/graph_maxflow', 0.000, 0.000, 0.008, 0.344, 0.000, 0.817, 0.344),
    ('goldenview', 0.009, 0.000, 0.182, 0.291, 0.167, 0.500, 0.264)
) AS published (
    task, predicted_change, predicted_change_min, predicted_change_max, executed_change, executed_change_min, executed_change_max,
    gap
)
