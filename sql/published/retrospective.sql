-- grain: one row is one task × attribution, as published: pooled over the eight models, thinking off.
-- columns: task, attribution (A|B|both|either), n_items (item × model), stated, executed, delta (executed - stated; fractions)
-- serves: Table 2 of seed 000, to stand beside our own
SELECT task, attribution, n_items, stated, executed, delta
FROM (VALUES
    ('mmimdb', 'A', 4844, 0.475, 0.263, -0.212),
    ('isobench/math_parity', 'A', 2919, 0.055, 0.194, 0.139),
    ('isobench/graph_maxflow', 'A', 893, 0.068, 0.297, 0.229),
    ('goldenview', 'A', 423, 0.272, 0.239, -0.033),
    ('mmimdb', 'B', 4844, 0.091, 0.158, 0.067),
    ('isobench/math_parity', 'B', 2919, 0.023, 0.010, -0.013),
    ('isobench/graph_maxflow', 'B', 893, 0.037, 0.063, 0.026),
    ('goldenview', 'B', 423, 0.260, 0.144, -0.116),
    ('mmimdb', 'both', 4844, 0.148, 0.418, 0.270),
    ('isobench/math_parity', 'both', 2919, 0.001, 0.003, 0.002),
    ('isobench/graph_maxflow', 'both', 893, 0.026, 0.090, 0.064),
    ('goldenview', 'both', 423, 0.007, 0.054, 0.047),
    ('mmimdb', 'either', 4844, 0.285, 0.160, -0.125),
    ('isobench/math_parity', 'either', 2919, 0.921, 0.792, -0.129),
    ('isobench/graph_maxflow', 'either', 893, 0.869, 0.551, -0.318),
    ('goldenview', 'either', 423, 0.461, 0.563, 0.102)
) AS published (task, attribution, n_items, stated, executed, delta)
