-- grain: one row is one study that the call reads, with its newest grid: the boundary of every result.
-- columns: study, grid_id
-- scans: grid 1
-- decided: the study that `study` names; without one, of the modality studies and of the tool-use studies each the one appended last, so that the
-- views of either audit have something to read.
WITH chosen AS (
    SELECT value AS study FROM stat.parameter WHERE name = 'study'
),
newest_grid AS (
    SELECT study, max(grid_id) AS grid_id, max(created_at) AS appended_at, bool_or(protocol = 'modality') AS is_modality
    FROM raw.grid
    GROUP BY study
),
ranked_grid AS (
    SELECT
        newest_grid.study, newest_grid.grid_id, chosen.study AS chosen_study,
        row_number() OVER (PARTITION BY newest_grid.is_modality ORDER BY newest_grid.appended_at DESC, newest_grid.study) AS place
    FROM newest_grid
    CROSS JOIN chosen
)
SELECT study, grid_id
FROM ranked_grid
WHERE study = chosen_study OR (chosen_study IS NULL AND place = 1)
