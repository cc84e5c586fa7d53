-- grain: one row is one task, as published: over its 16 cells (8 models × both single-input conditions), thinking off.
-- columns: task; claimed_insufficient, precision, recall (medians over cells) with _min and _max (their range)
-- serves: Table 4 of seed 000, to stand beside our own
SELECT
    task, claimed_insufficient, claimed_insufficient_min, claimed_insufficient_max, precision, precision_min, precision_max, recall,
    recall_min, recall_max
FROM (VALUES
    ('mmimdb', 0.102, 0.019, 0.444, 0.780, 0.571, 0.973, 0.121, 0.022, 0.471),
    ('isobench/math_parity', 0.001, 0.000, 0.154, 0.242, 0.000, 1.000, 0.000, 0.000, 0.244),
    ('isobench/graph_maxflow', 0.000, 0.000, 0.072, 1.000, 0.778, 1.000, 0.000, 0.000, 0.081),
    ('goldenview', 0.165, 0.000, 0.582, 1.000, 0.281, 1.000, 0.473, 0.000, 1.000)
) AS published (
    task, claimed_insufficient, claimed_insufficient_min, claimed_insufficient_max, precision, precision_min, precision_max, recall,
    recall_min, recall_max
)
