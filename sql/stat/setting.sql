-- grain: the one row of settings that every interval of a call shares.
-- columns: resamples, seed, confidence, z (standard normal quantile of the upper end), min_clusters
-- decided: z by Acklam's rational approximation (relative error below 1.2e-9), so that no engine needs an inverse normal function.
WITH setting AS (
    SELECT
        CAST(max(value) FILTER (WHERE name = 'stat.resamples') AS BIGINT) AS resamples,
        CAST(max(value) FILTER (WHERE name = 'stat.seed') AS BIGINT) AS seed,
        CAST(max(value) FILTER (WHERE name = 'stat.confidence') AS DOUBLE) AS confidence,
        CAST(max(value) FILTER (WHERE name = 'stat.min_clusters') AS BIGINT) AS min_clusters
    FROM stat.parameter
),
scaled AS (
    SELECT *, confidence / 2 AS q, (confidence / 2) * (confidence / 2) AS r, sqrt(-2 * ln((1 - confidence) / 2)) AS t FROM setting
)
SELECT
    resamples, seed, confidence, min_clusters,
    CASE
        WHEN q <= 0.47575 THEN
            (((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.3577518672690) * r - 30.66479806614716) * r + 2.506628277459239) * q
            / (((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r - 13.28068155288572) * r + 1)
        ELSE
            -(((((-0.007784894002430293 * t - 0.3223964580411365) * t - 2.400758277161838) * t - 2.549732539343734) * t + 4.374664141464968) * t + 2.938163982698783)
            / ((((0.007784695709041462 * t + 0.3224671290700398) * t + 2.445134137142996) * t + 3.754408661907416) * t + 1)
    END AS z
FROM scaled
