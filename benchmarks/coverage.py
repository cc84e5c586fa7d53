"""Coverage of the 95 % interval: 1,000 simulated studies with known truth, 50 and 200 clusters.

usage: python benchmarks/coverage.py [--studies 1000] [--resamples 10000] [--out benchmarks/results/coverage.json]

Every study is a cell of one family of sums, so that all go through `stat.interval` at once. A cluster holds one to three items; in each, a
change is predicted and one is executed with probabilities that are the cluster's own, and the two are correlated: the truth of the rates
and of their difference is known. The studies are independent, their resamples are the same, as those of the cells of a real study are.
Prints and writes one JSON object for each number of clusters and statistic: share covered, its bound, mean width.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis import session
from analysis.catalog import Catalog, load

PREDICTED, EXECUTED = (2.0, 8.0), (4.0, 6.0)  # of the beta distributions of the clusters' own probabilities
TRUTH = {"predicted_change": 0.2, "executed_change": 0.4, "gap": 0.2}
BOUNDS = {50: 0.03, 200: 0.02}  # by number of clusters


def simulated(studies: int, clusters: int, seed: int) -> pl.DataFrame:
    """The sums of every study: one row is one cluster of one statistic of one study (see stat.sums)."""
    rng = np.random.default_rng(seed)
    shape = (studies, clusters)
    items = rng.integers(1, 4, shape)
    predicted = rng.binomial(items, rng.beta(*PREDICTED, shape))
    executed = rng.binomial(items, rng.beta(*EXECUTED, shape))
    study, cluster = (index.ravel() for index in np.indices(shape))
    common = {"task": "t", "pool": None, "cell": [f"study {n}" for n in study], "cluster_id": [f"cluster {n:04d}" for n in cluster]}
    numerators = {"predicted_change": predicted, "executed_change": executed, "gap": executed - predicted}
    return pl.concat(
        pl.DataFrame(
            {
                **common,
                "statistic": name,
                "kind": "difference" if name == "gap" else "rate",
                "numerator": numerator.ravel().astype(float),
                "denominator": items.ravel().astype(float),
            },
            schema_overrides={"pool": pl.String},
        )
        for name, numerator in numerators.items()
    )


def intervals(sums: pl.DataFrame, clusters: int, settings: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of `stat.interval` over these sums."""
    task = pl.DataFrame({"cluster_id": [f"cluster {n:04d}" for n in range(clusters)], "position": range(clusters)})
    task = task.with_columns(task=pl.lit("t"), n_clusters=pl.lit(clusters), task_rank=pl.lit(1))
    views = load()
    with tempfile.TemporaryDirectory() as folder:
        given = {}
        for name, frame in (("stat.sums", sums), ("stat.cluster", task)):
            file = Path(folder, f"{name}.parquet")
            frame.write_parquet(file)
            given[name] = f"SELECT * FROM read_parquet('{file}')"
        catalog = Catalog({**{name: view.text for name, view in views.items()}, **given}, views.raw_schema)
        return session.on(session.empty_warehouse(), settings, catalog).rows("SELECT * FROM stat.interval")


def coverage(studies: int, clusters: int, resamples: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """How often the intervals of each statistic hold the truth."""
    found = intervals(simulated(studies, clusters, seed), clusters, {"stat.resamples": str(resamples)})
    for name, truth in TRUTH.items():
        rows = [row for row in found if row["statistic"] == name]
        covered = sum(row["low"] <= truth <= row["high"] for row in rows) / len(rows)
        width = sum(row["high"] - row["low"] for row in rows) / len(rows)
        figures = {"covered": covered, "wanted": 0.95, "bound": BOUNDS[clusters], "mean_width": round(width, 4)}
        yield {"name": f"coverage of {name}, {clusters} clusters", "studies": len(rows), "resamples": resamples, **figures}


def main() -> None:
    """Simulate, print and write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--studies", type=int, default=1000)
    arguments.add_argument("--resamples", type=int, default=10000)
    arguments.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "coverage.json")
    given = arguments.parse_args()
    found = [row for clusters in BOUNDS for row in coverage(given.studies, clusters, given.resamples)]
    for row in found:
        print(json.dumps(row))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
