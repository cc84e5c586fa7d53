"""Seconds until something is on the screen: `vlmaudit --help` under 0.4, any `show` of a demo study under 1.5, binding any view under 0.3.

usage: python benchmarks/startup.py [--warehouse data/warehouse.duckdb] [--repeats 5]

The opponent is a bare interpreter that imports what the command needs (typer; duckdb and sqlglot besides), run in turns with it. Each
figure is a median, each maximum is over all views. Prints one JSON object a measure.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from analysis import catalog, session

HELP_S, SHOW_S, BIND_S = 0.4, 1.5, 0.3
RUN = [sys.executable, "-c", "import sys, vlmaudit; sys.exit(vlmaudit.main())"]


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def process(*command: str) -> float:
    """Wall time of one process that must succeed."""
    return seconds(lambda: subprocess.run(command, check=True, capture_output=True))


def side_by_side(name: str, command: list[str], imports: str, bound: float, repeats: int) -> None:
    """A command and the bare interpreter, in turns."""
    pairs = [(process(*command), process(sys.executable, "-c", f"import {imports}")) for _ in range(repeats)]
    ours, bare = (statistics.median(column) for column in zip(*pairs, strict=True))
    report(name, ours, bound, opponent=f"python -c 'import {imports}'", ratio=round(ours / bare, 2))


def report(name: str, took: float, bound: float, **more: object) -> None:
    """One line of JSON."""
    print(json.dumps({"name": name, "seconds": round(took, 3), "bound": bound, "within": took < bound, **more}))


def slowest_show(warehouse: Path, repeats: int) -> tuple[float, str]:
    """The view whose `show` takes longest, of the median over repeats."""
    views = catalog.load()
    shown = {
        name: statistics.median(process(*RUN, "show", name, "--warehouse", str(warehouse), "--format", "csv") for _ in range(repeats))
        for name in views
    }
    return max((took, name) for name, took in shown.items())


def slowest_binding(warehouse: Path, repeats: int) -> tuple[float, str]:
    """The view that takes longest to bind, where cached views stand as tables."""
    with session.open(warehouse) as reading:
        reading.need(*reading.catalog)
        bound = {
            name: statistics.median(seconds(lambda text=view.text: reading.connection.execute(f"DESCRIBE {text}")) for _ in range(repeats))
            for name, view in reading.catalog.items()
        }
    return max((took, name) for name, took in bound.items())


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--warehouse", type=Path, default=Path("data/warehouse.duckdb"))
    arguments.add_argument("--repeats", type=int, default=5)
    chosen = arguments.parse_args()
    side_by_side("vlmaudit --help", [*RUN, "--help"], "typer", HELP_S, chosen.repeats)
    one = [*RUN, "show", "modality.prospective_cell", "--warehouse", str(chosen.warehouse)]
    side_by_side("vlmaudit show modality.prospective_cell", one, "typer, duckdb, sqlglot", SHOW_S, chosen.repeats)
    took, view = slowest_show(chosen.warehouse, 1)
    report("slowest show", took, SHOW_S, view=view)
    took, view = slowest_binding(chosen.warehouse, chosen.repeats)
    report("slowest binding", took, BIND_S, view=view)


if __name__ == "__main__":
    main()
