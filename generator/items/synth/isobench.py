"""IsoBench's twin: rational functions and capacity graphs, distributed as the public rows are (their counts stand beside the constants).

Pictures are 512x384 RGBA PNGs in the public look: one thick curve on a light grid; a pink source, a light-blue sink, green capacities on
the edges.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import cos, pi, sin
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import polars

from generator.images import png_bytes
from generator.items.isobench import MAXFLOW, PARITIES, PARITY, max_flow
from generator.items.synth.seeded import drawn, weighted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILE = "validation-00000-of-00001.parquet"
COLOURS = ("red", "orange", "tab:blue", "green", "purple")  # each on a fifth of the public plots
NODES = {3: 50, 4: 37, 5: 41}  # of the 128 public graphs
MISSING = {3: 0.06, 4: 0.07, 5: 0.06}  # share of the possible edges that the public graphs lack
DOMAIN = [step / 40 for step in range(-200, 201)]  # x of the plots, from -5 to 5

Term = tuple[float, int]  # coefficient, power of x


def write_parity(folder: Path, n: int, seed: int) -> None:
    """Write n functions as `<folder>/math_parity/…parquet`: even, odd and neither in turn, so in equal thirds."""
    random = drawn(PARITY, seed)
    rows = []
    with _axes() as (axes, picture):
        for place in range(n):
            label = PARITIES[place % len(PARITIES)]
            numerator, denominator = _function(random, label)
            _plot(axes, [_value(numerator, x) / _value(denominator, x) for x in DOMAIN], random.choice(COLOURS))
            rows.append(
                {
                    "image": {"bytes": picture({"task": PARITY, "gold": label}), "path": None},
                    "domain": None,
                    "latex": f"$$f(x) = {_latex(numerator, denominator)}$$",
                    "code": f"f(x) = {_code(numerator, denominator)}",
                    "label": label,
                    "id": f"math_parity_{place}",
                }
            )
    _write(folder / "math_parity", rows, {"domain": polars.Float64})


def write_maxflow(folder: Path, n: int, seed: int) -> None:
    """Write n graphs as `<folder>/graph_maxflow/…parquet`: source 0, sink n − 1, capacities 1–9, every node on a way to the sink."""
    random = drawn(MAXFLOW, seed)
    rows = []
    with _axes() as (axes, picture):
        axes.set_axis_off()
        for place in range(n):
            matrix = _graph(random)
            sink = len(matrix) - 1
            label = max_flow(matrix, 0, sink, "synth")
            _draw(axes, matrix, random)
            rows.append(
                {
                    "image": {"bytes": picture({"task": MAXFLOW, "gold": label}), "path": None},
                    "source_node": 0,
                    "source_node_color": "red",
                    "sink_node": sink,
                    "sink_node_color": "blue",
                    "adjacency_matrix": json.dumps(matrix),
                    "label": label,
                    "id": f"graph_maxflow_{place}",
                }
            )
    _write(folder / "graph_maxflow", rows, {})


def _write(folder: Path, rows: list[dict[str, Any]], overrides: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    image = polars.Struct({"bytes": polars.Binary, "path": polars.String})
    polars.DataFrame(rows, schema_overrides={"image": image, **overrides}).write_parquet(folder / FILE)


# -- functions ---------------------------------------------------------------------------------------------------------------------


def _function(random: Random, label: str) -> tuple[list[Term], list[Term]]:
    """Numerator and denominator of that parity, as terms of falling power; the denominator is even and has no zero in the domain."""
    step = 1 if label == "neither" else 2  # the public even and odd functions are sums of a function and its mirror image
    denominator = _terms(random, [10, 8, 6, 4, 2], random.randint(1, 4), step)
    denominator[0] = (abs(denominator[0][0]), denominator[0][1])
    lowest = min(_value(denominator, x) for x in DOMAIN)
    denominator.append((round(max(0.0, -lowest) + random.uniform(0.5, 15), 2), 0))
    constant = (round(random.choice([-1, 1]) * random.uniform(0.5, 15) * step, 2), 0)
    if label == "even":
        return [*_terms(random, [10, 8, 6, 4, 2], random.randint(0, 3), step), constant], denominator
    if label == "odd":
        numerator = _terms(random, [9, 7, 5, 3, 1], random.choice([1, 1, 1, 2, 2, 3, 4]), step)
        if len(numerator) > 1 and random.random() < 0.4:  # 50 of the public 128 are written with a decimal point
            return [(float(c), k) for c, k in numerator], [(float(c), k) for c, k in denominator]
        return numerator, denominator
    odd = _terms(random, [9, 7, 5, 3, 1], random.randint(1, 2), step)
    even = _terms(random, [10, 8, 6, 4, 2], random.randint(0, 2), step)
    return [*sorted(odd + even, key=lambda term: -term[1]), constant], denominator


def _terms(random: Random, powers: list[int], count: int, step: int) -> list[Term]:
    chosen = sorted(random.sample(powers, count), reverse=True)
    return [(random.choice([-1, 1]) * step * random.randint(1, 5), power) for power in chosen]


def _value(terms: Sequence[Term], x: float) -> float:
    return sum(coefficient * x**power for coefficient, power in terms)


def _code(numerator: Sequence[Term], denominator: Sequence[Term]) -> str:
    shared, rest = _factored(numerator)
    below = _sum(denominator, _python_term)
    if not shared:
        above = _sum(rest, _python_term)
        return f"({above})/({below})" if len(rest) > 1 else f"{above}/({below})"
    if len(rest) == 1:
        return f"{_sum([(rest[0][0], shared)], _python_term)}/({below})"
    return f"{_python_term(1, shared)}*({_sum(rest, _python_term)})/({below})"


def _latex(numerator: Sequence[Term], denominator: Sequence[Term]) -> str:
    shared, rest = _factored(numerator)
    below = _sum(denominator, _latex_term)
    if len(rest) == 1:
        coefficient = rest[0][0]
        sign = "- " if coefficient < 0 else ""
        return f"{sign}\\frac{{{_latex_term(abs(coefficient), shared)}}}{{{below}}}"
    above = _sum(rest, _latex_term)
    if shared:
        factor = _latex_term(1, shared)
        above = f"{factor}{' ' if shared == 1 else f' {chr(92)}cdot '}\\left({above}\\right)"
    return f"\\frac{{{above}}}{{{below}}}"


def _factored(terms: Sequence[Term]) -> tuple[int, list[Term]]:
    """The power of x that a function without even terms and constant has in front, as the public code writes it, and what it leaves."""
    shared = min(power for _, power in terms)
    return shared, [(coefficient, power - shared) for coefficient, power in terms]


def _sum(terms: Sequence[Term], term: Callable[[float, int], str]) -> str:
    first, *others = terms
    lead = ("- " if term is _latex_term else "-") if first[0] < 0 else ""
    rest = [f" {'-' if coefficient < 0 else '+'} {term(abs(coefficient), power)}" for coefficient, power in others]
    return lead + term(abs(first[0]), first[1]) + "".join(rest)


def _python_term(coefficient: float, power: int) -> str:
    letter = "" if power == 0 else "x" if power == 1 else f"x**{power}"
    return letter if letter and coefficient == 1 and isinstance(coefficient, int) else "*".join(filter(None, [str(coefficient), letter]))


def _latex_term(coefficient: float, power: int) -> str:
    letter = "" if power == 0 else "x" if power == 1 else f"x^{{{power}}}"
    return letter if letter and coefficient == 1 and isinstance(coefficient, int) else " ".join(filter(None, [str(coefficient), letter]))


# -- graphs ------------------------------------------------------------------------------------------------------------------------


def _graph(random: Random) -> list[list[int]]:
    """A capacity matrix: one direction for each pair of nodes, out of the source, into the sink, seldom missing."""
    nodes = weighted(random, NODES)
    order = [0, *random.sample(range(1, nodes - 1), nodes - 2), nodes - 1]
    while True:
        matrix = [[0] * nodes for _ in range(nodes)]
        for place, start in enumerate(order):
            for end in order[place + 1 :]:
                if random.random() >= MISSING[nodes]:
                    matrix[start][end] = random.randint(1, 9)
        if max_flow(matrix, 0, nodes - 1, "synth"):
            return matrix


# -- pictures ----------------------------------------------------------------------------------------------------------------------


@contextmanager
def _axes() -> Iterator[tuple[Axes, Callable[[dict[str, Any]], bytes]]]:
    """One pair of axes for all pictures of a data set, and what turns its present content into a PNG that says what it shows."""
    import matplotlib
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    with matplotlib.rc_context(), style.context(["default", "seaborn-v0_8-whitegrid"]):  # whatever the user's own settings are
        figure = Figure(figsize=(6.4, 4.8), dpi=80)
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_subplot()

        def picture(said: dict[str, Any]) -> bytes:
            canvas.draw()  # type: ignore[no-untyped-call]
            pixels = bytes(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
            shown = Image.frombytes("RGBA", canvas.get_width_height(), pixels)
            for artist in [*axes.lines, *axes.patches, *axes.collections, *axes.texts]:
                artist.remove()  # `axes.clear()` would build both axes anew, which takes longer than drawing
            axes.relim()
            return png_bytes(shown, said)

        yield axes, picture


def _plot(axes: Axes, values: list[float], colour: str) -> None:
    axes.plot(DOMAIN, values, color=colour, linewidth=3)
    axes.set_xlim(DOMAIN[0], DOMAIN[-1])


def _draw(axes: Axes, matrix: list[list[int]], random: Random) -> None:
    import networkx as nx  # type: ignore[import-untyped]

    nodes = range(len(matrix))
    edges = {(i, j): capacity for i, row in enumerate(matrix) for j, capacity in enumerate(row) if capacity}
    graph = nx.DiGraph(list(edges))
    graph.add_nodes_from(nodes)
    where = _layout(len(matrix), random)
    colours = ["pink", *["white"] * (len(matrix) - 2), "lightblue"]
    nx.draw_networkx_nodes(graph, where, nodelist=list(nodes), node_color=colours, edgecolors="black", node_size=700, ax=axes)
    nx.draw_networkx_labels(graph, where, ax=axes)
    nx.draw_networkx_edges(graph, where, node_size=700, arrowsize=25, ax=axes)
    nx.draw_networkx_edge_labels(graph, where, edge_labels=edges, font_color="green", font_size=14, ax=axes)
    axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))


def _layout(nodes: int, random: Random) -> dict[int, tuple[float, float]]:
    """An irregular ring, as in the public drawings: no two nodes near each other, no node in the middle."""
    places = random.sample(range(nodes), nodes)
    turn = random.uniform(0, 2 * pi)
    angles = {node: turn + 2 * pi * (place + random.uniform(-0.25, 0.25)) / nodes for node, place in enumerate(places)}
    return {node: (random.uniform(0.8, 1.0) * cos(angle), random.uniform(0.8, 1.0) * sin(angle)) for node, angle in angles.items()}
