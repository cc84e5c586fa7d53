-- grain: one row is one median of tooluse.veg_open, as a point.
-- columns: as stat.series: cell (model|thinking), statistic (veg|veg_correct|veg_incorrect), n (calls whose VEG was read), se NULL, bundle (one for each), place 1
-- serves: Table 14 of seed 001
-- decided: CR1 is for ratios of sums: a median has no se.
WITH point AS (
    SELECT
        task, concat_ws('|', model_id, thinking) AS cell, part AS statistic, median(veg) AS estimate, count(veg) AS n, count(DISTINCT cluster_id) AS n_clusters
    FROM tooluse.open_labelled
    WHERE veg IS NOT NULL
    GROUP BY task, model_id, thinking, part
)
SELECT
    point.task, cluster.task_rank, CAST(NULL AS VARCHAR) AS pool, point.cell, point.statistic, 'median' AS kind, point.estimate, point.n, point.n_clusters,
    CAST(NULL AS DOUBLE) AS se, row_number() OVER (ORDER BY point.task, point.cell, point.statistic) AS bundle, 1 AS place, TRUE AS is_carrier,
    CAST(NULL AS DOUBLE) AS base
FROM point
INNER JOIN stat.cluster AS cluster ON point.task = cluster.task AND cluster.position = 0
