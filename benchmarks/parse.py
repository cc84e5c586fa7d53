"""From stored bodies to `parse.field`, strict: 8 times as fast as plain Python on the 81,624 completions of a study like the paper's.

usage: python benchmarks/parse.py MAKE_COMPLETIONS.py BASELINE_ANALYSIS.py [--scale 1.0] [--repeats 3]

The opponent is the `read` and `parse` parts of BASELINE_ANALYSIS.py (json, re and pandas, which must be installed): the seconds that it
prints, after which it is stopped. Ours are the seconds that a new session takes to make `parse.field` from a warehouse, views included.
Both run by turns and the medians are compared. The rule set that is not chosen must cost next to nothing: `parse.field` takes at most
a quarter longer than `parse.strict` alone. Prints one JSON object a bound, with the seconds behind it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from analysis import session
from generator.ingest import ingest

BOUND, UNUSED_BOUND = 8.0, 1.25


def main() -> None:
    """Write the completions, store them, time both by turns."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("make_completions", type=Path)
    arguments.add_argument("baseline_analysis", type=Path)
    arguments.add_argument("--scale", default="1.0")
    arguments.add_argument("--repeats", type=int, default=3)
    given = arguments.parse_args()
    theirs, ours, alone = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        file, warehouse = Path(folder, "completions.jsonl"), Path(folder, "warehouse.duckdb")
        subprocess.run([sys.executable, str(given.make_completions), str(file), "--scale", given.scale], check=True)
        ingest(file, warehouse)
        for _ in range(given.repeats):
            theirs.append(baseline(given.baseline_analysis, file))
            ours.append(parsed(warehouse, "parse.field"))
            alone.append(parsed(warehouse, "parse.strict"))
    opponent, seconds, strict = statistics.median(theirs), statistics.median(ours), statistics.median(alone)
    figures = {"ratio": round(opponent / seconds, 2), "bound": BOUND, "seconds": round(seconds, 3), "opponent_seconds": round(opponent, 3)}
    print(json.dumps({"name": "parse", **figures}))
    print(json.dumps({"name": "unused rule set", "ratio": round(seconds / strict, 2), "bound": UNUSED_BOUND, "seconds": round(strict, 3)}))


def baseline(script: Path, file: Path) -> float:
    """Seconds that the opponent says it took until it had read and parsed all."""
    with subprocess.Popen([sys.executable, "-u", str(script), str(file)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            name, seconds, *_ = line.split()
            if name == "parse":
                process.kill()
                return float(seconds)
    raise SystemExit(f"{script} ended before it had parsed: is pandas installed?")


def parsed(warehouse: Path, view: str) -> float:
    """Seconds until a new session has all rows of a view in a table, from the stored bodies and without the cache."""
    connection = duckdb.connect()
    session.attach(connection, warehouse)
    reading = session.on(connection, {"parse.rules": "strict"})
    begin = time.perf_counter()
    reading.need(view)
    if not reading.catalog[view].cache:
        connection.execute(f"CREATE TABLE made AS FROM {view}")
    seconds = time.perf_counter() - begin
    connection.close()
    return seconds


if __name__ == "__main__":
    main()
