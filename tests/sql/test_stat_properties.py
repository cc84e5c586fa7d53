"""What never changes an interval, and what every interval is: over arbitrary small families of sums."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sql.literal import run

N = 9
SETTINGS = {"stat.resamples": "200"}
CLUSTERS = [{"task": "t", "cluster_id": f"c{i}", "position": i, "n_clusters": N, "task_rank": 1} for i in range(N)]
CALM = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Row = dict[str, Any]


@st.composite
def contributions(draw: st.DrawFn, cell: str = "cell", statistic: str = "x") -> list[Row]:
    """One statistic: whole or broken numbers, a rate or a difference, over some of the clusters."""
    kind = draw(st.sampled_from(["rate", "difference"]))
    whole = draw(st.booleans())
    rows = []
    for i in draw(st.lists(st.integers(0, N - 1), unique=True)):
        denominator = draw(st.integers(0, 5))
        numerator = draw(st.integers(-denominator if kind == "difference" else 0, denominator))
        scale = 1 if whole else draw(st.sampled_from([0.1, 1 / 3, 0.9]))
        rows.append(
            {"task": "t", "pool": "p", "cell": cell, "statistic": statistic, "kind": kind, "cluster_id": f"c{i}"}
            | {"numerator": numerator * scale, "denominator": float(denominator)}
        )
    return rows


@st.composite
def family(draw: st.DrawFn) -> list[Row]:
    """Up to six statistics over three cells."""
    keys = draw(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), unique=True, min_size=1, max_size=6))
    return [row for cell, statistic in keys for row in draw(contributions(cell, statistic))]


def intervals(rows: list[Row]) -> dict[tuple[str, str], Row]:
    return {(row["cell"], row["statistic"]): row for row in run("stat.interval", {"stat.sums": rows, "stat.cluster": CLUSTERS}, SETTINGS)}


@CALM
@given(family(), st.integers(0, 9))
def test_the_order_of_rows_changes_nothing(rows: list[Row], seed: int) -> None:
    shuffled, found = intervals(random.Random(seed).sample(rows, len(rows))), intervals(rows)
    assert shuffled.keys() == found.keys()
    for key, row in found.items():
        assert shuffled[key] == pytest.approx(row, abs=1e-12)


@CALM
@given(family(), st.randoms(use_true_random=False))
def test_an_interval_does_not_depend_on_what_travels_with_it(rows: list[Row], chance: random.Random) -> None:
    together = intervals(rows)
    if rows:
        cell, statistic = chance.choice([(row["cell"], row["statistic"]) for row in rows])
        alone = intervals([row for row in rows if (row["cell"], row["statistic"]) == (cell, statistic)])
        assert alone[cell, statistic] == together[cell, statistic]


@CALM
@given(family())
def test_clusters_that_contribute_nothing_need_no_row(rows: list[Row]) -> None:
    present = [row for row in rows if row["denominator"] or row["numerator"]]
    found = intervals(present)
    every = intervals(rows)
    assert {key: every[key] for key in found} == found


@CALM
@given(family())
def test_an_interval_is_never_blank_nor_of_no_width_and_lies_where_its_kind_can(rows: list[Row]) -> None:
    kinds = {(row["cell"], row["statistic"]): row["kind"] for row in rows}
    for key, row in intervals(rows).items():
        if row["n_clusters"] < 2:
            assert (row["low"], row["high"], row["method"], row["p"]) == (None, None, None, None)
            continue
        assert row["low"] < row["high"]
        least = -1.0 if kinds.get(key) == "difference" or key not in kinds else 0.0
        assert least <= row["low"]
        assert row["high"] <= 1.0
        assert row["resamples"] + row["dropped"] == 200
        assert (row["p"] is not None) == (kinds.get(key) == "difference")


@CALM
@given(family())
def test_the_interval_leaves_0_out_exactly_where_p_is_small(rows: list[Row]) -> None:
    for row in intervals(rows).values():
        if row["p"] is not None and row["method"] == "percentile" and row["dropped"] == 0:
            if row["p"] < 0.05 - 0.01:
                assert row["low"] >= 0 or row["high"] <= 0
            if row["p"] > 0.05 + 0.01:
                assert row["low"] <= 0 <= row["high"]
