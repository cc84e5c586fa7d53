-- grain: one row is one cluster of one task of the chosen study: the unit that is resampled.
-- columns: task, cluster_id, position (rank by cluster_id, from 0), n_clusters (of the task), task_rank (rank of the task, from 1)
-- serves: Appendix A of seed 000 (paired cluster bootstrap)
-- decided: all clusters of the study's items take part, whichever arm or model lacks one, so that all that is measured on a task resamples together.
-- cache: whole
WITH task_cluster AS (
    SELECT DISTINCT task, cluster_id FROM arm.request WHERE cluster_id IS NOT NULL
)
SELECT
    task, cluster_id,
    row_number() OVER (PARTITION BY task ORDER BY cluster_id) - 1 AS position,
    count(*) OVER (PARTITION BY task) AS n_clusters,
    dense_rank() OVER (ORDER BY task) AS task_rank
FROM task_cluster
