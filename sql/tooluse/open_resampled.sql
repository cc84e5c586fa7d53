-- grain: one row is one median of tooluse.veg_open in one resample of its task's clusters.
-- columns: as stat.resampled, in value_1 (NULL where the resample has no such call); bundle as tooluse.open_series
-- serves: the intervals of Table 14 of seed 001
-- decided: a call counts as often as its cluster was drawn.
WITH weight AS (
    SELECT
        task_rank, resample, unnest(list_concat(list_concat(weights_1, weights_2), list_concat(weights_3, weights_4))) AS weight,
        unnest(range(array_length(weights_1) + array_length(weights_2) + array_length(weights_3) + array_length(weights_4))) AS position
    FROM stat.weight
    WHERE task_rank IN (SELECT task_rank FROM tooluse.open_series)
),
draw AS (
    SELECT task_rank, resample, position, unnest(range(CAST(weight AS BIGINT))) AS time FROM weight
),
call AS (
    SELECT series.bundle, cluster.task_rank, cluster.position, labelled.veg
    FROM tooluse.open_labelled AS labelled
    INNER JOIN tooluse.open_series AS series
        ON labelled.task = series.task AND concat_ws('|', labelled.model_id, labelled.thinking) = series.cell AND labelled.part = series.statistic
    INNER JOIN stat.cluster AS cluster ON labelled.task = cluster.task AND labelled.cluster_id = cluster.cluster_id
    WHERE labelled.veg IS NOT NULL
),
drawn AS (
    SELECT call.bundle, draw.resample, median(call.veg) AS value
    FROM call
    INNER JOIN draw ON call.task_rank = draw.task_rank AND call.position = draw.position
    GROUP BY call.bundle, draw.resample
)
SELECT
    series.bundle, weight.resample, drawn.value AS value_1, CAST(NULL AS DOUBLE) AS value_2, CAST(NULL AS DOUBLE) AS value_3, CAST(NULL AS DOUBLE) AS value_4
FROM tooluse.open_series AS series
INNER JOIN stat.weight AS weight ON series.task_rank = weight.task_rank
LEFT JOIN drawn ON series.bundle = drawn.bundle AND weight.resample = drawn.resample
