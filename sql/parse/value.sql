-- grain: one row is one completed call × a label that it should carry: the values that a rule set finds for it. This view is empty: it is
-- the shape. A rule set gives its values in this shape (parse.strict_value); what they mean is parse.reading read over them.
-- columns: completion_id, label, field, kind (see parse.label), letters (those that the item offers, for kind letter), has_label (the label
--   is there, with a value or without), found (the values in the order of the text, bare), changed (of several boxes that differ the last
--   was taken)
SELECT
    CAST(NULL AS VARCHAR) AS completion_id, CAST(NULL AS VARCHAR) AS label, CAST(NULL AS VARCHAR) AS field, CAST(NULL AS VARCHAR) AS kind,
    CAST(NULL AS VARCHAR[]) AS letters, CAST(NULL AS BOOLEAN) AS has_label, CAST(NULL AS VARCHAR[]) AS found,
    CAST(NULL AS BOOLEAN) AS changed
WHERE FALSE
