"""The figures of seed 001, declared: what each reads and how it is drawn. Their numbers have an `s` before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from analysis.figures import (
    SMALL,
    TINY,
    Line,
    Mark,
    PaperFigure,
    estimate,
    grouped,
    key,
    legend,
    marks,
    name,
    open_,
    panels,
    percent,
    title,
)
from analysis.tables import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODEL = ("model_id", "thinking")
POSITIONS = ("1", "2", "3", "4+")
MANY = 2_000  # points of a panel; more are drawn as one image, which an SVG holds in less
VERDICTS: dict[bool | None, tuple[str, Mark]] = {
    True: ("answer correct", Mark("o", "#0072B2", filled=False, size=4)),
    False: ("answer incorrect", Mark("x", "#D55E00", size=4)),
    None: ("not ruled", Mark(".", "black", size=4)),
}


def _models(rows: Sequence[Row]) -> dict[tuple[Any, ...], Mark]:
    return marks(_model(part[0]) for part in grouped(MODEL, rows))


def _model(row: Row) -> tuple[Any, ...]:
    return tuple(row[column] for column in MODEL)


def _policies(figure: Figure, rows: Sequence[Row]) -> None:
    """Fig. 1a: accuracy against completion tokens, an arrow a model from direct inference to tool use; a panel a task."""
    looks = _models(rows)
    tasks = list(grouped(("task",), rows))
    size = 3.2, 2.6 + 0.16 * len(looks)
    every = panels(figure, len(tasks), 3, size, ("completion tokens a rollout", "accuracy (%)"), shared=False)
    for axes, cells in zip(every, tasks, strict=True):
        models = [part[0] for part in grouped(MODEL, cells)]
        for row in models:
            _policy(axes, row, looks[_model(row)])
        axes.set_title(name("task", cells[0]))
        axes.set_xlim(left=0)
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.legend(
            handles=[key(looks[_model(row)], _n_of(row)) for row in models], loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=5.5
        )
    sides = [key(Mark("o", "black", filled=False), "direct"), key(Mark("o", "black"), "tool")]
    legend(figure, sides)


def _policy(axes: Axes, row: Row, mark: Mark) -> None:
    points = {}
    for policy, look in (("direct", open_(mark)), ("tool", mark)):
        tokens, accuracy = row[f"tokens_{policy}"], row[f"accuracy_{policy}"]
        if tokens is not None and accuracy is not None:
            points[policy] = (tokens, accuracy)
            estimate(axes, row, f"accuracy_{policy}", tokens, look, across=False)
    if len(points) == 2:
        arrow = {"arrowstyle": "->", "color": mark.colour, "linewidth": 0.8, "shrinkA": 4, "shrinkB": 4}
        axes.annotate("", points["tool"], points["direct"], arrowprops=arrow)


def _n_of(row: Row) -> str:
    unknown = row["tokens_tool"] is None or row["tokens_direct"] is None
    return f"{name('model_id', row)} (n = {row['n_items']:,}{'; tokens not known' * unknown})"


def _calls(figure: Figure, rows: Sequence[Row]) -> None:
    """Fig. 4: a point a call, confidence before it against the evidence that it brought; a panel a model and task."""
    several = len({row["task"] for row in rows}) > 1
    cells = list(grouped(("task", *MODEL), rows))
    every = panels(figure, len(cells), 3, (2.3, 2.2), ("gap before the call", "VEG of the call"))
    for axes, calls in zip(every, cells, strict=True):
        counts = _scatter(axes, calls)
        heading = title(f"{name('task', calls[0])}: " * several + name("model_id", calls[0]))
        axes.set_title(f"{heading}\nn = {counts}", fontsize=SMALL)
    most = 2.05 if any(abs(call["veg"]) > 1 for call in rows) else 1.05
    every[0].set(xlim=(-1.05, 1.05), ylim=(-most, most))
    there = {call["correct"] for call in rows}
    entries = [key(mark, meaning) for verdict, (meaning, mark) in VERDICTS.items() if verdict in there]
    legend(figure, [*entries, key(Mark("", "black"), f"τ_sat = {rows[0]['tau_sat']:g}", line="--")])


def _scatter(axes: Axes, calls: Sequence[Row]) -> str:
    """Draw the calls of one panel by their rollout's verdict; how many there are of each."""
    axes.axhline(0, color="0.8", linewidth=0.6)
    axes.axvline(calls[0]["tau_sat"], color="black", linewidth=0.8, linestyle="--")
    counts = []
    for verdict, (meaning, mark) in VERDICTS.items():
        points = [call for call in calls if call["correct"] is verdict]
        x, y = [call["gap_before"] for call in points], [call["veg"] for call in points]
        axes.plot(x, y, linestyle="none", alpha=0.75, rasterized=len(calls) > MANY, **mark.style)
        counts += [f"{len(points):,} {meaning.removeprefix('answer ')}"] * bool(points)
    return " + ".join(counts)


def _positions(figure: Figure, rows: Sequence[Row]) -> None:
    """Fig. 5: by position of the call, (a) mean VEG of all calls and of those begun unsaturated, (b) how often tool use went on."""
    looks = _models(rows)
    tasks = list(grouped(("task",), rows))
    figure.set_size_inches(7.4, len(tasks) * (2.1 + 0.12 * len(looks)) + 0.8)
    for line, cells in zip(figure.subplots(len(tasks), 2, squeeze=False), tasks, strict=True):
        models = list(grouped(MODEL, cells))
        for place, calls in enumerate(models):
            aside = 0.5 * ((place + 0.5) / len(models) - 0.5)
            look = looks[_model(calls[0])]
            _series(line[0], calls, "veg", aside - 0.03, look, "-")
            _series(line[0], calls, "veg_unsaturated", aside + 0.03, open_(look), "--")
            _series(line[1], calls, "poer", aside, look, "-")
        line[0].axhline(0, color="0.8", linewidth=0.6, zorder=0)
        percent(line[1], "y")
        task = f"{name('task', cells[0])}: "
        line[0].set(title=f"{task}(a) mean VEG by position", ylabel="VEG")
        line[1].set(title=f"{task}(b) calls begun though sure", ylabel="POER (%)")
        _counts(line[0], models, POSITIONS, lambda row: f"{row['n_veg']:,} / {row['n_unsaturated']:,}", named=True)
        _counts(line[1], models, POSITIONS[1:], lambda row: f"{row['n_later'] or 0:,}", named=False)
    entries = [key(look, name("model_id", part[0])) for part, look in zip(grouped(MODEL, rows), looks.values(), strict=True)]
    sides = [key(Mark("o", "black"), "all calls", "-"), key(Mark("o", "black", filled=False), "begun unsaturated", "--")]
    legend(figure, [*entries, *sides])


def _series(axes: Axes, calls: Sequence[Row], column: str, aside: float, mark: Mark, line: Line) -> None:
    """One model's estimates over positions, joined where neighbours are known."""
    known = {row["position"]: row for row in calls}
    values = [known[position][column] if position in known else None for position in POSITIONS]
    places = [place + aside for place in range(len(POSITIONS))]
    axes.plot(places, [float("nan") if value is None else value for value in values], color=mark.colour, linestyle=line, linewidth=0.9)
    for place, position in zip(places, POSITIONS, strict=True):
        if position in known:
            estimate(axes, known[position], column, place, mark, across=False)


def _counts(axes: Axes, models: Sequence[Sequence[Row]], positions: Sequence[str], count: Callable[[Row], str], named: bool) -> None:
    """Under each position the number of calls, a line a model; beside another panel that names them the same lines need no name."""
    lines = [{row["position"]: count(row) for row in calls} for calls in models]
    places = [POSITIONS.index(position) for position in positions]
    axes.set_xticks(places, ["\n".join([position, *(line.get(position, "") for line in lines)]) for position in positions], fontsize=TINY)
    axes.set_xlim(places[0] - 0.5, places[-1] + 0.5)
    names = ["position k", *(f"n: {name('model_id', calls[0])}" for calls in models)]
    axes.annotate(
        "\n".join(names if named else names[:1]),
        (0, 0),
        xycoords="axes fraction",
        xytext=(-8, -7),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=TINY,
    )


_LABELLED = """
    SELECT
        call.task, call.model_id, call.thinking, call.rollout_id, call.turn, call.call_index, call.correct, call.gap_before, call.veg,
        CAST(tau.value AS DOUBLE) AS tau_sat
    FROM tooluse.call AS call
    INNER JOIN stat.parameter AS replicate ON replicate.name = 'arm.replicate' AND call.replicate = CAST(replicate.value AS INTEGER)
    INNER JOIN stat.parameter AS tau ON tau.name = 'tooluse.tau_sat'
    WHERE call.arm = 'tool' AND call.template = 'free' AND call.gap_before IS NOT NULL AND call.veg IS NOT NULL
    ORDER BY call.task, call.model_id, call.thinking, call.rollout_id, call.turn, call.call_index
"""

FIGURES: dict[str, PaperFigure] = {
    figure.number: figure
    for figure in [
        PaperFigure(
            "s1",
            "Accuracy against tokens, direct and tool use",
            "SELECT * FROM tooluse.policy_effect ORDER BY task, model_id, thinking",
            ("tokens_tool", "tokens_direct"),
            "finished rollouts of the arms direct and tool whose completions say how many tokens they took",
            _policies,
        ),
        PaperFigure(
            "s4",
            "Probability gap before a call against the Visual Evidence Gain of the call",
            _LABELLED,
            ("veg",),
            "tool rollouts with probed calls",
            _calls,
        ),
        PaperFigure(
            "s5",
            "Visual Evidence Gain and over-extension by position of the call",
            """
            SELECT evidence.*, poer.n_calls AS n_later, poer.n_extended, poer.poer, poer.poer_low, poer.poer_high
            FROM tooluse.veg_position AS evidence
            LEFT JOIN tooluse.poer AS poer USING (model_id, thinking, task, position)
            ORDER BY task, model_id, thinking, position
            """,
            ("veg", "poer"),
            "tool rollouts with probed calls",
            _positions,
        ),
    ]
}
