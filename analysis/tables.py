"""The tables of seed 000 as declared data: each is one SELECT over views, and how its rows are laid out on paper.

The SELECT's rows are what csv, json and parquet hold: fractions, under the views' column names. Text formats show percent in the
paper's layout. Nothing is computed here beyond moving the decimal point: what a row lacks is `—`, and what cannot be known is `n/a`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis import configuration
from analysis.errors import UsageError
from analysis.render import MISSING, TEXT, Format, Rows, inert

Row = Mapping[str, Any]
Cell = Callable[[Row], str]
UNKNOWABLE = "n/a"
TIDY = (Format.csv, Format.json, Format.parquet)  # the formats that hold the SELECT's rows as they are

TASKS = {
    "mmimdb": "mm-IMDb",
    "isobench/math_parity": "IsoBench parity",
    "isobench/graph_maxflow": "IsoBench max-flow",
    "goldenview": "GoldenView",
}
ARMS = {"AB": "text + image", "A": "text", "B": "image", "title": "title"}
SETS = {"AB": "both sets", "A": "Set A", "B": "Set B"}
TEMPLATES = ("plain", "assess")
ATTRIBUTIONS = {"A": "text / A", "B": "image / B", "both": "both (neither alone)", "either": "either suffices"}
METRICS = {"sample_f1": "sample-averaged F1", "macro_f1": "macro-F1", "accuracy": "accuracy"}


@dataclass(frozen=True)
class PaperTable:
    """One table: where the paper has it, the SELECT behind it, and its layout.

    `section`, `rows` and `across` name the columns whose values head a block, a row and a group of columns; `cells` are what stands
    under each group, by heading.
    """

    number: int
    title: str
    query: str
    rows: Sequence[str]
    cells: Mapping[str, Cell]
    section: Sequence[str] = ()
    across: Sequence[str] = ()
    counts: Mapping[str, str] = field(default_factory=dict)  # columns that count, shown as `n` once a row: heading → column


def percent(column: str, missing: str = MISSING) -> Cell:
    """A fraction as percent, to one decimal."""
    return lambda row: missing if row[column] is None else f"{100 * row[column]:.1f}"


def points(column: str) -> Cell:
    """A difference of fractions in percentage points, signed."""
    return lambda row: MISSING if row[column] is None else f"{100 * row[column]:+.1f}".replace("-", "−")


def spread(column: str, missing: str = MISSING) -> Cell:
    """A median with the range of its cells: `72.1 (51.0–92.6)`."""

    def cell(row: Row) -> str:
        if row[column] is None:
            return missing
        return f"{100 * row[column]:.1f} ({100 * row[f'{column}_min']:.1f}–{100 * row[f'{column}_max']:.1f})"

    return cell


def text(column: str) -> Cell:
    """A value as it stands; a whole number with thousands marked."""

    def cell(row: Row) -> str:
        value = row[column]
        if value is None:
            return MISSING
        return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)

    return cell


def _named(column: str, names: Mapping[str, str]) -> Callable[[Row], str]:
    return lambda row: names.get(row[column], str(row[column]))


_NAMES: Mapping[str, Callable[[Row], str]] = {
    "task": _named("task", TASKS),
    "arm": lambda row: _named("arm", SETS if row.get("task") == "goldenview" else ARMS)(row),
    "thinking": lambda row: "",
    "model_id": lambda row: f"{row['model_id']} (think)" if row.get("thinking") else str(row["model_id"]),
    "attribution": _named("attribution", ATTRIBUTIONS),
    "metric": _named("metric", METRICS),
    "n_items": lambda row: f"n={row['n_items']:,}",
}


def _label(columns: Iterable[str], row: Row) -> str:
    """How the paper writes the values of some columns."""
    return ", ".join(filter(None, (_NAMES[column](row) if column in _NAMES else str(row[column]) for column in columns)))


def _rank(columns: Iterable[str], row: Row) -> tuple[Any, ...]:
    """Where a row stands along an axis: in the paper's order, or the registry's; what neither knows follows by name."""
    orders: dict[str, Sequence[str]] = {
        "task": list(TASKS),
        "arm": list(ARMS),
        "template": TEMPLATES,
        "attribution": list(ATTRIBUTIONS),
        "model_id": list(configuration.models()),
    }

    def place(column: str) -> tuple[Any, ...]:
        value = row[column]
        order = orders.get(column, ())
        return (order.index(value), "") if value in order else (len(order), str(value))

    return tuple(place(column) for column in columns)


def require(number: int) -> PaperTable:
    """The table of that number; UsageError names those there are."""
    if number not in TABLES:
        raise UsageError(f"there is no table {number}: there are {', '.join(map(str, sorted(TABLES)))}")
    return TABLES[number]


def render(table: PaperTable, rows: Sequence[Row], format: Format) -> str:  # noqa: A002 - the option's name
    """The table on paper: its title, then one block per section."""
    blocks = [f"{_section_heading(table, part, format)}{TEXT[format](layout(table, part))}" for part in _sections(table, rows)]
    title = f"Table {table.number}. {table.title}"
    head = {Format.md: f"**{title}**\n\n", Format.latex: f"% {title}\n"}.get(format, f"{title}\n\n")
    return head + ("\n".join(blocks) if blocks else "No rows: the study has none of what this table reads.\n")


def _sections(table: PaperTable, rows: Sequence[Row]) -> list[list[Row]]:
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: _rank(table.section, row)):
        parts.setdefault(tuple(row[column] for column in table.section), []).append(row)
    return list(parts.values())


def _section_heading(table: PaperTable, rows: Sequence[Row], format: Format) -> str:  # noqa: A002
    if not table.section:
        return ""
    heading = inert(_label(table.section, rows[0]))
    return {Format.md: f"*{heading}*\n\n", Format.latex: f"% {heading}\n"}.get(format, f"{heading}\n")


def layout(table: PaperTable, rows: Sequence[Row]) -> Rows:
    """One block: a line per value of the row columns, and under each value across, its cells."""

    def axis(columns: Sequence[str]) -> dict[tuple[Any, ...], str]:
        ordered = sorted(rows, key=lambda row: _rank(columns, row))
        return {tuple(row[column] for column in columns): _label(columns, row) for row in ordered}

    lines, groups = axis(table.rows), axis(table.across)
    at = {(tuple(row[c] for c in table.rows), tuple(row[c] for c in table.across)): row for row in rows}
    heads = ["", *table.counts, *(f"{group} {cell}".strip() for group in groups.values() for cell in table.cells)]
    body = []
    for line, label in lines.items():
        found = [at.get((line, group)) for group in groups]
        counts = [_count([row[column] for row in found if row is not None]) for column in table.counts.values()]
        body.append([label, *counts, *(MISSING if row is None else cell(row) for row in found for cell in table.cells.values())])
    return Rows(heads, body)


def _count(values: Sequence[int | None]) -> str:
    """How many, or from how few to how many where the columns of a row differ."""
    known = sorted({value for value in values if value is not None})
    return MISSING if not known else f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,}–{known[-1]:,}"


_PERFORMANCE = """
SELECT task, metric, n_attempted, model_id, thinking, arm, template, score, n_correct, accuracy
FROM modality.task_performance
WHERE NOT thinking AND task {tasks}
ORDER BY task, model_id, arm, template
"""


def _performance(number: int, title: str, tasks: str) -> PaperTable:
    return PaperTable(
        number,
        title,
        _PERFORMANCE.format(tasks=tasks),
        section=("task", "metric"),
        rows=("model_id",),
        across=("arm", "template"),
        counts={"n": "n_attempted"},
        cells={"": percent("score")},
    )


TABLES: dict[int, PaperTable] = {
    table.number: table
    for table in [
        PaperTable(
            2,
            "Stated against executed modality requirements, pooled over models (n: items x models; %)",
            """
            SELECT
                task, attribution, max(n_items) AS n_items,
                max(share) FILTER (WHERE side = 'stated') AS stated,
                max(share) FILTER (WHERE side = 'executed') AS executed,
                max(share) FILTER (WHERE side = 'executed') - max(share) FILTER (WHERE side = 'stated') AS delta
            FROM modality.retrospective
            WHERE model_id = 'pooled' AND NOT thinking
            GROUP BY task, attribution
            ORDER BY task, attribution
            """,
            rows=("attribution",),
            across=("task", "n_items"),
            cells={"stated": percent("stated"), "exec.": percent("executed"), "Δ": points("delta")},
        ),
        PaperTable(
            3,
            "Predicted against executed effect of restoring a missing modality: median (range) over cells",
            """
            SELECT
                task, n_cells, n_empty_cells, n_items, predicted_change, predicted_change_min, predicted_change_max,
                executed_change, executed_change_min, executed_change_max, gap, gap_min, gap_max, n_above, n_on, n_below
            FROM modality.prospective_task
            WHERE NOT thinking
            ORDER BY task
            """,
            rows=("task",),
            counts={"cells": "n_cells", "n": "n_items"},
            cells={
                "Predicted change (%)": spread("predicted_change"),
                "Executed change (%)": spread("executed_change"),
                "Gap (pp)": points("gap"),
                "cells above, on, below the diagonal": lambda row: f"{row['n_above']}, {row['n_on']}, {row['n_below']}",
            },
        ),
        PaperTable(
            4,
            "Self-reported insufficiency against executed change: median (range) over cells",
            """
            SELECT
                task, n_cells, n_empty_cells, n_items, n_cells_precision, n_cells_recall,
                claimed_insufficient, claimed_insufficient_min, claimed_insufficient_max,
                precision, precision_min, precision_max, recall, recall_min, recall_max
            FROM modality.sufficiency_task
            WHERE NOT thinking
            ORDER BY task
            """,
            rows=("task",),
            counts={"cells": "n_cells", "n": "n_items"},
            cells={
                "Claimed insufficient (%)": spread("claimed_insufficient"),
                "Precision: P(changed | insuff.) (%)": spread("precision"),
                "Recall: P(insuff. | changed) (%)": spread("recall"),
            },
        ),
        _performance(5, "mm-IMDb task performance by model and arm, over all attempted rows (%)", "= 'mmimdb'"),
        _performance(6, "IsoBench task performance by model and arm, over all attempted rows (%)", "LIKE 'isobench/%'"),
        _performance(7, "GoldenView task performance by model and arm, over all attempted rows (%)", "= 'goldenview'"),
        PaperTable(
            14,
            "Usable rows, as a percentage of rows attempted (plain: answer alone; assess: answer and self-report)",
            """
            SELECT template, task, arm, thinking, model_id, n_attempted, n_usable, n_usable::DOUBLE / nullif(n_attempted, 0) AS usable
            FROM attrition.condition
            ORDER BY template, task, arm, thinking, model_id
            """,
            section=("template",),
            rows=("task", "arm"),
            across=("thinking", "model_id"),
            counts={"n": "n_attempted"},
            cells={"": percent("usable")},
        ),
        PaperTable(
            15,
            "Where the self-report rows go: shares of rows attempted, and parse failure of rows completed (%)",
            """
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
            ORDER BY task, thinking, model_id
            """,
            section=("task",),
            rows=("thinking", "model_id"),
            counts={"n": "n_attempted"},
            cells={
                "Truncated": percent("truncated"),
                "Error": percent("provider_error"),
                "Repetition": percent("repetition", UNKNOWABLE),
                "Unparsed A": percent("unparsed_answer"),
                "Unparsed S": percent("unparsed_report"),
                "Usable": percent("usable"),
                "Parse fail of completed": percent("parse_failure_of_completed"),
            },
        ),
    ]
}
