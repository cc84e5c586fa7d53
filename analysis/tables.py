"""How a table of a paper is declared and laid out: one SELECT over views, and where its rows go on paper.

The SELECT's rows are what csv, json and parquet hold: fractions, under the views' column names. Text formats show percent in the
paper's layout. Nothing is computed here beyond moving the decimal point: what a row lacks is `—`, and what cannot be known is `n/a`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis import configuration
from analysis.render import MISSING, TEXT, Format, Rows, inert

Row = Mapping[str, Any]
Cell = Callable[[Row], str]
Lead = Callable[[Sequence[Row]], str]
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
ATTRIBUTIONS = {"A": "text / A", "B": "image / B", "both": "both (neither alone)", "either": "either suffices"}
METRICS = {"sample_f1": "sample-averaged F1", "macro_f1": "macro-F1", "accuracy": "accuracy"}


@dataclass(frozen=True)
class PaperTable:
    """One table: its number and title in the paper, what its rows are, and its layout.

    `source` is the SELECT behind it, or a function for what stands in the configuration and in no warehouse. `section`, `rows` and
    `across` name the columns whose values head a block, a row and a group of columns; `lead` is what stands once a row, before the
    groups, and `cells` what stands under each group; both by heading. `published` is what the paper printed there: it stands beside
    our own where a row has it.
    """

    number: int
    title: str
    source: str | Callable[[], Sequence[Row]]
    rows: Sequence[str]
    cells: Mapping[str, Cell]
    section: Sequence[str] = ()
    across: Sequence[str] = ()
    lead: Mapping[str, Lead] = field(default_factory=dict)
    published: Mapping[str, Cell] = field(default_factory=dict)
    prefix: str = ""  # tells the papers' tables apart: `s` of the tool-use audit's

    @property
    def name(self) -> str:
        """What `table` is asked for."""
        return f"{self.prefix}{self.number}"


def percent(column: str, missing: str = MISSING) -> Cell:
    """A fraction as percent, to one decimal."""
    return lambda row: missing if row[column] is None else f"{100 * row[column]:.1f}"


def points(column: str) -> Cell:
    """A difference of fractions in percentage points, signed, with its interval where the row has one: `+3.8 [−11.5, +19.2]`."""

    def signed(value: float) -> str:
        return f"{100 * value:+.1f}".replace("-", "−")

    def cell(row: Row) -> str:
        if row[column] is None:
            return MISSING
        low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
        return signed(row[column]) + (f" [{signed(low)}, {signed(high)}]" if low is not None and high is not None else "")

    return cell


def spread(column: str, show: Callable[[str], Cell] = percent) -> Cell:
    """A median with the range of its cells: `72.1 (51.0–92.6)`, or `−3.7 (−8.9, +3.2)` for differences."""
    between = "–" if show is percent else ", "

    def cell(row: Row) -> str:
        if row[column] is None:
            return MISSING
        ends = {"": row[f"{column}_min"], " ": row[f"{column}_max"]}
        least, most = (show("end")({"end": value}) for value in ends.values())
        return f"{show('middle')({'middle': row[column]})} ({least}{between}{most})"

    return cell


def text(column: str) -> Cell:
    """A value as it stands, a whole number with its thousands marked."""

    def cell(row: Row) -> str:
        value = row[column]
        return MISSING if value is None else f"{value:,}" if isinstance(value, int) else str(value)

    return cell


def count(column: str) -> Lead:
    """How many, or from how few to how many where the columns of a row differ."""

    def lead(rows: Sequence[Row]) -> str:
        known = sorted({row[column] for row in rows if row[column] is not None})
        return MISSING if not known else f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,}–{known[-1]:,}"

    return lead


def first(cell: Cell) -> Lead:
    """What all columns of a row share, shown once."""
    return lambda rows: cell(rows[0])


def _named(column: str, names: Mapping[str, str]) -> Cell:
    return lambda row: names.get(row[column], str(row[column]))


_NAMES: Mapping[str, Cell] = {
    "task": _named("task", TASKS),
    "arm": lambda row: _named("arm", SETS if row.get("task") == "goldenview" else ARMS)(row),
    "thinking": lambda row: "",
    "model_id": lambda row: f"{row['model_id']} (think)" if row.get("thinking") else str(row["model_id"]),
    "attribution": _named("attribution", ATTRIBUTIONS),
    "metric": _named("metric", METRICS),
    "n_items": lambda row: f"n={row['n_items']:,}",
}
_ORDERS: Mapping[str, Callable[[], Iterable[str]]] = {
    "task": lambda: TASKS,
    "arm": lambda: ARMS,
    "arm_type": lambda: ("single", "joint"),
    "template": lambda: ("plain", "assess"),
    "wiring": lambda: ("mixed", "assess", "plain"),
    "attribution": lambda: ATTRIBUTIONS,
    "mode": lambda: ("no_call", "cwl", "calibrated", "lwp", "undiagnosed"),
    "model_id": configuration.models,
}


def label(columns: Iterable[str], row: Row) -> str:
    """How the paper writes the values of some columns."""
    return ", ".join(filter(None, (_NAMES[column](row) if column in _NAMES else str(row[column]) for column in columns)))


def rank(columns: Iterable[str], row: Row) -> tuple[Any, ...]:
    """Where a row stands along an axis: in the paper's order, or the registry's; what neither knows follows by name."""

    def place(column: str) -> tuple[int, str]:
        order = list(_ORDERS.get(column, tuple)())
        return (order.index(row[column]), "") if row[column] in order else (len(order), str(row[column]))

    return tuple(place(column) for column in columns)


def configured(rows: Sequence[Row]) -> Rows:
    """The rows of a table that stands in the configuration."""
    return Rows(list(rows[0]), [list(row.values()) for row in rows])


def render(table: PaperTable, rows: Sequence[Row], format: Format) -> str:  # noqa: A002 - the option's name
    """The table on paper: its title, then one block per section."""
    title = f"Table {table.name}. {table.title}"
    head = {Format.md: f"**{title}**\n\n", Format.latex: f"% {title}\n"}.get(format, f"{title}\n\n")
    blocks = [_heading(table, part, format) + TEXT[format](layout(table, part)) for part in sections(table, rows)]
    return head + ("\n".join(blocks) if blocks else "No rows: the study has none of what this table reads.\n")


def sections(table: PaperTable, rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each block, in order."""
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: rank(table.section, row)):
        parts.setdefault(tuple(row[column] for column in table.section), []).append(row)
    return list(parts.values())


def _heading(table: PaperTable, rows: Sequence[Row], format: Format) -> str:  # noqa: A002
    if not table.section:
        return ""
    heading = inert(label(table.section, rows[0]))
    return {Format.md: f"*{heading}*\n\n", Format.latex: f"% {heading}\n"}.get(format, f"{heading}\n")


def layout(table: PaperTable, rows: Sequence[Row]) -> Rows:
    """One block: a line per value of the row columns, and under each value across, its cells."""

    def axis(columns: Sequence[str]) -> dict[tuple[Any, ...], str]:
        ordered = sorted(rows, key=lambda row: rank(columns, row))
        return {tuple(row[column] for column in columns): label(columns, row) for row in ordered}

    lines, groups = axis(table.rows), axis(table.across)
    at = {(tuple(row[c] for c in table.rows), tuple(row[c] for c in table.across)): row for row in rows}
    printed = {head: cell for head, cell in table.published.items() if any(cell(row) != MISSING for row in rows)}
    cells = {**table.cells, **printed}
    heads = ["", *table.lead, *(f"{group} {cell}".strip() for group in groups.values() for cell in cells)]
    body = []
    for line, name in lines.items():
        found = [at.get((line, group)) for group in groups]
        lead = [lead([row for row in found if row is not None]) for lead in table.lead.values()]
        body.append([name, *lead, *(MISSING if row is None else cell(row) for row in found for cell in cells.values())])
    return Rows(heads, body)
