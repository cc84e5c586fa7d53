"""Mean requests in flight of a whole study against `vllm serve` on the CPU: at least 0.9 of a concurrency of 32; and what the client costs.

usage: python benchmarks/vllm_in_flight.py [--items 200]

What is measured is `vlmaudit generate` itself, which starts the server, asks all and stores it. A request is in flight from when it is sent
until its reply is there; the mean is taken from the first request to the last. The client's CPU time is all that its process used, from
reading the params file to the last merge. Prints one JSON object. Needs the environment of tests/vllm (`make vllm-env`), and is meant for
an idle machine with two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from analysis import session
from generator import items
from generator.corpus import wanted
from generator.generate import Options, generate
from generator.study import load

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ROOT / ".venv-vllm" / "bin"
CONCURRENCY, BOUND = 32, 0.9
IN_FLIGHT = """
    WITH sent AS (SELECT epoch(started_at) AS began, epoch(started_at) + latency_s AS ended FROM raw.completion),
    span AS (SELECT min(began) AS first, max(began) AS last FROM sent)
    SELECT sum(least(ended, last) - began) / max(last - first) AS mean, count(*) AS n, max(last - first) AS seconds
    FROM sent
    CROSS JOIN span
"""


def main() -> None:
    """Make the model and the items, run the study, print the mean."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--items", type=int, default=200)
    n = arguments.parse_args().items
    if not (COMMANDS.parent / "installed").exists():
        sys.exit("needs vLLM in an environment of its own, 2.5 GB: `make vllm-env` installs it")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([COMMANDS / "python", ROOT / "tests/vllm/tiny_model.py", folder / "model"], check=True, capture_output=True)
        params, data = describe(folder, n), folder / "data"
        items.prepare(wanted(load(params).values()), data)
        before = cpu_s()
        (result,) = generate(params, ["study"], data / "warehouse.duckdb", data, Options(say=lambda line: None))
        used = cpu_s() - before
        if result.failures:
            sys.exit(f"{result.failures[0]}")
        with session.open(data / "warehouse.duckdb") as reading:
            (row,) = reading.rows(IN_FLIGHT)
    print(
        json.dumps(
            {
                "name": "in flight against vllm serve",
                "ratio": round(row["mean"] / CONCURRENCY, 3),
                "bound": BOUND,
                "requests": row["n"],
                "requests_per_s": round(row["n"] / row["seconds"], 1),
                "client_cpu_ms_per_request": round(1000 * used / row["n"], 2),
            }
        )
    )


def describe(folder: Path, n: int) -> Path:
    """A params file with a study of n items and the tiny model."""
    model = {
        "serving": "vllm",
        "identifier": str(folder / "model"),
        "precision": "fp32",
        "thinking": [False],
        "engine_args": {"dtype": "float32", "max_model_len": 4096, "enforce_eager": True, "num_gpu_blocks_override": 1024},
        "environment": {
            "PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}",
            "HF_HUB_OFFLINE": "1",
            "TORCHDYNAMO_DISABLE": "1",
            "VLLM_CPU_KVCACHE_SPACE": "1",
        },
    }
    study = {
        "models": ["tiny"],
        "tasks": {"isobench/math_parity": {"source": "synth", "n": n}},
        "max_tokens": 64,
        "concurrency": CONCURRENCY,
    }
    params = folder / "params.yaml"
    params.write_text(yaml.safe_dump({"studies": {"study": study}, "models": {"tiny": model}}))
    return params


def cpu_s() -> float:
    """Seconds of CPU time that this process has used, its server's not counted."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
