"""What the cache saves: a cached table under 1 s, and after 1 % new rows, parsing and weights at most 0.15 of what they cost cold.

usage: python benchmarks/cache.py [--warehouse data/warehouse.duckdb] [--repeats 3]

Works on a copy of the warehouse (the bounds are meant for the 81,624 rows that `make_completions.py` writes). The opponent is the same
command without a cache. New rows are later attempts of calls that are there already, so that the study's clusters stay as they are.
Prints one JSON object a measure.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from analysis import session

TABLE_S, SHARE = 1.0, 0.15
PARSING_AND_WEIGHTS = ("attrition.ending", "parse.field", "stat.weight")
RUN = [sys.executable, "-c", "import sys, vlmaudit; sys.exit(vlmaudit.main())"]


@contextmanager
def kept_in(folder: str) -> Iterator[None]:
    """The environment with the cache in this folder; nowhere where it is empty."""
    before = os.environ.get("VLMAUDIT_CACHE")
    os.environ["VLMAUDIT_CACHE"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["VLMAUDIT_CACHE"]
        else:
            os.environ["VLMAUDIT_CACHE"] = before


def computed(warehouse: Path) -> float:
    """Seconds until parsing and weights are there, without opening the warehouse."""
    with session.open(warehouse) as reading:
        reading.catalog.closure(PARSING_AND_WEIGHTS)
        started = time.perf_counter()
        reading.need(*PARSING_AND_WEIGHTS)
        return time.perf_counter() - started


def table(warehouse: Path) -> float:
    """Seconds of `vlmaudit table 3` in a process of its own."""
    started = time.perf_counter()
    subprocess.run([*RUN, "table", "3", "--warehouse", str(warehouse)], check=True, capture_output=True)
    return time.perf_counter() - started


def grow(warehouse: Path, number: int) -> None:
    """Add one row for every hundred: another attempt, told apart by `number`."""
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute(
            f"""
            INSERT INTO completion BY NAME
            SELECT * REPLACE (attempt + {number} AS attempt, md5(completion_id || '|{number}') AS completion_id)
            FROM completion WHERE rowid % 100 = {number}
            """
        )


def report(name: str, seconds: float, opponent: float, bound: float, ratio: bool) -> None:
    """One line of JSON."""
    value = seconds / opponent if ratio else seconds
    print(
        json.dumps(
            {"name": name, "seconds": round(seconds, 3), "without_cache": round(opponent, 3), "ratio": round(seconds / opponent, 3)}
            | {"bound": bound, "within": value <= bound}
        )
    )


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--warehouse", type=Path, default=Path("data/warehouse.duckdb"))
    arguments.add_argument("--repeats", type=int, default=3)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warehouse = Path(shutil.copy(chosen.warehouse, Path(folder) / "warehouse.duckdb"))
        kept = str(Path(folder) / "kept")
        with kept_in(kept):
            table(warehouse)
            warm = statistics.median(table(warehouse) for _ in range(chosen.repeats))
        with kept_in(""):
            cold = statistics.median(table(warehouse) for _ in range(chosen.repeats))
        report("a cached table", warm, cold, TABLE_S, ratio=False)
        with kept_in(""):
            cold = statistics.median(computed(warehouse) for _ in range(chosen.repeats))
        more = []
        with kept_in(kept):
            computed(warehouse)
            for number in range(1, chosen.repeats + 1):
                grow(warehouse, number)
                more.append(computed(warehouse))
        report("parsing and weights after 1 % new rows", statistics.median(more), cold, SHARE, ratio=True)


if __name__ == "__main__":
    main()
