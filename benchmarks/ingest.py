"""Seconds and memory of ingesting the 81,624 completions of a study as large as the paper's: at most 20 s and 1 GB.

usage: python benchmarks/ingest.py MAKE_COMPLETIONS.py [--scale 1.0]

MAKE_COMPLETIONS.py is the script that writes the file in the ingest form (`reference/make_completions.py` of the design). Prints one JSON
object a bound: seconds of a new warehouse, seconds of the same file again (which must store nothing), and the peak memory of both.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generator.ingest import Report, ingest

SECONDS, GIGABYTES = 20.0, 1.0


def main() -> None:
    """Write the file, ingest it twice, print what it took."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("make_completions", type=Path)
    arguments.add_argument("--scale", default="1.0")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, warehouse = Path(folder, "completions.jsonl"), Path(folder, "warehouse.duckdb")
        subprocess.run([sys.executable, str(given.make_completions), str(file), "--scale", given.scale], check=True)
        seconds, first = timed(file, warehouse)
        again_seconds, again = timed(file, warehouse)
    assert not first.refused
    assert again.already == first.lines
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    show("ingest", seconds=round(seconds, 2), bound=SECONDS, rows=first.lines)
    show("ingest again", seconds=round(again_seconds, 2), bound=SECONDS, rows=again.lines)
    show("ingest memory", gigabytes=round(peak, 3), bound=GIGABYTES)


def timed(file: Path, warehouse: Path) -> tuple[float, Report]:
    """Ingest a file; the seconds it took, and its report."""
    begin = time.perf_counter()
    report = ingest(file, warehouse)
    return time.perf_counter() - begin, report


def show(name: str, **figures: float) -> None:
    """Print one figure and its bound as a JSON object."""
    print(json.dumps({"name": name, **figures}))


if __name__ == "__main__":
    main()
