-- grain: one row is one label that a completion of this task, arm and template should carry: the instrument's closing block.
-- columns: task, arm, template, position (1-based place in the prompt), label (as written in the completion), field (what it tells:
--   answer, alone_a, alone_b, with_other, sufficiency), kind (the form of its value: genres, word, integer, letter, flag),
--   found_in (line: after `LABEL:`; span: the last JSON array, where the prompt asks for an array and no label)
-- serves: seed 000, Appendix C (the closing blocks), Appendix D (which rows lose a field)
WITH task AS (
    SELECT task, kind, alone_a, alone_b, with_a, with_b
    FROM (VALUES
        ('mmimdb', 'genres', 'PLOT_ALONE', 'POSTER_ALONE', 'WITH_PLOT', 'WITH_POSTER'),
        ('isobench/math_parity', 'word', 'TEXT_ALONE', 'IMAGE_ALONE', 'WITH_TEXT', 'WITH_IMAGE'),
        ('isobench/graph_maxflow', 'integer', 'TEXT_ALONE', 'IMAGE_ALONE', 'WITH_TEXT', 'WITH_IMAGE'),
        ('goldenview', 'letter', 'SET_A_ALONE', 'SET_B_ALONE', 'WITH_SET_A', 'WITH_SET_B')
    ) AS task (task, kind, alone_a, alone_b, with_a, with_b)
),
condition AS (
    SELECT arm, template
    FROM (VALUES ('AB', 'plain'), ('A', 'plain'), ('B', 'plain'), ('title', 'plain'), ('AB', 'assess'), ('A', 'assess'), ('B', 'assess'))
        AS condition (arm, template)
),
report AS (
    SELECT task, 'AB' AS arm, 2 AS position, alone_a AS label, 'alone_a' AS field, kind FROM task
    UNION ALL
    SELECT task, 'AB' AS arm, 3 AS position, alone_b AS label, 'alone_b' AS field, kind FROM task
    UNION ALL
    SELECT task, 'A' AS arm, 2 AS position, with_b AS label, 'with_other' AS field, kind FROM task
    UNION ALL
    SELECT task, 'B' AS arm, 2 AS position, with_a AS label, 'with_other' AS field, kind FROM task
    UNION ALL
    SELECT task.task, single.arm, 3 AS position, 'SUFFICIENCY' AS label, 'sufficiency' AS field, 'flag' AS kind
    FROM task
    CROSS JOIN (VALUES ('A'), ('B')) AS single (arm)
)
SELECT
    task.task, condition.arm, condition.template, 1 AS position, 'ANSWER' AS label, 'answer' AS field, task.kind,
    CASE WHEN task.task = 'mmimdb' AND condition.template = 'plain' THEN 'span' ELSE 'line' END AS found_in
FROM task
INNER JOIN condition ON condition.arm <> 'title' OR task.task = 'mmimdb'
UNION ALL
SELECT task, arm, 'assess' AS template, position, label, field, kind, 'line' AS found_in
FROM report
