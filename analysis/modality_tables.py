"""The tables of seed 000, declared: what each reads and how it is laid out."""

from __future__ import annotations

from collections.abc import Sequence

from analysis import configuration
from analysis.errors import UsageError
from analysis.tables import UNKNOWABLE, PaperTable, Row, count, first, percent, points, spread, text


def require(number: int) -> PaperTable:
    """The table of that number; UsageError names those there are."""
    if number not in TABLES:
        raise UsageError(f"there is no table {number}: there are {', '.join(map(str, TABLES))}")
    return TABLES[number]


# The paper's pooled figures stand beside ours where the study asks any of the paper's models.
_COMPARABLE = "EXISTS (SELECT 1 FROM arm.request AS asked INNER JOIN published.performance AS them ON asked.model_id = them.model_id)"


def _performance(number: int, title: str, tasks: str) -> PaperTable:
    return PaperTable(
        number,
        title,
        f"""
        SELECT ours.*, published.score AS published_score
        FROM modality.task_performance AS ours
        LEFT JOIN published.performance AS published
            ON ours.task = published.task AND ours.model_id = published.model_id
            AND ours.arm = published.arm AND ours.template = published.template
        WHERE NOT ours.thinking AND ours.task {tasks}
        ORDER BY ours.task, ours.model_id, ours.arm, ours.template
        """,
        section=("task", "metric"),
        rows=("model_id",),
        across=("arm", "template"),
        lead={"n": count("n_attempted")},
        cells={"": percent("score")},
        published={"paper": percent("published_score")},
    )


RETROSPECTIVE = PaperTable(
    2,
    "Stated against executed modality requirements, pooled over models (n: items × models; %)",
    f"""
    WITH ours AS (
        SELECT
            task, attribution, max(n_items) AS n_items,
            max(share) FILTER (WHERE side = 'stated') AS stated,
            max(share) FILTER (WHERE side = 'executed') AS executed,
            max(share) FILTER (WHERE side = 'executed') - max(share) FILTER (WHERE side = 'stated') AS delta
        FROM modality.retrospective
        WHERE model_id = 'pooled' AND NOT thinking
        GROUP BY task, attribution
    )
    SELECT
        ours.*, published.stated AS published_stated, published.executed AS published_executed, published.delta AS published_delta
    FROM ours
    LEFT JOIN published.retrospective AS published
        ON ours.task = published.task AND ours.attribution = published.attribution AND {_COMPARABLE}
    ORDER BY ours.task, ours.attribution
    """,
    rows=("attribution",),
    across=("task", "n_items"),
    cells={"stated": percent("stated"), "exec.": percent("executed"), "Δ": points("delta")},
    published={
        "paper stated": percent("published_stated"),
        "paper exec.": percent("published_executed"),
        "paper Δ": points("published_delta"),
    },
)
PROSPECTIVE = PaperTable(
    3,
    "Predicted against executed effect of restoring a missing modality: median (range) over cells",
    f"""
    SELECT
        ours.*,
        published.predicted_change AS published_predicted_change, published.predicted_change_min AS published_predicted_change_min,
        published.predicted_change_max AS published_predicted_change_max, published.executed_change AS published_executed_change,
        published.executed_change_min AS published_executed_change_min, published.executed_change_max AS published_executed_change_max,
        published.gap AS published_gap
    FROM modality.prospective_task AS ours
    LEFT JOIN published.prospective AS published ON ours.task = published.task AND {_COMPARABLE}
    WHERE NOT ours.thinking
    ORDER BY ours.task
    """,
    rows=("task",),
    lead={"cells": count("n_cells"), "n": count("n_items")},
    cells={
        "Predicted change (%)": spread("predicted_change"),
        "Executed change (%)": spread("executed_change"),
        "Gap (pp)": points("gap"),
        "cells above, on, below the diagonal": lambda row: f"{row['n_above']}, {row['n_on']}, {row['n_below']}",
    },
    published={
        "paper predicted": spread("published_predicted_change"),
        "paper executed": spread("published_executed_change"),
        "paper gap": points("published_gap"),
    },
)
SUFFICIENCY = PaperTable(
    4,
    "Self-reported insufficiency against executed change: median (range) over cells",
    f"""
    SELECT
        ours.*,
        published.claimed_insufficient AS published_claimed_insufficient,
        published.claimed_insufficient_min AS published_claimed_insufficient_min,
        published.claimed_insufficient_max AS published_claimed_insufficient_max, published.precision AS published_precision,
        published.precision_min AS published_precision_min, published.precision_max AS published_precision_max,
        published.recall AS published_recall, published.recall_min AS published_recall_min, published.recall_max AS published_recall_max
    FROM modality.sufficiency_task AS ours
    LEFT JOIN published.sufficiency AS published ON ours.task = published.task AND {_COMPARABLE}
    WHERE NOT ours.thinking
    ORDER BY ours.task
    """,
    rows=("task",),
    lead={"cells": count("n_cells"), "n": count("n_items")},
    cells={
        "Claimed insufficient (%)": spread("claimed_insufficient"),
        "Precision: P(changed | insuff.) (%)": spread("precision"),
        "Recall: P(insuff. | changed) (%)": spread("recall"),
    },
    published={
        "paper claimed": spread("published_claimed_insufficient"),
        "paper precision": spread("published_precision"),
        "paper recall": spread("published_recall"),
    },
)
PROSPECTIVE_WIRING = PaperTable(
    8,
    "The prospective gap under either template, on the common item set: median (range) over cells (%)",
    "SELECT * FROM modality.prospective_wiring_task WHERE NOT thinking AND task <> 'all' ORDER BY task, wiring",
    rows=("task",),
    across=("wiring",),
    lead={"cells": count("n_cells"), "Predicted": first(percent("predicted_change"))},
    cells={"": spread("executed_change")},
)
RETROSPECTIVE_WIRING = PaperTable(
    9,
    "Stated attribution against attribution executed under each template, pooled over models on a common item set (%)",
    """
    SELECT
        task, attribution, max(n_items) AS n_items, max(stated_share) AS stated,
        max(share) FILTER (WHERE wiring = 'plain') AS plain,
        max(share) FILTER (WHERE wiring = 'assess') AS assess
    FROM modality.retrospective_wiring
    WHERE model_id = 'pooled' AND NOT thinking
    GROUP BY task, attribution
    ORDER BY task, attribution
    """,
    rows=("attribution",),
    across=("task", "n_items"),
    cells={"stated": percent("stated"), "plain": percent("plain"), "assess": percent("assess")},
)
ASSESSMENT_COST = PaperTable(
    10,
    "What the assessment prompt costs, by task and arm type: assess − plain",
    "SELECT * FROM modality.assessment_cost_task WHERE NOT thinking ORDER BY task, arm_type",
    rows=("task", "arm_type"),
    lead={"cells": count("n_cells")},
    cells={
        "Δ (pp): median (range)": spread("cost", points),
        "CI < 0": text("n_lower"),
        "CI > 0": text("n_higher"),
        "Answer moved (%): median": percent("answer_moved"),
    },
)
GROUNDING = PaperTable(
    11,
    "Attribution against annotated evidence, by model (S: stated, E: executed; %)",
    "SELECT * FROM modality.grounding WHERE NOT thinking ORDER BY model_id",
    rows=("model_id",),
    cells={
        "Included": lambda row: f"{row['n_included']}/{row['n_annotated']}",
        "Alignment S": percent("alignment_stated"),
        "Alignment E": percent("alignment_executed"),
        "Δ alignment S − E (pp)": points("alignment_delta"),
        "Single set S": percent("single_stated"),
        "Single set E": percent("single_executed"),
        "Golden | single S": percent("golden_given_single_stated"),
        "Golden | single E": percent("golden_given_single_executed"),
    },
)
TASK_ARMS = PaperTable(
    12,
    "The task arms: where the right sufficiency answer comes from, and how often two answers agree by chance",
    """
    WITH declared AS (
        SELECT task, inputs, regime, metric
        FROM (VALUES
            ('mmimdb', 'plot, poster', 'mixed', 'sample_f1'),
            ('isobench/math_parity', 'LaTeX, graph', 'redundant', 'macro_f1'),
            ('isobench/graph_maxflow', 'matrix, drawing', 'redundant', 'accuracy'),
            ('goldenview', 'Set A, Set B', 'unique', 'accuracy')
        ) AS declared (task, inputs, regime, metric)
    ),
    asked AS (
        SELECT task, count(DISTINCT item_id) AS n_items, count(DISTINCT cluster_id) AS n_clusters
        FROM arm.request
        WHERE arm = 'AB'
        GROUP BY task
    ),
    floor AS (
        SELECT task, median(chance_labels) AS chance_labels, median(chance_answers) AS chance_answers
        FROM modality.chance_floor
        WHERE NOT thinking AND arm = 'AB' AND template = 'plain'
        GROUP BY task
    )
    SELECT
        declared.task, declared.inputs, declared.regime, declared.metric, floor.chance_labels, floor.chance_answers,
        asked.n_items, asked.n_clusters
    FROM declared
    INNER JOIN asked ON declared.task = asked.task
    LEFT JOIN floor ON declared.task = floor.task
    ORDER BY declared.task
    """,
    rows=("task",),
    cells={
        "Two inputs": text("inputs"),
        "Regime": text("regime"),
        "Task metric": text("metric"),
        "Chance (labels, %)": percent("chance_labels"),
        "Chance (answers, %)": percent("chance_answers"),
        "Items": text("n_items"),
        "Clusters": text("n_clusters"),
    },
)
PROMPTS = PaperTable(
    13,
    "The prompts, by task, inputs supplied and template (the first digits of each text's SHA-256)",
    configuration.prompts,
    rows=("task", "arm"),
    across=("template",),
    cells={"": text("prompt")},
)
USABLE = PaperTable(
    14,
    "Usable rows, as a percentage of rows attempted (plain: answer alone; assess: answer and self-report)",
    """
    SELECT
        ours.template, ours.task, ours.arm, ours.thinking, ours.model_id, ours.n_attempted, ours.n_usable,
        ours.n_usable::DOUBLE / nullif(ours.n_attempted, 0) AS usable, published.usable AS published_usable
    FROM attrition.condition AS ours
    LEFT JOIN published.usable AS published
        ON ours.task = published.task AND ours.arm = published.arm AND ours.template = published.template
        AND ours.model_id = published.model_id AND ours.thinking = published.thinking
    ORDER BY ours.template, ours.task, ours.arm, ours.thinking, ours.model_id
    """,
    section=("template",),
    rows=("task", "arm"),
    across=("thinking", "model_id"),
    lead={"n": count("n_attempted")},
    cells={"": percent("usable")},
    published={"paper": percent("published_usable")},
)
ATTRITION = PaperTable(
    15,
    "Where the self-report rows go: shares of rows attempted, and parse failure of rows completed (%)",
    """
    WITH ours AS (
        SELECT
            task, thinking, model_id, sum(n_attempted)::BIGINT AS n_attempted,
            sum(n_truncated)::DOUBLE / nullif(sum(n_attempted), 0) AS truncated,
            sum(n_provider_error)::DOUBLE / nullif(sum(n_attempted), 0) AS provider_error,
            sum(n_repetition)::DOUBLE / nullif(sum(n_attempted), 0) AS repetition,
            sum(n_unparsed_answer)::DOUBLE / nullif(sum(n_attempted), 0) AS unparsed_answer,
            sum(n_unparsed_report)::DOUBLE / nullif(sum(n_attempted), 0) AS unparsed_report,
            sum(n_usable)::DOUBLE / nullif(sum(n_attempted), 0) AS usable,
            (sum(n_completed) - sum(n_usable))::DOUBLE / nullif(sum(n_completed), 0) AS parse_failure_of_completed
        FROM attrition.condition
        WHERE template = 'assess'
        GROUP BY task, thinking, model_id
    )
    SELECT
        ours.*, published.truncated AS published_truncated, published.provider_error AS published_provider_error,
        published.repetition AS published_repetition, published.unparsed_answer AS published_unparsed_answer,
        published.unparsed_report AS published_unparsed_report, published.usable AS published_usable,
        published.parse_failure_of_completed AS published_parse_failure_of_completed
    FROM ours
    LEFT JOIN published.attrition AS published
        ON ours.task = published.task AND ours.model_id = published.model_id AND ours.thinking = published.thinking
    ORDER BY ours.task, ours.thinking, ours.model_id
    """,
    section=("task",),
    rows=("thinking", "model_id"),
    lead={"n": count("n_attempted")},
    cells={
        "Truncated": percent("truncated"),
        "Error": percent("provider_error"),
        "Repetition": percent("repetition", UNKNOWABLE),
        "Unparsed A": percent("unparsed_answer"),
        "Unparsed S": percent("unparsed_report"),
        "Usable": percent("usable"),
        "Parse fail of completed": percent("parse_failure_of_completed"),
    },
    published={
        "paper truncated": percent("published_truncated"),
        "paper error": percent("published_provider_error"),
        "paper repetition": percent("published_repetition"),
        "paper unparsed A": percent("published_unparsed_answer"),
        "paper unparsed S": percent("published_unparsed_report"),
        "paper usable": percent("published_usable"),
        "paper parse fail": percent("published_parse_failure_of_completed"),
    },
)


def _registry() -> Sequence[Row]:
    fields = ("identifier", "size", "architecture", "serving", "provider", "precision")
    return [
        {"model_id": model_id, **{name: entry.get(name) for name in fields}, "identifier": entry.get("identifier", model_id)}
        for model_id, entry in configuration.models().items()
        if entry["serving"] != "simulated" and not entry.keys() & {"interface", "judge"}
    ]


MODELS = PaperTable(
    16,
    "The models: how each is served, and in which precision",
    _registry,
    rows=("model_id",),
    cells={
        "Identifier": text("identifier"),
        "Size": text("size"),
        "Architecture": text("architecture"),
        "Serving": lambda row: row["provider"] or f"local ({row['serving']})",
        "Precision": text("precision"),
    },
)

TABLES: dict[int, PaperTable] = {
    table.number: table
    for table in [
        RETROSPECTIVE,
        PROSPECTIVE,
        SUFFICIENCY,
        _performance(5, "mm-IMDb task performance by model and arm, over all attempted rows (%)", "= 'mmimdb'"),
        _performance(6, "IsoBench task performance by model and arm, over all attempted rows (%)", "LIKE 'isobench/%'"),
        _performance(7, "GoldenView task performance by model and arm, over all attempted rows (%)", "= 'goldenview'"),
        PROSPECTIVE_WIRING,
        RETROSPECTIVE_WIRING,
        ASSESSMENT_COST,
        GROUNDING,
        TASK_ARMS,
        PROMPTS,
        USABLE,
        ATTRITION,
        MODELS,
    ]
}
