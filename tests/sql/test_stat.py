"""Intervals against an independent computation in numpy and scipy on the same draws, and the edges that must not go blank."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.independent.resampling import draws
from tests.sql.literal import run


def clusters(task: str, n: int, rank: int = 1) -> list[dict[str, Any]]:
    return [{"task": task, "cluster_id": f"{task}/{i:04d}", "position": i, "n_clusters": n, "task_rank": rank} for i in range(n)]


def sums(task: str, statistic: str, numerators: Any, denominators: Any, kind: str = "rate", cell: str = "cell") -> list[dict[str, Any]]:
    return [
        {
            "task": task,
            "cell": cell,
            "statistic": statistic,
            "kind": kind,
            "cluster_id": f"{task}/{i:04d}",
            "numerator": float(a),
            "denominator": float(b),
        }
        for i, (a, b) in enumerate(zip(numerators, denominators, strict=True))
        if b is not None and not (a == 0 and b == 0)
    ]


def test_a_pools_median_is_taken_anew_in_each_resample() -> None:
    rng = np.random.default_rng(4)
    n, ones = 30, [1] * 30
    cells = [rng.integers(0, 2, n) for _ in range(5)]
    rows = [row | {"pool": "p"} for i, cell in enumerate(cells) for row in sums("t", "rate", cell, ones, cell=f"c{i}")]
    rows += [row | {"pool": None} for row in sums("t", "rate", [1] * n, ones, cell="apart")]
    found = run("stat.interval", {"stat.sums": rows, "stat.cluster": clusters("t", n)}, {"stat.resamples": "300"})
    values = np.median([cell[draws(300, n)].mean(axis=1) for cell in cells], axis=0)
    low, high = np.quantile(values, [0.025, 0.975])
    (row,) = [row for row in found if row["cell"] == "p"]
    assert row == {
        "task": "t", "cell": "p", "statistic": "rate", "estimate": pytest.approx(np.median([cell.mean() for cell in cells])), "se": None,
        "low": pytest.approx(low, abs=1e-9), "high": pytest.approx(high, abs=1e-9), "n": 5, "n_clusters": n, "resamples": 300, "dropped": 0,
        "seed": 0, "confidence": 0.95, "method": "percentile", "few_clusters": False, "p": None,
    }  # fmt: skip


def interval(rows: list[dict[str, Any]], given: list[dict[str, Any]], **settings: str) -> dict[str, dict[str, Any]]:
    found = run("stat.interval", {"stat.sums": rows, "stat.cluster": given}, {f"stat.{name}": value for name, value in settings.items()})
    return {row["statistic"]: row for row in found}


def expected(numerators: Any, denominators: Any, resamples: int, seed: int = 0, confidence: float = 0.95) -> tuple[float, float, int]:
    chosen = draws(resamples, len(numerators), seed)
    a, b = np.array(numerators, float)[chosen].sum(axis=1), np.array(denominators, float)[chosen].sum(axis=1)
    values = a[b > 0] / b[b > 0]
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return low, high, len(values)


@pytest.mark.parametrize(("n", "seed", "confidence"), [(2, 0, 0.95), (7, 3, 0.9), (55, 0, 0.95), (300, 12345, 0.99)])
def test_interval_is_numpys_percentile_interval_on_the_same_draws(n: int, seed: int, confidence: float) -> None:
    rng = np.random.default_rng(n)
    denominators = rng.integers(0, 4, n)
    denominators[:2] = [1, 3]
    numerators = rng.binomial(denominators, 0.4)
    scores = rng.random(n) * denominators
    rows = (
        sums("t", "rate", numerators, denominators)
        + sums("t", "score", scores, denominators)
        + sums("t", "gap", numerators - denominators, denominators, "difference")
    )
    found = interval(rows, clusters("t", n), resamples="500", seed=str(seed), confidence=str(confidence))
    for name, values in (("rate", numerators), ("score", scores), ("gap", numerators - denominators)):
        low, high, used = expected(values, denominators, 500, seed, confidence)
        row = found[name]
        assert row["estimate"] == pytest.approx(values.sum() / denominators.sum(), abs=1e-12)
        assert (row["low"], row["high"]) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))
        assert (row["resamples"], row["dropped"], row["seed"], row["confidence"]) == (used, 500 - used, seed, confidence)
        assert row["n"] == denominators.sum()
        assert row["n_clusters"] == (denominators > 0).sum()
        assert row["few_clusters"] == (row["n_clusters"] < 20)


def test_standard_error_is_cr1() -> None:
    rng = np.random.default_rng(1)
    b = rng.integers(1, 5, 40)
    a = rng.binomial(b, 0.3)
    rate = a.sum() / b.sum()
    wanted = math.sqrt(40 / 39 * ((a - rate * b) ** 2).sum()) / b.sum()
    assert interval(sums("t", "rate", a, b), clusters("t", 40), resamples="10")["rate"]["se"] == pytest.approx(wanted, abs=1e-12)


def test_tasks_draw_from_their_own_clusters_and_cells_of_a_task_resample_together() -> None:
    ones = [1] * 12
    a = [i % 2 for i in range(12)]
    rows = sums("t", "rate", a, ones, cell="one") + sums("t", "rate", a, ones, cell="two") + sums("u", "rate", a[:5], ones[:5])
    found = run("stat.interval", {"stat.sums": rows, "stat.cluster": clusters("t", 12, 1) + clusters("u", 5, 2)}, {"stat.resamples": "300"})
    ends = {(row["task"], row["cell"]): (row["low"], row["high"]) for row in found}
    assert ends["t", "one"] == ends["t", "two"] == pytest.approx(expected(a, ones, 300)[:2])
    assert ends["u", "cell"] == pytest.approx(expected(a[:5], ones[:5], 300)[:2])


@pytest.mark.parametrize("hits", [0, 30])
def test_a_rate_of_0_or_1_gets_wilsons_interval(hits: int) -> None:
    row = interval(sums("t", "rate", [hits / 30] * 30, [1] * 30), clusters("t", 30), resamples="50")["rate"]
    wilson = stats.binomtest(hits, 30).proportion_ci(method="wilson")
    assert (row["low"], row["high"], row["method"]) == (pytest.approx(wilson.low, abs=1e-9), pytest.approx(wilson.high, abs=1e-9), "wilson")


@pytest.mark.parametrize("difference", [-1, 0, 1])
def test_a_difference_that_never_varies_is_neither_blank_nor_zero_wide(difference: int) -> None:
    row = interval(sums("t", "gap", [difference] * 25, [1] * 25, "difference"), clusters("t", 25), resamples="50")["gap"]
    assert -1 <= row["low"] < row["high"] <= 1
    assert row["low"] <= difference <= row["high"]


def test_one_cluster_has_no_interval_and_five_are_flagged() -> None:
    alone = interval(sums("t", "rate", [1], [2]), clusters("t", 1), resamples="50")["rate"]
    assert (alone["estimate"], alone["low"], alone["high"], alone["se"], alone["method"]) == (0.5, None, None, None, None)
    five = interval(sums("t", "rate", [1, 0, 1, 0, 0], [1] * 5), clusters("t", 5), resamples="50")["rate"]
    assert five["few_clusters"]
    assert five["low"] < 0.4 < five["high"]


def test_a_cell_that_lacks_clusters_gives_nothing_for_them_and_empty_resamples_are_dropped_and_counted() -> None:
    row = interval(sums("t", "rate", [1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]), clusters("t", 6), resamples="400")["rate"]
    low, high, used = expected([1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], 400)
    assert used < 400
    assert (row["low"], row["high"], row["resamples"], row["dropped"]) == (low, high, used, 400 - used)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_z_is_the_normal_quantile(confidence: float) -> None:
    assert run("stat.setting", {}, {"stat.confidence": str(confidence)})[0]["z"] == pytest.approx(
        stats.norm.ppf((1 + confidence) / 2), rel=2e-9
    )


def test_weights_count_how_often_each_cluster_is_drawn() -> None:
    found = run("stat.weight", {"stat.cluster": clusters("t", 37)}, {"stat.resamples": "20", "stat.seed": "5"})
    wanted = draws(20, 37, 5)
    for row in found:
        weights = [weight for quarter in (1, 2, 3, 4) for weight in row[f"weights_{quarter}"]]
        assert weights == [float((wanted[row["resample"]] == k).sum()) for k in range(37)]


def test_vectors_that_hold_the_same_numbers_in_other_clusters_are_told_apart() -> None:
    numerators, ones = [0, 1, 2, 3, 4, 5, 6, 7], [7] * 8
    denominators = [8, 9, 10, 11, 12, 13, 14, 15]
    rows = [
        *(sums("t", "one", numerators, ones) + sums("t", "other", numerators[::-1], ones)),
        *(sums("t", "one", [1] * 8, denominators, cell="u") + sums("t", "one", [1] * 8, denominators[::-1], cell="v")),
    ]
    found = run("stat.interval", {"stat.sums": rows, "stat.cluster": clusters("t", 8)}, {"stat.resamples": "100"})
    ends = {(row["cell"], row["statistic"]): (row["low"], row["high"]) for row in found}
    assert ends["cell", "one"] == pytest.approx(expected(numerators, ones, 100)[:2], abs=1e-9)
    assert ends["cell", "other"] == pytest.approx(expected(numerators[::-1], ones, 100)[:2], abs=1e-9)
    assert ends["u", "one"] == pytest.approx(expected([1] * 8, denominators, 100)[:2], abs=1e-9)
    assert ends["v", "one"] == pytest.approx(expected([1] * 8, denominators[::-1], 100)[:2], abs=1e-9)
