"""How a figure of a paper is declared and drawn: one SELECT over views, and the marks that its rows become.

The SELECT's rows are what the data formats hold. Nothing is computed here beyond placing them: every mark stands where a view says.
Marks differ in shape, filling or line before they differ in colour, so that a figure reads in black and white. The bytes of a figure are a
function of its rows and of matplotlib's version.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import cycle
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

from analysis.errors import DataError, UsageError
from analysis.render import inert
from analysis.tables import TASKS, Row, label, rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Line = Literal["-", "--", "none"]

LONGEST = 34  # characters of a model's name; the data behind a figure has all of them
SMALL, TINY = 7.0, 6.0  # points
GREY, BAND = "0.45", "0.94"
PERCENT = (0.0, 0.25, 0.5, 0.75, 1.0)

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "savefig.dpi": 200,
    "svg.fonttype": "none",  # text stays text: it can be searched, and read aloud
    "svg.hashsalt": "vlmaudit",
    "text.parse_math": False,  # a `$` in a model's name is a dollar sign
}


class FigureFormat(StrEnum):
    """How a figure is written: as a picture, or as the rows behind it."""

    svg = "svg"
    png = "png"
    csv = "csv"
    json = "json"
    table = "table"
    md = "md"
    latex = "latex"
    parquet = "parquet"


PICTURES = (FigureFormat.svg, FigureFormat.png)


@dataclass(frozen=True)
class PaperFigure:
    """One figure: its number and title in the paper, the SELECT behind it, and what draws its rows.

    `values` names the columns of which a row needs one to show anything, and `needs` what a study must hold for such rows: an empty
    figure says so.
    """

    number: str
    title: str
    source: str
    values: Sequence[str]
    needs: str
    draw: Callable[[Figure, Sequence[Row]], None]

    def shows(self, rows: Iterable[Row]) -> bool:
        """Whether there is anything to draw."""
        return any(row[column] is not None for row in rows for column in self.values)


def format_of(out: Path | None) -> FigureFormat:
    """The format that a file's ending asks for; SVG where no file is named."""
    ending = "svg" if out is None else out.suffix[1:].lower()
    if ending not in set(FigureFormat):
        raise UsageError(f"--out {out}: name a file that ends in .svg, .png, .csv or .json, or say --format")
    return FigureFormat(ending)


def pictures(figure: PaperFigure, rows: Sequence[Row], formats: Iterable[FigureFormat] = PICTURES) -> dict[FigureFormat, bytes]:
    """The figure as SVG, PNG or both; DataError where no row has a value to draw."""
    if not figure.shows(rows):
        held = f"none of its {len(rows):,} rows has a value" if rows else "it has no rows"
        raise DataError(f"figure {figure.number} is empty, {held}: it needs {figure.needs}")
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", STYLE], after_reset=True), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a viewer of the SVG may have it
        paper = Figure(layout="constrained")
        figure.draw(paper, rows)
        paper.suptitle(fill(f"Figure {figure.number}. {figure.title}", int(14.5 * paper.get_figwidth())), fontsize=8.5)
        paper.draw_without_rendering()  # lays out, once for all formats
        paper.set_layout_engine("none")
        return {each: _saved(paper, each) for each in formats}


def _saved(paper: Figure, format: FigureFormat) -> bytes:  # noqa: A002 - the option's name
    written = io.BytesIO()
    unstamped = {"Creator": None, "Date": None} if format is FigureFormat.svg else {"Software": None}
    paper.savefig(written, format=format.value, metadata=unstamped)
    return written.getvalue()


# What a row is called, and in which order it stands.


def shown(text: str) -> str:
    """A name as it stands in a figure: nothing in it acts, and the middle of a long one is left out."""
    safe = inert(text)
    return safe if len(safe) <= LONGEST else f"{safe[: LONGEST // 2]}…{safe[-(LONGEST // 2 - 1) :]}"


def name(column: str, row: Row) -> str:
    """What the paper calls a row's task or model."""
    return shown(label((column,), row))


def title(text: str, wide: int = 26) -> str:
    """A name over a panel, broken where it is wider."""
    return fill(text, wide)


def grouped(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows that share some columns' values, in the paper's order."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: rank(columns, row)):
        groups.setdefault(tuple(row[column] for column in columns), []).append(row)
    yield from groups.values()


def input_shown(row: Row) -> str:
    """The letter of the input that a cell was given: T the text, I the image; A and B the camera sets of GoldenView."""
    return str(row["arm"]) if row["task"] == "goldenview" else {"A": "T", "B": "I"}.get(row["arm"], shown(str(row["arm"])))


# Marks.


@dataclass(frozen=True)
class Mark:
    """How an estimate looks: the shape tells it apart, the filling one side from the other, the colour helps."""

    shape: str
    colour: str
    filled: bool = True
    size: float = 5.0

    @property
    def style(self) -> dict[str, Any]:
        """As matplotlib takes it."""
        face = self.colour if self.filled else "white"
        return {"marker": self.shape, "color": self.colour, "markerfacecolor": face, "markeredgewidth": 0.9, "markersize": self.size}


SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")  # Okabe and Ito: told apart by the colour-blind


def marks(keys: Iterable[Any]) -> dict[Any, Mark]:
    """A mark for each of several things, in turn; 77 differ."""
    each = zip(cycle(SHAPES), cycle(COLOURS), strict=False)
    return {key: Mark(*pair) for key, pair in zip(dict.fromkeys(keys), each, strict=False)}


def task_marks(rows: Iterable[Row]) -> dict[str, Mark]:
    """Each task's mark; the paper's tasks have the same one in every study."""
    return marks([*TASKS, *sorted({row["task"] for row in rows})])


def open_(mark: Mark) -> Mark:
    """The same mark, unfilled."""
    return replace(mark, filled=False)


def key(mark: Mark, text: str, line: Line = "none") -> Line2D:
    """A mark's entry in a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=text, linestyle=line, linewidth=0.9, **mark.style)


def estimate(axes: Axes, row: Row, column: str, at: float, mark: Mark, across: bool = True) -> None:
    """An estimate with its interval as whiskers, along x (`across`) or along y; nothing where it is not known."""
    if row[column] is None:
        return
    ends = [row[f"{column}_low"], row[f"{column}_high"]]
    if None not in ends:
        axes.plot(
            *([ends, [at, at]] if across else [[at, at], ends]),
            color=mark.colour,
            linewidth=0.8,
            marker="|" if across else "_",
            markersize=3,
        )
    axes.plot(*([[row[column]], [at]] if across else [[at], [row[column]]]), linestyle="none", clip_on=False, zorder=3, **mark.style)


# Axes.


def panels(figure: Figure, count: int, most: int, size: tuple[float, float], names: tuple[str, str], shared: bool = True) -> list[Axes]:
    """So many axes, at most `most` beside each other, each of some width and height in inches; outer ones carry the names of x and y."""
    across = min(count, most)
    down = -(-count // across)
    figure.set_size_inches(max(across * size[0], 4.2), down * size[1] + 0.9)
    every = list(figure.subplots(down, across, squeeze=False, sharex=shared, sharey=shared).flat)
    for unused in every[count:]:
        unused.remove()
    for axes in every[max(count - across, 0) : count]:
        axes.tick_params(labelbottom=True)  # the lowest of its column
        axes.set_xlabel(names[0])
    for axes in every[:count:across]:
        axes.set_ylabel(names[1])
    return every[:count]


def percent(axes: Axes, *directions: str) -> None:
    """Ticks from 0 to 100 % along x, y or both."""
    labels = [f"{100 * at:.0f}" for at in PERCENT]
    for direction in directions:
        axes.set(**{f"{direction}lim": (-0.02, 1.02), f"{direction}ticks": PERCENT, f"{direction}ticklabels": labels})


def above(axes: Axes, text: str) -> None:
    """The heading of what stands beside the lines."""
    axes.annotate(text, (1, 1), xycoords="axes fraction", xytext=(5, 2), textcoords="offset points", fontsize=TINY, style="italic")


def beside(axes: Axes, at: float, text: str, **style: Any) -> None:
    """Small text to the right of a line of marks."""
    axes.annotate(
        text, (1.0, at), xycoords=("axes fraction", "data"), xytext=(5, 0), textcoords="offset points", va="center", fontsize=TINY, **style
    )


def before(axes: Axes, at: float, text: str, **style: Any) -> None:
    """A name to the left of some lines of marks and their ticks."""
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "xytext": (-18, 0), "textcoords": "offset points"}
    axes.annotate(text, (0.0, at), va="center", ha="right", fontsize=SMALL, **place, **style)


def legend(figure: Figure, handles: Sequence[Line2D]) -> None:
    """The figure's legend, below it, in as many columns as fit."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = int(figure.get_figwidth() / (0.5 + 0.065 * longest))
    figure.legend(
        handles=list(handles), loc="outside lower center", ncols=max(1, min(columns, len(handles))), handlelength=2.6, handletextpad=0.3
    )
