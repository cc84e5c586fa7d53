"""What the published numbers of seed 000 imply of each other, where they stand in its text or in tables that no view holds.

Tables 2, 10, 14 and 15 are held together in tests/analysis/test_published.py.
"""

from __future__ import annotations

import statistics
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from analysis import session
from tests.sql.literal import run

Row = dict[str, Any]
HALF = 0.05 + 1e-9  # of the last printed digit, in percent


class Grounding(NamedTuple):
    """A row of Table 11 (%), and the discordant questions that imply its difference: (stated only, executed only)."""

    included: int
    stated: float
    executed: float
    delta: float
    low: float
    high: float
    single_stated: float
    single_executed: float
    golden_stated: float
    golden_executed: float
    discordant: tuple[tuple[int, int], ...]


TABLE_11 = {
    "Qwen3.5 4B": Grounding(52, 40.4, 36.5, 3.8, -11.5, 19.2, 42.3, 42.3, 95.5, 86.4, ((9, 7), (10, 8))),
    "Qwen3.5 9B": Grounding(39, 15.4, 20.5, -5.1, -20.5, 7.7, 15.4, 28.2, 100.0, 72.7, ((3, 5),)),
    "Qwen3.5 27B": Grounding(52, 75.0, 36.5, 38.5, 25.0, 51.9, 78.8, 40.4, 95.1, 90.5, ((20, 0),)),
    "Qwen3.5 35B-A3B": Grounding(52, 61.5, 11.5, 50.0, 36.5, 63.5, 61.5, 13.5, 100.0, 85.7, ((26, 0),)),
    "Gemma 4 E2B": Grounding(49, 36.7, 16.3, 20.4, 2.0, 36.7, 38.8, 32.7, 94.7, 50.0, ((15, 5),)),
    "Gemma 4 E4B": Grounding(52, 55.8, 36.5, 19.2, 3.8, 34.6, 59.6, 42.3, 93.5, 86.4, ((14, 4), (15, 5))),
    "Gemma 4 26B-A4B": Grounding(52, 36.5, 48.1, -11.5, -26.9, 2.0, 36.5, 50.0, 100.0, 96.2, ((5, 11),)),
    "Gemma 4 31B": Grounding(52, 80.8, 42.3, 38.5, 23.1, 53.8, 82.7, 46.2, 97.7, 91.7, ((22, 2),)),
}

# Table 8 (%): predicted, then the median executed change under the mixed, assessment and plain wiring.
TABLE_8 = {
    "mmimdb": (8.8, 72.2, 71.0, 60.6),
    "isobench/math_parity": (0.0, 7.6, 12.1, 6.7),
    "isobench/graph_maxflow": (0.0, 30.9, 33.0, 26.0),
    "goldenview": (0.9, 29.1, 32.7, 26.2),
}

# Table 9 (%): stated, plain, assess.
TABLE_9 = {
    "mmimdb": {"A": (47.5, 26.5, 21.6), "B": (9.1, 15.5, 14.4), "both": (14.8, 41.9, 54.1), "either": (28.5, 16.1, 10.0)},
    "isobench/math_parity": {"A": (5.5, 19.3, 21.1), "B": (2.3, 1.0, 2.7), "both": (0.1, 0.3, 2.4), "either": (92.1, 79.3, 73.8)},
    "isobench/graph_maxflow": {"A": (6.8, 29.7, 25.3), "B": (3.7, 5.9, 5.4), "both": (2.6, 8.8, 20.2), "either": (86.9, 55.6, 49.1)},
}

CI_BELOW_0 = (6, 2, 8, 5, 4, 8, 5, 1)  # Table 10, its column CI < 0


def published(view: str) -> list[Row]:
    """The rows of one of the views `published.*`; numbers as floats."""
    rows = session.on(session.empty_warehouse()).rows(f"SELECT * FROM published.{view}")
    return [{name: float(value) if isinstance(value, Decimal) else value for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("model", TABLE_11)
def test_table_11s_intervals_follow_from_its_discordant_questions(model: str) -> None:
    row = TABLE_11[model]
    question = 100 / row.included
    for stated_only, executed_only in row.discordant:
        differences = [1] * stated_only + [-1] * executed_only + [0] * (row.included - stated_only - executed_only)
        found = interval(differences)
        assert 100 * found["estimate"] == pytest.approx(row.delta, abs=HALF)
        assert 100 * found["low"] == pytest.approx(row.low, abs=question + HALF)
        assert 100 * found["high"] == pytest.approx(row.high, abs=question + HALF)
        assert found["resamples"] == 10_000


def interval(differences: list[int]) -> Row:
    """The interval of a mean difference over questions, among the 55 that the study asks."""
    common = {"task": "goldenview", "pool": None, "cell": "m", "statistic": "alignment_delta", "kind": "difference"}
    sums = [{**common, "cluster_id": f"q{i:02}", "numerator": float(x), "denominator": 1.0} for i, x in enumerate(differences)]
    asked = [{"task": "goldenview", "cluster_id": f"q{i:02}", "position": i, "n_clusters": 55, "task_rank": 1} for i in range(55)]
    (row,) = run("stat.interval", {"stat.sums": sums, "stat.cluster": asked})
    return row


@pytest.mark.parametrize("model", TABLE_11)
def test_table_11_holds_whole_questions(model: str) -> None:
    row = TABLE_11[model]
    pairs = ((row.stated, row.single_stated, row.golden_stated), (row.executed, row.single_executed, row.golden_executed))
    aligned = []
    for alignment, single, golden in pairs:
        n_aligned, n_single = (round(share * row.included / 100) for share in (alignment, single))
        assert 100 * n_aligned / row.included == pytest.approx(alignment, abs=HALF)
        assert 100 * n_single / row.included == pytest.approx(single, abs=HALF)
        assert 100 * n_aligned / n_single == pytest.approx(golden, abs=HALF)
        aligned.append(n_aligned)
    for stated_only, executed_only in row.discordant:
        assert stated_only - executed_only == aligned[0] - aligned[1]


def test_table_11_adds_up_to_the_counts_of_a_4() -> None:
    def total(shares: list[float]) -> int:
        return sum(round(share * row.included / 100) for share, row in zip(shares, TABLE_11.values(), strict=True))

    rows = TABLE_11.values()
    assert sum(row.included for row in rows) == 400
    assert (total([row.stated for row in rows]), total([row.single_stated for row in rows])) == (206, 213)
    assert (total([row.executed for row in rows]), total([row.single_executed for row in rows])) == (126, 149)
    assert (213 + 184 + 3, 149 + 230 + 21) == (400, 400)  # single, either, both
    excluded = [row for row in rows if row.low > 0]
    assert (len(excluded), sum(row.high < 0 for row in rows)) == (5, 0)  # "five of eight models and none in the opposite direction"


def test_table_8_repeats_table_3s_predictions_and_gives_the_distances_of_a_3() -> None:
    predicted = {row["task"]: 100 * row["predicted_change"] for row in published("prospective")}
    assert {task: row[0] for task, row in TABLE_8.items()} == pytest.approx(predicted, abs=1e-6)
    assert [plain - said for said, _, _, plain in TABLE_8.values()] == pytest.approx([51.8, 6.7, 26.0, 25.3], abs=0.11)


def test_table_9_adds_up_and_states_what_table_2_does() -> None:
    stated = {(row["task"], row["attribution"]): 100 * row["stated"] for row in published("retrospective")}
    for task, rows in TABLE_9.items():
        assert [sum(column) for column in zip(*rows.values(), strict=True)] == pytest.approx([100] * 3, abs=4 * HALF)
        assert {name: row[0] for name, row in rows.items()} == pytest.approx({name: stated[task, name] for name in rows}, abs=1e-6)
    widened = [rows["either"][2] - rows["either"][0] for rows in TABLE_9.values()]
    assert widened == pytest.approx([-18.5, -18.3, -37.8], abs=0.11)


def test_tables_5_to_7_give_the_costs_that_the_text_names() -> None:
    scores = {(row["task"], row["model_id"], row["arm"], row["template"]): 100 * row["score"] for row in published("performance")}
    costs = {key[:3]: score - scores[(*key[:3], "plain")] for key, score in scores.items() if key[3] == "assess"}
    assert len(costs) == 96
    assert statistics.median(costs.values()) == pytest.approx(-3.6, abs=0.11)
    assert min(cost for (task, *_), cost in costs.items() if task == "mmimdb") == pytest.approx(-8.9, abs=0.11)
    joint = [cost for (task, _, arm), cost in costs.items() if (task, arm) == ("isobench/graph_maxflow", "AB")]
    assert all(cost < 0 for cost in joint)
    assert statistics.median(joint) == pytest.approx(-18.4, abs=0.11)
    assert sum(CI_BELOW_0) == 39


def test_table_6_reads_text_better_than_images_as_the_text_says() -> None:
    scores = {
        (row["task"], row["model_id"], row["arm"]): 100 * row["score"] for row in published("performance") if row["template"] == "plain"
    }
    ahead = {}
    for task in ("isobench/math_parity", "isobench/graph_maxflow"):
        ahead[task] = [scores[task, model, "A"] - scores[task, model, "B"] for a_task, model, arm in scores if (a_task, arm) == (task, "A")]
    assert sum(gap > 0 for gaps in ahead.values() for gap in gaps) == 15
    assert statistics.median(ahead["isobench/math_parity"]) == pytest.approx(15.1, abs=0.11)
    assert statistics.median(ahead["isobench/graph_maxflow"]) == pytest.approx(31.6, abs=0.11)
