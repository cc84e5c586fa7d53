"""The figures of seed 000, declared: what each reads and how it is drawn. Like its tables, they show thinking off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from analysis import configuration
from analysis.figures import (
    BAND,
    GREY,
    TINY,
    Mark,
    PaperFigure,
    above,
    before,
    beside,
    estimate,
    grouped,
    input_shown,
    key,
    legend,
    name,
    open_,
    panels,
    percent,
    task_marks,
    title,
)
from analysis.tables import TASKS, Row, rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

PREDICTED, EXECUTED = Mark("o", "#0072B2", size=4), Mark("D", "#D55E00", filled=False, size=4)
PRECISION, RECALL = Mark("s", "#00704F", size=4), Mark("o", "#CC5C97", filled=False, size=4)


def _cells(figure: Figure, rows: Sequence[Row]) -> None:
    """Fig. 2: a panel a model, a point a cell, its shape by task, filled where the text (or Set A) was shown."""
    tasks = task_marks(rows)
    models = list(grouped(("model_id",), rows))
    every = panels(figure, len(models), 4, (1.85, 2.0), ("predicted change (%)", "executed change (%)"))
    for axes, cells in zip(every, models, strict=True):
        axes.axline((0, 0), slope=1, color=GREY, linewidth=0.7, linestyle="--")
        for row in cells:
            _cell(axes, row, tasks[row["task"]])
        axes.set_title(title(name("model_id", cells[0])))
        axes.set_aspect("equal")
        percent(axes, "x", "y")
        counts = [key(tasks[part[0]["task"]], _n_by_input(part)) for part in grouped(("task",), cells)]
        tight = {"handletextpad": 0, "labelspacing": 0.2, "borderpad": 0}
        axes.legend(handles=counts, loc="lower right", title="n", title_fontsize=TINY, fontsize=TINY, **tight)
    shapes = [key(tasks[part[0]["task"]], name("task", part[0])) for part in grouped(("task",), rows)]
    sides = [key(Mark("o", "black"), "text (Set A) shown"), key(Mark("o", "black", filled=False), "image (Set B) shown")]
    legend(figure, [*shapes, *sides])


def _cell(axes: Axes, row: Row, mark: Mark) -> None:
    if row["n_items"]:
        mark = mark if row["arm"] == "A" else open_(mark)
        axes.plot(row["predicted_change"], row["executed_change"], linestyle="none", clip_on=False, zorder=3, **mark.style)


def _n_by_input(cells: Sequence[Row]) -> str:
    return " · ".join(f"{input_shown(row)} {row['n_items']:,}" for row in sorted(cells, key=lambda row: str(row["arm"])))


Beside = Callable[[Row], str]


def _lines(figure: Figure, blocks: Sequence[tuple[str, Sequence[Row]]], columns: dict[str, Mark], counts: Beside) -> None:
    """A column of panels a task; in each block two lines a model, one for each input shown; on a line, two estimates and their n."""
    tasks = [part[0]["task"] for part in grouped(("task",), [row for _, rows in blocks for row in rows])]
    heights = [len(list(grouped(("model_id",), rows))) for _, rows in blocks]
    figure.set_size_inches(1.45 * len(tasks) + 1.9, 0.36 * sum(heights) + 0.45 * len(blocks) + 0.9)
    figure.set_layout_engine("constrained", w_pad=0.09)  # so that a count stands by its own panel
    every = figure.subplots(len(blocks), len(tasks), squeeze=False, sharex=True, height_ratios=heights)
    for place, (axes_of_block, (heading, rows)) in enumerate(zip(every, blocks, strict=True)):
        for axes, task in zip(axes_of_block, tasks, strict=True):
            _panel(axes, rows, task, columns, counts, named=axes is axes_of_block[0])
            if place == 0:
                axes.set_title(name("task", {"task": task}))
            above(axes, "n")
        before(axes_of_block[0], -0.95, heading, fontweight="bold")
    for axes in every[-1]:
        axes.set_xlabel("%")


def _panel(axes: Axes, rows: Sequence[Row], task: str, columns: dict[str, Mark], counts: Beside, named: bool) -> None:
    ticks = {}
    models = list(grouped(("model_id",), rows))
    for place, cells in enumerate(models):
        top = 2.4 * place
        if place % 2 == 0:
            axes.axhspan(top - 0.7, top + 1.7, color=BAND, linewidth=0, zorder=0)
        for row in (row for row in cells if row["task"] == task):
            at = top + (row["arm"] != "A")
            ticks[at] = input_shown(row)
            _line(axes, row, at, columns)
            beside(axes, at, counts(row))
        if named:
            before(axes, top + 0.5, name("model_id", cells[0]))
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.set_ylim(2.4 * len(models) - 0.7, -0.7)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="0.85", linewidth=0.5)
    percent(axes, "x")


def _line(axes: Axes, row: Row, at: float, columns: dict[str, Mark]) -> None:
    """The estimates of one cell, joined, each a little off the line so that no whisker hides another."""
    known = {column: row[column] for column in columns if row[column] is not None}
    places = dict(zip(columns, (at - 0.15, at + 0.15), strict=True))
    axes.plot(list(known.values()), [places[column] for column in known], color=GREY, linewidth=0.6)
    for column, mark in columns.items():
        estimate(axes, row, column, places[column], mark)


def _rates(figure: Figure, rows: Sequence[Row]) -> None:
    """Fig. 5: predicted and executed change, two lines a model."""
    _lines(figure, [("", rows)], {"predicted_change": PREDICTED, "executed_change": EXECUTED}, lambda row: f"{row['n_items']:,}")
    legend(figure, [key(PREDICTED, "predicted change"), key(EXECUTED, "executed change"), *_letters(rows)])


def _sufficiency(figure: Figure, rows: Sequence[Row]) -> None:
    """Fig. 3: precision and recall of the insufficient claim, a block a family."""
    blocks: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: rank(("model_id",), row)):
        blocks.setdefault(str(configuration.models().get(row["model_id"], {}).get("family", "other models")), []).append(row)
    _lines(
        figure,
        list(blocks.items()),
        {"precision": PRECISION, "recall": RECALL},
        lambda row: f"{row['n_claimed_insufficient']:,} | {row['n_executed_changed']:,}",
    )
    legend(figure, [key(PRECISION, "precision (first n: claimed)"), key(RECALL, "recall (second n: changed)"), *_letters(rows)])


def _letters(rows: Sequence[Row]) -> list[Line2D]:
    """What the letters on the lines mean, as entries without a mark."""
    blank = Mark("", "white")
    tasks = {row["task"] for row in rows}
    texts = ["T: text shown, I: image shown"] * bool(tasks - {"goldenview"}) + ["A, B: the camera set shown"] * ("goldenview" in tasks)
    return [key(blank, text) for text in texts]


def _deltas(figure: Figure, rows: Sequence[Row]) -> None:
    """Fig. 4: two differences a model, with their intervals and what they are over."""
    models = sorted(rows, key=lambda row: rank(("model_id",), row))
    figure.set_size_inches(6.6, 0.3 * len(models) + 1.2)
    mark = Mark("o", "black", size=4.5)
    sides: list[tuple[str, str, Beside]] = [
        ("accuracy_delta", "Accuracy delta (pp):\nset with the evidence − other set", lambda row: f"{row['n_scored']:,}"),
        ("alignment_delta", "Alignment delta (pp):\nstated − answer reproduction", lambda row: f"{row['n_included']:,}"),
    ]
    for axes, (column, heading, count) in zip(figure.subplots(1, 2, sharey=True), sides, strict=True):
        axes.axvline(0, color=GREY, linewidth=0.7, linestyle="--")
        axes.set_title(heading)
        above(axes, "n")
        for at, row in enumerate(models):
            estimate(axes, row, column, at, mark)
            beside(axes, at, count(row))
        axes.grid(axis="x", color="0.85", linewidth=0.5)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+.0f}".replace("-", "−").replace("+0", "0"))
    axes.set_yticks(range(len(models)), [name("model_id", row) for row in models])
    axes.set_ylim(len(models) - 0.5, -0.5)


CELLS = "SELECT * FROM modality.prospective_cell WHERE NOT thinking ORDER BY task, model_id, arm"
ASKED = "self-reports (template assess, arms A and B) and answers to both inputs together, thinking off"

FIGURES: dict[str, PaperFigure] = {
    figure.number: figure
    for figure in [
        PaperFigure(
            "2",
            "Predicted against executed change, by model (a point: a task and input)",
            CELLS,
            ("predicted_change", "executed_change"),
            ASKED,
            _cells,
        ),
        PaperFigure(
            "3",
            "Precision and recall of the insufficient claim, by family of models",
            "SELECT * FROM modality.sufficiency_cell WHERE NOT thinking ORDER BY task, model_id, arm",
            ("precision", "recall"),
            f"{ASKED}, in which some input is called insufficient or some answer changes",
            _sufficiency,
        ),
        PaperFigure(
            "4",
            "Verified evidence: what it changes, and how self-reports follow it",
            "SELECT * FROM modality.grounding WHERE NOT thinking ORDER BY model_id",
            ("accuracy_delta", "alignment_delta"),
            f"items whose evidence is annotated ({TASKS['goldenview']}), answered thinking off",
            _deltas,
        ),
        PaperFigure(
            "5",
            "Predicted against executed change rate, by model and input shown",
            CELLS,
            ("predicted_change", "executed_change"),
            ASKED,
            _rates,
        ),
    ]
}
