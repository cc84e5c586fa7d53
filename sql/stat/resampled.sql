-- grain: one row is one bundle of statistics in one resample of its task's clusters.
-- columns: bundle (of stat.series), resample, value_1 to value_4 (of the statistics at its places 1 to 4; NULL where the resample leaves the
-- denominator empty)
-- serves: Appendix A of seed 000; read over a family of sums (see stat.sums)
-- The join compares a difference on purpose: an equality would be hashed, and copying the lists out of a hash table costs six times the products.
-- The resamples come in two halves because DuckDB runs the parts of a union side by side.
WITH bundle AS (
    SELECT * FROM stat.bundle
),
drawn AS (
    SELECT weight.*, bundle.* EXCLUDE (task_rank)
    FROM stat.weight AS weight
    INNER JOIN bundle ON weight.task_rank - bundle.task_rank = 0
    WHERE weight.resample % 2 = 0
    UNION ALL
    SELECT weight.*, bundle.* EXCLUDE (task_rank)
    FROM stat.weight AS weight
    INNER JOIN bundle ON weight.task_rank - bundle.task_rank = 0
    WHERE weight.resample % 2 = 1
),
product AS (
    SELECT
        bundle, resample, base,
        list_dot_product(weights_1, vector_1) + list_dot_product(weights_2, vector_2)
        + list_dot_product(weights_3, vector_3) + list_dot_product(weights_4, vector_4) AS number,
        CASE
            WHEN base IS NULL THEN
                list_dot_product(weights_1, denominators_1) + list_dot_product(weights_2, denominators_2)
                + list_dot_product(weights_3, denominators_3) + list_dot_product(weights_4, denominators_4)
        END AS denominator
    FROM drawn
),
without_denominator AS (
    SELECT *, round(number / base) AS number_1 FROM product
),
without_first AS (
    SELECT *, nullif(COALESCE(denominator, number - base * number_1), 0) AS divisor, round(number_1 / base) AS number_2 FROM without_denominator
),
without_second AS (
    SELECT *, round(number_2 / base) AS number_3 FROM without_first
),
without_third AS (
    SELECT *, round(number_3 / base) AS number_4 FROM without_second
)
SELECT
    bundle, resample,
    COALESCE(number_1 - base * number_2, number) / divisor AS value_1,
    (number_2 - base * number_3) / divisor AS value_2,
    (number_3 - base * number_4) / divisor AS value_3,
    number_4 / divisor AS value_4
FROM without_third
