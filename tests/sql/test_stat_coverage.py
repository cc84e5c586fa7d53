"""The interval against what it promises and against scipy's; `benchmarks/coverage.py` is the full study, its result stored beside it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks.coverage import BOUNDS, TRUTH, coverage, intervals, simulated


@pytest.mark.parametrize("clusters", BOUNDS)
def test_intervals_of_simulated_studies_hold_the_truth_as_often_as_they_say(clusters: int) -> None:
    for row in coverage(studies=300, clusters=clusters, resamples=400, seed=1):
        assert row["covered"] == pytest.approx(0.95, abs=BOUNDS[clusters] + 0.01), row["name"]  # 0.01: fewer studies than the stored one


def test_the_stored_coverage_keeps_its_bounds() -> None:
    stored = Path(__file__).parents[2] / "benchmarks" / "results" / "coverage.json"
    rows = json.loads(stored.read_text(encoding="utf-8"))
    assert len(rows) == len(TRUTH) * len(BOUNDS)
    for row in rows:
        assert row["studies"] == 1000
        assert row["covered"] == pytest.approx(row["wanted"], abs=row["bound"]), row["name"]


def test_scipys_bootstrap_draws_the_same_interval_within_monte_carlo_error() -> None:
    clusters, resamples = 80, 4000
    sums = simulated(1, clusters, seed=3)
    found = {row["statistic"]: row for row in intervals(sums, clusters, {"stat.resamples": str(resamples)})}
    for name in TRUTH:
        rows = sums.filter(sums["statistic"] == name)
        theirs = stats.bootstrap(
            (rows["numerator"].to_numpy(), rows["denominator"].to_numpy()),
            lambda a, b, axis=-1: a.sum(axis) / b.sum(axis),
            n_resamples=resamples,
            paired=True,
            method="percentile",
            rng=np.random.default_rng(0),
        )
        mine = found[name]
        # an end of either is off by about 0.04 standard errors of the estimate at 4,000 resamples: five times that, and both are drawn
        slack = 5 * np.sqrt(2) * 0.042 * theirs.standard_error
        assert (mine["low"], mine["high"]) == pytest.approx(tuple(theirs.confidence_interval), abs=slack)
        assert mine["se"] == pytest.approx(theirs.standard_error, rel=0.1)
