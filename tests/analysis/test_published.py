"""The paper's own numbers: they agree with each other where one implies another, and stand beside ours where its models are asked."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from analysis import session
from tests.analysis.conftest import Said, write_study

HALF = 0.0005 + 1e-9  # of the last printed digit


@pytest.fixture(scope="module")
def published() -> Callable[[str], list[dict[str, Any]]]:
    """The rows of one of the views `published.*`; numbers as floats."""
    reading = session.on(session.empty_warehouse())

    def rows(view: str) -> list[dict[str, Any]]:
        found = reading.rows(f"SELECT * FROM published.{view}")
        return [{name: float(value) if isinstance(value, Decimal) else value for name, value in row.items()} for row in found]

    return rows


def test_every_printed_cell_is_there_once(published: Callable[[str], list[dict[str, Any]]]) -> None:
    keys = {"performance": 200, "usable": 300, "attrition": 48, "retrospective": 16, "prospective": 4, "sufficiency": 4}
    for view, n in keys.items():
        rows = published(view)
        assert len(rows) == n
        named = ("task", "model_id", "thinking", "arm", "template", "attribution")
        assert len({tuple(row.get(name) for name in named) for row in rows}) == n


def test_table_2_adds_up(published: Callable[[str], list[dict[str, Any]]]) -> None:
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in published("retrospective"):
        assert row["delta"] == pytest.approx(row["executed"] - row["stated"], abs=0.0011)
        sums[row["task"]][0] += row["stated"]
        sums[row["task"]][1] += row["executed"]
    assert all(total == pytest.approx(1, abs=4 * HALF) for both in sums.values() for total in both)


def test_table_10_follows_from_tables_5_to_7(published: Callable[[str], list[dict[str, Any]]]) -> None:
    printed = {
        ("mmimdb", "single"): (-3.7, -8.9, 3.2), ("mmimdb", "joint"): (-2.0, -7.3, -0.1),
        ("isobench/math_parity", "single"): (-1.5, -8.2, 2.2), ("isobench/math_parity", "joint"): (-2.7, -18.7, 0.4),
        ("isobench/graph_maxflow", "single"): (-2.3, -21.9, 0.8), ("isobench/graph_maxflow", "joint"): (-18.4, -48.4, -4.7),
        ("goldenview", "single"): (-7.3, -21.8, 3.6), ("goldenview", "joint"): (1.8, -25.5, 3.6),
    }  # fmt: skip
    scores = {(row["task"], row["model_id"], row["arm"], row["template"]): row["score"] for row in published("performance")}
    costs = defaultdict(list)
    for (task, model, arm, template), score in scores.items():
        if template == "assess":
            costs[task, "joint" if arm == "AB" else "single"].append(100 * (score - scores[task, model, arm, "plain"]))
    assert {key: len(found) for key, found in costs.items()} == {key: 8 if key[1] == "joint" else 16 for key in printed}
    for key, (middle, least, most) in printed.items():
        found = (statistics.median(costs[key]), min(costs[key]), max(costs[key]))
        assert found == pytest.approx((middle, least, most), abs=0.11)


def test_table_14_holds_whole_counts_and_adds_up_to_table_15(published: Callable[[str], list[dict[str, Any]]]) -> None:
    usable: dict[tuple[Any, ...], float] = defaultdict(float)
    attempted: dict[tuple[Any, ...], float] = defaultdict(float)
    for row in published("usable"):
        count = round(row["usable"] * row["n_attempted"])
        assert row["usable"] == pytest.approx(count / row["n_attempted"], abs=HALF)
        if row["template"] == "assess":
            key = (row["task"], row["model_id"], row["thinking"])
            usable[key] += count
            attempted[key] += row["n_attempted"]
    for row in published("attrition"):
        key = (row["task"], row["model_id"], row["thinking"])
        assert attempted[key] == row["n_attempted"]
        assert row["usable"] == pytest.approx(usable[key] / attempted[key], abs=HALF)


def test_table_15_partitions_the_rows(published: Callable[[str], list[dict[str, Any]]]) -> None:
    parts = ("truncated", "provider_error", "repetition", "unparsed_answer", "unparsed_report", "usable")
    for row in published("attrition"):
        assert sum(row[part] or 0 for part in parts) == pytest.approx(1, abs=6 * HALF)
        unparsed = row["unparsed_answer"] + row["unparsed_report"]
        assert row["parse_failure_of_completed"] == pytest.approx(unparsed / (unparsed + row["usable"]), abs=0.004)


def test_the_published_number_stands_beside_ours_where_its_model_is_asked(run: Callable[..., Said]) -> None:
    assert "paper" not in run("table", "6").out
    with duckdb.connect("data/warehouse.duckdb") as connection:
        write_study(connection, "second", datetime(2026, 2, 1), ["Qwen/Qwen3.5-4B", "mine"], 2)
    assert "published_score" in run("table", "6", "--format", "csv").out.splitlines()[0]
    rows = json.loads(run("table", "6", "--format", "json").out)
    plain = {row["model_id"]: row["published_score"] for row in rows if (row["arm"], row["template"]) == ("AB", "plain")}
    assert plain == {"Qwen/Qwen3.5-4B": 0.961, "mine": None}
    assert "text + image, plain paper" in run("table", "6").out
    assert "8.8 (0.5–38.2)" not in run("table", "3").out  # mm-IMDb is not asked
    assert "7.6 (0.0–43.6)" in run("table", "3").out
    assert "paper Δ" in run("table", "2").out
    assert "99.5" in run("table", "14").out
    assert "paper usable" in run("table", "15").out
