"""The papers' figures: every mark where a view puts it, told apart without colour, and the same bytes each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import DataError, UsageError
from analysis.figures import COLOURS, LONGEST, SHAPES, FigureFormat, format_of, marks, pictures, shown, task_marks
from analysis.modality_figures import EXECUTED, PRECISION, PREDICTED, RECALL
from analysis.paper_figures import FIGURES, require
from tests.analysis.conftest import ENVIRONMENT, PROGRAM, Said
from tests.sql import literal

Run = Callable[..., Said]
Row = dict[str, Any]
Point = tuple[float, float]

TASKS = ("mmimdb", "isobench/math_parity", "isobench/graph_maxflow", "goldenview")
WHISKERS = ("|", "_")


def interval(column: str, value: float | None, low: float | None = None, high: float | None = None) -> Row:
    return {column: value, f"{column}_low": low, f"{column}_high": high}


def change(model: str, task: str, arm: str, predicted: float | None, executed: float | None, n: int = 40) -> Row:
    key = {"model_id": model, "thinking": False, "task": task, "arm": arm, "n_items": n}
    return {**key, **interval("predicted_change", predicted, 0.0, 0.25), **interval("executed_change", executed, 0.5, 0.875)}


def claim(model: str, task: str, arm: str, precision: float | None, recall: float | None) -> Row:
    key = {"model_id": model, "thinking": False, "task": task, "arm": arm, "n_claimed_insufficient": 8, "n_executed_changed": 16}
    return {**key, **interval("precision", precision, 0.5, 1.0), **interval("recall", recall, 0.0, 0.5)}


def evidence(model: str, accuracy: float | None, alignment: float | None, low: float | None = -0.25) -> Row:
    key = {"model_id": model, "thinking": False, "task": "goldenview", "n_scored": 51, "n_included": 39}
    return {**key, **interval("accuracy_delta", accuracy, low, 0.5), **interval("alignment_delta", alignment, low, 0.375)}


def policy(model: str, task: str, tokens: tuple[float | None, float | None]) -> Row:
    key = {"model_id": model, "thinking": False, "task": task, "n_items": 30, "tokens_direct": tokens[0], "tokens_tool": tokens[1]}
    return {**key, **interval("accuracy_direct", 0.5, 0.25, 0.75), **interval("accuracy_tool", 0.625, 0.375, 0.875)}


def call(model: str, gap: float, veg: float, correct: bool | None, number: int = 1) -> Row:
    key = {"model_id": model, "thinking": False, "task": "vstar", "rollout_id": "r", "turn": number, "call_index": 0}
    return {**key, "correct": correct, "gap_before": gap, "veg": veg, "tau_sat": 0.95}


def position(model: str, place: str, veg: float | None, unsaturated: float | None, poer: float | None) -> Row:
    counts = {"n_veg": 12, "n_unsaturated": 7, "n_later": None if place == "1" else 5}
    key = {"model_id": model, "thinking": False, "task": "vstar", "position": place, **counts}
    return {**key, **interval("veg", veg, -0.25, 0.5), **interval("veg_unsaturated", unsaturated), **interval("poer", poer, 0.0, 1.0)}


def rows(number: str, *models: str) -> list[Row]:
    """A few rows for any figure."""
    models = models or ("m",)
    places = ("1", "2", "3", "4+")
    calls = [[call(model, 0.25, 0.5, True), call(model, 0.97, 0.0, False, 2)] for model in models]
    return {
        "2": lambda: [change(*cell, 0.125, 0.75) for cell in product(models, ("mmimdb", "goldenview"), "AB")],
        "3": lambda: [claim(*cell, 0.75, 0.125) for cell in product(models, ("mmimdb", "goldenview"), "AB")],
        "4": lambda: [evidence(model, 0.25, 0.125) for model in models],
        "5": lambda: [change(*cell, 0.125, 0.75) for cell in product(models, ("mmimdb", "goldenview"), "AB")],
        "s1": lambda: [policy(model, "vstar", (100.0, 400.0)) for model in models],
        "s4": lambda: [*sum(calls, []), call("sim/uses", -0.5, 1.5, None)],
        "s5": lambda: [position(*cell, 0.25, 0.375, None if cell[1] == "1" else 0.5) for cell in product(models, places)],
    }[number]()


def drawn(number: str, given: Sequence[Row]) -> list[Any]:
    """The axes of a figure."""
    from matplotlib.figure import Figure

    paper = Figure(layout="constrained")
    require(number).draw(paper, given)
    return list(paper.axes)


def points(axes: Any) -> set[Point]:
    """Where a panel's marks stand."""
    lines = [line for line in axes.lines if line.get_marker() not in ("None", "none", "", None, *WHISKERS)]
    return {(float(x), float(y)) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}


def whiskers(axes: Any, across: bool = True) -> list[Point]:
    """From where to where a panel's whiskers reach."""
    lines = [line for line in axes.lines if line.get_marker() in WHISKERS]
    return [tuple(map(float, line.get_xdata() if across else line.get_ydata())) for line in lines]  # type: ignore[misc]


def texts(number: str, given: Sequence[Row]) -> list[str]:
    """What a figure's SVG says."""
    return words(pictures(require(number), given, [FigureFormat.svg])[FigureFormat.svg].decode())


def words(svg: str) -> list[str]:
    """The texts of an SVG."""
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text") if element.text]


def bytes_of(number: str) -> bytes:
    return b"".join(pictures(require(number), rows(number)).values())


def test_figure_2_has_a_panel_a_model_and_a_point_a_cell_on_the_views_own_values() -> None:
    given = [change("b", "mmimdb", "A", 0.1, 0.7), change("b", "mmimdb", "B", 0.2, 0.9), change("a", "goldenview", "B", 0.0, 1 / 3, 55)]
    first, second = drawn("2", [*given, change("a", "mmimdb", "A", None, None, 0)])
    assert (first.get_title(), points(first)) == ("a", {(0.0, 1 / 3)})
    assert (second.get_title(), points(second)) == ("b", {(0.1, 0.7), (0.2, 0.9)})
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["T 0", "B 55"]
    (line,) = [line for line in first.lines if type(line).__name__ == "AxLine"]
    assert (line.get_xy1(), line.get_slope()) == ((0, 0), 1)


def test_figure_3_has_a_block_a_family_and_a_panel_a_task() -> None:
    models = ("Qwen/Qwen3.5-4B", "google/gemma-4-E2B-it", "qwen/qwen3.5-27b")
    panels = drawn("3", [claim(*cell, 0.75, 0.25) for cell in product(models, TASKS[:3], "AB")])
    assert [panel.get_title() for panel in panels] == ["mm-IMDb", "IsoBench parity", "IsoBench max-flow", "", "", ""]
    assert len(points(panels[0])) == 2 * 2 * 2  # two models of the first family, two inputs shown, precision and recall
    assert len(points(panels[3])) == 2 * 2
    assert {x for panel in panels for x, _ in points(panel)} == {0.25, 0.75}
    said = texts("3", [claim(*cell, 0.75, 0.25) for cell in product(models, TASKS, "AB")])
    assert {"Qwen3.5", "Gemma 4", "8 | 16", "T", "I", "A", "B"} <= set(said)


def test_precision_that_does_not_exist_is_not_drawn_and_its_line_stays() -> None:
    (panel,) = drawn("3", [claim("m", "mmimdb", "A", None, 0.0), claim("m", "mmimdb", "B", 0.5, 0.25)])
    assert sorted(x for x, _ in points(panel)) == [0.0, 0.25, 0.5]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["T", "I"]


def test_figure_4_reaches_from_low_to_high() -> None:
    accuracy, alignment = drawn("4", [evidence("m", 0.25, 0.125), evidence("n", -0.0625, None), evidence("o", 0.5, 0.0, low=None)])
    assert points(accuracy) == {(0.25, 0), (-0.0625, 1), (0.5, 2)}
    assert points(alignment) == {(0.125, 0), (0.0, 2)}
    assert whiskers(accuracy) == [(-0.25, 0.5)] * 2
    assert whiskers(alignment) == [(-0.25, 0.375)]
    assert {"51", "39"} <= set(texts("4", [evidence("m", 0.25, 0.125)]))


def test_figure_5_has_two_lines_a_model_and_whiskers_on_both_rates() -> None:
    (panel,) = drawn("5", [change("m", "goldenview", arm, 0.125, 0.75, 53) for arm in "AB"])
    assert sorted(x for x, _ in points(panel)) == [0.125, 0.125, 0.75, 0.75]
    assert sorted(whiskers(panel)) == [(0.0, 0.25)] * 2 + [(0.5, 0.875)] * 2
    assert [label.get_text() for label in panel.get_yticklabels()] == ["A", "B"]
    assert "53" in texts("5", [change("m", "goldenview", "A", 0.125, 0.75, 53)])


def test_figure_s1_goes_from_direct_to_tool() -> None:
    (panel,) = drawn("s1", [policy("m", "vstar", (100.0, 400.0)), policy("n", "vstar", (None, 300.0))])
    assert points(panel) == {(100.0, 0.5), (400.0, 0.625), (300.0, 0.625)}
    assert sorted(whiskers(panel, across=False)) == [(0.25, 0.75), (0.375, 0.875), (0.375, 0.875)]
    (arrow,) = [text for text in panel.texts if text.arrow_patch]
    assert (arrow.xyann, arrow.xy) == ((100.0, 0.5), (400.0, 0.625))
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["m (n = 30)", "n (n = 30; tokens not known)"]


def test_figure_s4_has_a_point_a_call_and_the_threshold() -> None:
    first, second = drawn("s4", rows("s4"))
    assert (points(first), points(second)) == ({(-0.5, 1.5)}, {(0.25, 0.5), (0.97, 0.0)})
    assert [line.get_xdata() for line in second.lines if line.get_linestyle() == "--"] == [[0.95, 0.95]]
    assert second.get_title() == "m\nn = 1 correct + 1 incorrect"


def test_figure_s4_reads_probed_calls_of_labelled_rollouts_alone() -> None:
    asked = {"rollout_id": "r", "model_id": "m", "thinking": False, "task": "vstar", "arm": "tool", "template": "free", "replicate": 0}
    read = {**asked, "turn": 1, "call_index": 0, "correct": True, "gap_before": 0.5, "veg": 0.25}
    others: list[Row] = [{"arm": "noise"}, {"template": "force_answer"}, {"replicate": 1}, {"veg": None}, {"gap_before": None}]
    found = literal.run(
        f"({FIGURES['s4'].source})", {"tooluse.call": [read, *({**read, **other} for other in others)]}, {"tooluse.tau_sat": "0.9"}
    )
    assert [(row["gap_before"], row["veg"], row["tau_sat"]) for row in found] == [(0.5, 0.25, 0.9)]


def test_figure_s5_has_all_and_unsaturated_calls_beside_over_extension() -> None:
    given = [position("m", "1", 0.5, 0.625, None), position("m", "2", 0.25, None, 0.75), position("n", "2", 0.125, None, 0.5)]
    veg, poer = drawn("s5", given)
    assert sorted(y for x, y in points(veg) if y == y) == [0.125, 0.25, 0.5, 0.625]
    assert sorted(y for x, y in points(poer) if y == y) == [0.5, 0.75]
    assert {line.get_linestyle() for line in veg.lines} >= {"-", "--"}
    assert [label.get_text().split("\n")[:2] for label in veg.get_xticklabels()][:2] == [["1", "12 / 7"], ["2", "12 / 7"]]
    assert [label.get_text() for label in poer.get_xticklabels()] == ["2\n5\n5", "3\n\n", "4+\n\n"]


def test_figure_s5_takes_over_extension_from_its_own_view() -> None:
    key = {"model_id": "m", "thinking": False, "task": "vstar", "position": "2"}
    given = {"tooluse.veg_position": [{**key, "veg": 0.25}], "tooluse.poer": [{**key, "n_calls": 4, "n_extended": 1, "poer": 0.25}]}
    (row,) = literal.run(f"({FIGURES['s5'].source})", given)
    assert (row["veg"], row["poer"], row["n_later"]) == (0.25, 0.25, 4)


@pytest.mark.parametrize("number", ["2", "3", "4", "5"])
def test_figures_of_seed_000_show_thinking_off(number: str) -> None:
    view = {
        "2": "modality.prospective_cell",
        "3": "modality.sufficiency_cell",
        "4": "modality.grounding",
        "5": "modality.prospective_cell",
    }[number]
    key = {"model_id": "m", "task": "goldenview"} | ({} if number == "4" else {"arm": "A"})
    found = literal.run(f"({FIGURES[number].source})", {view: [{**key, "thinking": thinking} for thinking in (False, True)]})
    assert [row["thinking"] for row in found] == [False]


@pytest.mark.parametrize("number", FIGURES)
def test_every_figure_s_query_has_the_columns_that_it_draws(number: str) -> None:
    session_columns = literal.on(literal.empty_warehouse()).fetch(FIGURES[number].source)[0]
    assert set(rows(number)[0]) <= set(session_columns)


@pytest.mark.parametrize("number", FIGURES)
def test_an_empty_figure_says_why_in_one_line(number: str) -> None:
    with pytest.raises(DataError, match=f"^figure {number} is empty, it has no rows: it needs .+$"):
        pictures(require(number), [])
    if number in ("2", "3", "4", "5"):
        unknown = [{**row, **dict.fromkeys(FIGURES[number].values)} for row in rows(number)]
        with pytest.raises(DataError, match=f"^figure {number} is empty, none of its {len(unknown)} rows has a value: it needs .+$"):
            pictures(require(number), unknown)


def test_what_stands_beside_each_other_differs_without_colour() -> None:
    def look(mark: Any) -> tuple[str, bool]:
        return mark.shape, mark.filled

    assert len({look(mark) for mark in task_marks([]).values()}) == len(TASKS)
    assert look(PREDICTED) != look(EXECUTED)
    assert look(PRECISION) != look(RECALL)
    assert len({mark.shape for mark in marks(range(11)).values()}) == len(SHAPES) == 11
    assert len(set(marks(range(77)).values())) == len(SHAPES) * len(COLOURS) == 77


def test_a_task_looks_the_same_in_every_study() -> None:
    assert task_marks([{"task": "mine"}])["goldenview"] == task_marks([{"task": "goldenview"}])["goldenview"]


HOSTILE = {
    "mathematics": r"$\frac{1}{0}$ $x_{",
    "script": "</text><script>alert(1)</script>\"'&amp;]]>",
    "comment": "--><!--",
    "terminal": "\x1b[31mred\x00\x07\r\n",
    "bidirectional": "a\u202eb\u2066c\u200bd\u2028e",
    "surrogate": "a\ud800b",
    "script of its own": "模型🙂ﷺ",
    "endless": "x" * 5_000,
    "blank": "",
}


@pytest.mark.parametrize("number", FIGURES)
def test_a_hostile_name_is_text(number: str) -> None:
    both = pictures(require(number), rows(number, *HOSTILE.values()))
    svg = both[FigureFormat.svg].decode()
    assert both[FigureFormat.png].startswith(b"\x89PNG")
    assert not {element.tag for element in ElementTree.fromstring(svg).iter() if "script" in element.tag}
    assert all(character.isprintable() or character == "\n" for character in svg)
    assert "x" * LONGEST not in svg
    said = "".join("".join(words(svg)).split())
    for name in HOSTILE.values():
        assert "".join(shown(name).split()) in said


def test_a_long_name_keeps_both_ends() -> None:
    assert shown("an-organisation/a-model-with-a-long-name-8B-Instruct") == "an-organisation/a…name-8B-Instruct"
    assert len(shown("x" * 100)) == LONGEST


@pytest.mark.parametrize("number", FIGURES)
def test_a_figure_s_bytes_say_nothing_of_when_or_where(number: str) -> None:
    both = pictures(require(number), rows(number))
    assert both == pictures(require(number), rows(number), [FigureFormat.png, FigureFormat.svg])
    assert b"date" not in both[FigureFormat.svg].lower()
    assert not any(chunk in both[FigureFormat.png] for chunk in (b"tIME", b"tEXt", b"iTXt"))


def test_a_user_s_own_settings_of_matplotlib_change_nothing(tmp_path: Path) -> None:
    program = "import sys; from tests.analysis.test_figures import *; sys.stdout.buffer.write(bytes_of('4'))"
    settings = tmp_path / "matplotlibrc"
    settings.write_text("font.size: 20\ntext.usetex: True\nsvg.fonttype: path\nlines.linewidth: 9\nbackend: TkAgg\n")
    said = [
        subprocess.run([sys.executable, "-c", program], env={**ENVIRONMENT, **more}, capture_output=True, check=True).stdout
        for more in ({}, {"MATPLOTLIBRC": str(settings), "LC_ALL": "C", "PYTHONHASHSEED": "7"})
    ]
    assert said[0] == said[1] == bytes_of("4")


def test_many_calls_are_one_image() -> None:
    many = [call("m", number / 3_000, 0.5, number % 2 == 0, number) for number in range(3_000)]
    svg = pictures(require("s4"), many, [FigureFormat.svg])[FigureFormat.svg]
    assert b"<image" in svg
    assert len(svg) < 200_000


def test_the_format_is_what_the_file_ends_in() -> None:
    for name, ending in {"a.svg": "svg", "b.PNG": "png", "c.csv": "csv", "d.json": "json"}.items():
        assert format_of(Path(name)) == ending
    assert format_of(None) is FigureFormat.svg
    for name in ("figure", "figure.pdf"):
        with pytest.raises(UsageError, match=f"--out {name}: name a file that ends in .svg"):
            format_of(Path(name))


def test_an_unknown_figure_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no figure 1: there are 2, 3, 4, 5, s1, s4, s5"):
        require("1")


def test_a_figure_of_the_small_study_is_written(run: Run) -> None:
    for ending, start in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("csv", b"model_id,"), ("json", b"[")):
        said = run("figure", "2", "--set", "stat.resamples=100", "--out", f"figure.{ending}")
        assert (said.code, said.out, said.err) == (0, "", "")
        assert Path(f"figure.{ending}").read_bytes().startswith(start)
    assert {"model-a", "model-b"} == {row["model_id"] for row in json.loads(Path("figure.json").read_text(encoding="utf-8"))}
    assert run("figure", "2", "--set", "stat.resamples=100").out == Path("figure.svg").read_text(encoding="utf-8")


def test_a_figure_without_its_rows_ends_in_one_line(run: Run) -> None:
    for number in ("4", "s4"):
        said = run("figure", number, "--out", "figure.svg")
        assert (said.code, said.out) == (3, "")
        assert said.err.startswith(f"error: figure {number} is empty, it has no rows: it needs ")
        assert len(said.err.splitlines()) == 1
        assert not Path("figure.svg").exists()
    assert run("figure", "4", "--format", "json").out == "[]\n"


def test_the_rows_behind_a_figure_need_no_matplotlib(run: Run) -> None:
    program = [*PROGRAM[:2], "import sys, vlmaudit; vlmaudit.main(); sys.exit('matplotlib' in sys.modules)"]
    for arguments in (["--help"], ["figure", "2", "--format", "csv"]):
        assert subprocess.run([*program, *arguments], env={**os.environ, **ENVIRONMENT}, capture_output=True).returncode == 0
