-- promise: every cell that the study asks for has an item to report on.
-- severity: warning
-- grain: one row is one cell of the prospective or retrospective setting without a single item whose fields were all read.
-- columns: setting (prospective|sufficiency|retrospective), model_id, thinking, task, arm (A|B; AB where retrospective)
SELECT 'prospective' AS setting, model_id, thinking, task, arm
FROM modality.prospective_cell
WHERE n_items = 0
UNION ALL
SELECT 'sufficiency', model_id, thinking, task, arm
FROM modality.sufficiency_cell
WHERE n_items = 0
UNION ALL
SELECT DISTINCT 'retrospective', model_id, thinking, task, 'AB'
FROM modality.retrospective
WHERE n_items = 0
