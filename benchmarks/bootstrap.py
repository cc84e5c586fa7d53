"""The bootstrap alone: at most 10 times numpy's matrix product and quantiles of the same statistics, on the same weights and threads.

usage: OPENBLAS_NUM_THREADS=2 python benchmarks/bootstrap.py [--warehouse data/warehouse.duckdb] [--family prospective] [--repeats 3]

Both start from the weights and from each cluster's contributions (stat.sums) and end with the estimate and its interval, medians over
cells included in ours alone. numpy multiplies doubles (float64). Meant for the 81,624 rows that `make_completions.py` writes. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import numpy as np

from analysis import session

BOUND = 10.0


def main() -> None:
    """Time both by turns and print the ratio of the medians."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--warehouse", type=Path, default=session.WAREHOUSE)
    arguments.add_argument("--family", default="prospective", help="modality.<family>_sums and modality.<family>_interval")
    arguments.add_argument("--repeats", type=int, default=3)
    given = arguments.parse_args()
    sums, interval = f"modality.{given.family}_sums", f"modality.{given.family}_interval"
    ours, theirs = [], []
    with session.open(given.warehouse) as reading:
        reading.cache = None
        reading.need("stat.weight", "stat.setting", sums, *reading.catalog.dependencies(interval))
        threads = reading.connection.execute("SELECT current_setting('threads')").fetchall()[0][0]
        contributions, weights = read(reading, sums)
        for _ in range(given.repeats):
            began = time.perf_counter()
            reading.connection.execute(f"CREATE OR REPLACE TEMP TABLE made AS {reading.catalog[interval].text}")
            ours.append(time.perf_counter() - began)
            began = time.perf_counter()
            compute(contributions, weights)
            theirs.append(time.perf_counter() - began)
    seconds, numpy = statistics.median(ours), statistics.median(theirs)
    said = {"name": f"bootstrap of {interval}", "ratio": round(seconds / numpy, 2), "bound": BOUND, "seconds": round(seconds, 3)}
    print(
        json.dumps(
            said | {"numpy_seconds": round(numpy, 3), "threads": threads, "numpy_threads": os.environ.get("OPENBLAS_NUM_THREADS", "all")}
        )
    )


def read(reading: session.Session, sums: str) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], dict[str, np.ndarray]]:
    """Numerators and denominators (clusters × statistics) and weights (resamples × clusters) of each task."""
    contributions, weights = {}, {}
    for task, rank, clusters in reading.connection.execute(
        "SELECT task, task_rank, max(n_clusters) FROM stat.cluster GROUP BY ALL"
    ).fetchall():
        rows = reading.connection.execute(
            f"""
            SELECT dense_rank() OVER (ORDER BY cell, statistic) - 1 AS statistic, position, numerator, denominator
            FROM {sums} AS sums INNER JOIN stat.cluster USING (task, cluster_id) WHERE task = ?
            """,
            [task],
        ).fetchnumpy()
        numerators, denominators = (np.zeros((clusters, int(max(rows["statistic"], default=-1)) + 1)) for _ in range(2))
        numerators[rows["position"], rows["statistic"]] = rows["numerator"]
        denominators[rows["position"], rows["statistic"]] = rows["denominator"]
        contributions[task] = numerators, denominators
        lists = reading.connection.execute(
            "SELECT weights_1 || weights_2 || weights_3 || weights_4 FROM stat.weight WHERE task_rank = ? ORDER BY resample", [rank]
        ).fetchall()
        weights[task] = np.array([row[0] for row in lists])
    return contributions, weights


def compute(contributions: dict[str, tuple[np.ndarray, np.ndarray]], weights: dict[str, np.ndarray]) -> None:
    """Estimates and percentile intervals of every statistic, as numpy does it."""
    for task, (numerators, denominators) in contributions.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            numerators.sum(0) / denominators.sum(0)
            resampled = (weights[task] @ numerators) / (weights[task] @ denominators)
        np.quantile(resampled, [0.025, 0.975], axis=0)


if __name__ == "__main__":
    main()
