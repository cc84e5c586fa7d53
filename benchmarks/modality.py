"""All views of seed 000 with their intervals, cold: 8 times as fast as pandas and scipy on a study of the paper's size, in 2 GB.

usage: python benchmarks/modality.py MAKE_COMPLETIONS.py BASELINE_ANALYSIS.py [--scale 1.0] [--warehouse FILE]

The opponent is BASELINE_ANALYSIS.py (pandas must be installed) on the completions that MAKE_COMPLETIONS.py writes: the seconds that it
prints at its end. Ours are the seconds that a new process takes to compute every exported view of attrition.* and modality.* with 10,000
resamples and no cache, reading sql/ included. The opponent computes about a fifth as many intervals. Given a warehouse instead (of a
million completions, say), nothing is run beside it: seconds for each 81,624 completions, and 4 GB. Prints one JSON object a bound.
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

RATIO, GIGABYTES, PAPER = 8.0, 2.0, 81_624


def compute(warehouse: Path) -> dict[str, float]:
    """Compute every view in this process: seconds, gigabytes at the peak, completions."""
    began = time.perf_counter()
    from analysis import export, session

    with session.open(warehouse) as reading:
        reading.cache = None
        for name in export.exported(reading.catalog):
            if name.startswith(("attrition.", "modality.")):
                reading.need(name)
                reading.connection.execute(f"CREATE OR REPLACE TEMP TABLE made AS FROM {name}")
        seconds = time.perf_counter() - began
        completions = reading.connection.execute("SELECT count(*) FROM raw.completion").fetchall()[0][0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return {"seconds": round(seconds, 2), "gigabytes": round(peak, 2), "completions": completions}


def ours(warehouse: Path) -> dict[str, float]:
    """The same in a process of its own, so that its memory is its own."""
    command = [sys.executable, __file__, "--compute", str(warehouse)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # type: ignore[no-any-return]


def theirs(script: Path, completions: Path) -> float:
    """Seconds that the opponent says it took."""
    said = subprocess.run([sys.executable, str(script), str(completions)], check=True, capture_output=True, text=True).stdout
    return next(float(line.split()[1]) for line in said.splitlines() if line.startswith("intervals"))


def main() -> None:
    """Write the completions, store them, time both, and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("make_completions", type=Path, nargs="?")
    arguments.add_argument("baseline_analysis", type=Path, nargs="?")
    arguments.add_argument("--scale", default="1.0")
    arguments.add_argument("--warehouse", type=Path)
    arguments.add_argument("--compute", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.compute:
        print(json.dumps(compute(given.compute)))
    elif given.warehouse:
        made = ours(given.warehouse)
        print(
            json.dumps(
                {
                    "name": "modality views, seconds for each paper's study",
                    "value": round(made["seconds"] * PAPER / made["completions"], 2),
                    **made,
                }
            )
        )
    elif given.make_completions and given.baseline_analysis:
        with tempfile.TemporaryDirectory() as folder:
            file, warehouse = Path(folder, "completions.jsonl"), Path(folder, "warehouse.duckdb")
            subprocess.run([sys.executable, str(given.make_completions), str(file), "--scale", given.scale], check=True)
            from generator.ingest import ingest

            ingest(file, warehouse)
            opponent, made = theirs(given.baseline_analysis, file), ours(warehouse)
        ratio = round(opponent / made["seconds"], 2)
        print(
            json.dumps({"name": "modality views", "ratio": ratio, "bound": RATIO, "seconds": made["seconds"], "opponent_seconds": opponent})
        )
        print(json.dumps({"name": "modality views, memory in GB", "value": made["gigabytes"], "bound": GIGABYTES}))
    else:
        arguments.error("name MAKE_COMPLETIONS.py and BASELINE_ANALYSIS.py, or a --warehouse")


if __name__ == "__main__":
    main()
