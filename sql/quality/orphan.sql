-- promise: whatever a raw row speaks of is there: its item, the grid that asked for it, the run that wrote it, the rollout it belongs to.
-- severity: error
-- grain: one row is one kind of reference of one raw table that leads nowhere, for one value of it.
-- columns: raw_table, refers_to, missing (the value), n (rows that refer to it)
-- decided: a completion of the modality audit must be in some grid; turns of a rollout and rulings of a judge need not be.
-- scans: completion 3, grid 2, item 2, run 1
SELECT 'completion' AS raw_table, 'item' AS refers_to, completion.item_id AS missing, count(*) AS n
FROM raw.completion AS completion
ANTI JOIN raw.item AS item ON completion.item_id = item.item_id
GROUP BY completion.item_id
UNION ALL
SELECT 'grid', 'item', grid.item_id, count(*)
FROM raw.grid AS grid
ANTI JOIN raw.item AS item ON grid.item_id = item.item_id
GROUP BY grid.item_id
UNION ALL
SELECT 'completion', 'grid', completion.request_key, count(*)
FROM raw.completion AS completion
ANTI JOIN raw.grid AS grid ON completion.request_key = grid.request_key
WHERE completion.protocol = 'modality'
GROUP BY completion.request_key
UNION ALL
SELECT 'completion', 'run', completion.run_id, count(*)
FROM raw.completion AS completion
ANTI JOIN raw.run AS run ON completion.run_id = run.run_id
WHERE completion.run_id IS NOT NULL
GROUP BY completion.run_id
