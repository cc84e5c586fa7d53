-- grain: one row is one model of the paper.
-- columns: model_id, family (Qwen3.5|Gemma 4), size (as named), architecture (dense|mixture), billions (parameters in all, 10^9; effective ones of the E models),
-- billions_active (that a token passes through)
-- serves: A.2 of seed 000: how the measures move with family, size and kind; joined to a cell by model_id
-- decided: a view reads no file beside the warehouse: the rows are those of the model registry, and a test holds the two together.
SELECT model_id, family, size, architecture, billions, billions_active
FROM (VALUES
    ('Qwen/Qwen3.5-4B', 'Qwen3.5', '4B', 'dense', 4, 4),
    ('Qwen/Qwen3.5-9B', 'Qwen3.5', '9B', 'dense', 9, 9),
    ('qwen/qwen3.5-27b', 'Qwen3.5', '27B', 'dense', 27, 27),
    ('qwen/qwen3.5-35b-a3b', 'Qwen3.5', '35B total, 3B active', 'mixture', 35, 3),
    ('google/gemma-4-E2B-it', 'Gemma 4', '2B effective', 'dense', 2, 2),
    ('google/gemma-4-E4B-it', 'Gemma 4', '4B effective', 'dense', 4, 4),
    ('google/gemma-4-26b-a4b-it', 'Gemma 4', '26B total, 4B active', 'mixture', 26, 4),
    ('google/gemma-4-31b-it', 'Gemma 4', '31B', 'dense', 31, 31)
) AS model (model_id, family, size, architecture, billions, billions_active)
