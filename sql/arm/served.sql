-- grain: one row is one answer that counts, with who gave it and to what prompt. This view is empty: it is the shape that `arm.served_drift` is read over.
-- columns: model_id, thinking, task, arm, template, item_id, provider, precision, engine (with its version), prompt_sha256 (each NULL where it is not known)
-- serves: E.1 of seed 000, 3.3 of seed 001
SELECT
    CAST(NULL AS VARCHAR) AS model_id, CAST(NULL AS BOOLEAN) AS thinking, CAST(NULL AS VARCHAR) AS task, CAST(NULL AS VARCHAR) AS arm,
    CAST(NULL AS VARCHAR) AS template, CAST(NULL AS VARCHAR) AS item_id, CAST(NULL AS VARCHAR) AS provider, CAST(NULL AS VARCHAR) AS "precision",
    CAST(NULL AS VARCHAR) AS engine, CAST(NULL AS VARCHAR) AS prompt_sha256
WHERE FALSE
