-- promise: a film's poster answer and its summaries meet: each summary's film is asked for from the poster, and each such film has a summary.
-- severity: warning
-- grain: one row is one film of one model, thinking mode and template that lacks a side; its rows have no partner in any comparison.
-- columns: model_id, thinking, template, film (cluster_id), lacks (poster|summary)
WITH film AS (
    SELECT
        model_id, thinking, template, cluster_id,
        count(*) FILTER (WHERE arm = 'B') AS n_posters, count(*) FILTER (WHERE arm IN ('AB', 'A')) AS n_summaries
    FROM arm.request
    WHERE task = 'mmimdb' AND arm IN ('AB', 'A', 'B')
    GROUP BY model_id, thinking, template, cluster_id
)
SELECT model_id, thinking, template, cluster_id AS film, CASE WHEN n_posters = 0 THEN 'poster' ELSE 'summary' END AS lacks
FROM film
WHERE n_posters = 0 OR n_summaries = 0
