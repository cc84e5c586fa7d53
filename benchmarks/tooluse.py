"""Seconds and memory of all `tooluse` views over 100,000 rollouts and 1,000,000 probes: at most 20 s and 3 GB.

usage: python -m benchmarks.tooluse [--items 1000] [--models 5] [--warehouse FILE]

The load is made in SQL: each item gets 8 tool rollouts of 5 calls, each call probed before, after the observation and after three
counterfactual ones; 8 direct rollouts; and 4 rollouts with random crops. Prints one JSON object a bound.
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

import duckdb

from analysis import catalog, session

SECONDS, GIGABYTES = 20.0, 3.0


def _reply(content: str) -> str:
    return json.dumps({"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": content}}]})


ANSWERED = _reply("<think>it is there</think><answer>A</answer>")
CALLED = _reply("<think>I think it is B, but let me look</think><tool_call>1</tool_call>")
BOX = '{"bbox_2d": [10, 10, 90, 90]}'
READING = """{"choices": [{"message": {"content": "?"}, "logprobs": {"content": [{"token": "token_id:349", "logprob": -2.5,
"top_logprobs": [{"token": "token_id:349", "logprob": -2.5}, {"token": "token_id:39", "logprob": %s},
{"token": "token_id:40", "logprob": %s},
{"token": "token_id:41", "logprob": %s}, {"token": "token_id:42", "logprob": %s}]}]}}]}"""

LOAD = f"""
CREATE TEMP TABLE item_load AS SELECT 'vstar/' || n AS item_id, n FROM range($items) AS t (n);

INSERT INTO item BY NAME
SELECT item_id, 'vstar' AS task, item_id AS cluster_id, '"' || chr(65 + CAST(n % 4 AS INTEGER)) || '"' AS gold,
    '{{"options": {{"A": "red", "B": "blue", "C": "green", "D": "white"}}}}' AS annotation
FROM item_load;

CREATE TEMP TABLE rollout_load AS
SELECT 'm' || m AS model_id, item_id, arm, r AS replicate, concat_ws('/', 'm' || m, item_id, arm, r) AS rollout_id, calls
FROM item_load
CROSS JOIN range($models) AS models (m)
CROSS JOIN (VALUES ('tool', 8, 5), ('direct', 8, 0), ('random_crop', 4, 5)) AS arms (arm, replicates, calls)
CROSS JOIN range(8) AS replicates (r)
WHERE r < replicates;

CREATE TEMP TABLE turn_load AS SELECT *, unnest(range(1, calls + 2)) AS turn FROM rollout_load;

INSERT INTO completion BY NAME
SELECT md5(rollout_id || turn) AS completion_id, md5(rollout_id || turn) AS request_key, 1 AS attempt, 'tool_use' AS protocol, model_id,
    FALSE AS thinking, 'vstar' AS task, item_id, arm, 'free' AS template, replicate, rollout_id, turn, 120 AS completion_tokens,
    200 AS http_status, CASE WHEN turn > calls THEN '{ANSWERED}' ELSE '{CALLED}' END AS response
FROM turn_load;

INSERT INTO grid BY NAME
SELECT 'load' AS study, '0001-load' AS grid_id, now()::TIMESTAMP AS created_at, request_key, protocol, model_id, thinking, task, item_id,
    arm, template, replicate
FROM completion;

INSERT INTO observation BY NAME
SELECT rollout_id, turn, 0 AS call_index, '{BOX}' AS requested, '{BOX}' AS executed, 'absolute' AS frame,
    CASE WHEN arm = 'tool' THEN 'real' ELSE arm END AS kind, 0 AS draw
FROM turn_load
WHERE turn <= calls;

INSERT INTO rollout BY NAME SELECT rollout_id, 1 AS attempt, 12 AS max_calls, 'answer' AS end_reason FROM rollout_load;

INSERT INTO probe BY NAME
SELECT rollout_id, turn, 0 AS call_index, stage, draw, 1 AS attempt, '{{"A": [39], "B": [40], "C": [41], "D": [42]}}' AS options,
    200 AS http_status, printf('{READING.replace("%s", "%.12f")}', -6 * random(), -6 * random(), -6 * random(), -0.1) AS response
FROM turn_load
CROSS JOIN (
    VALUES ('before', 0), ('real', 0), ('counterfactual', 1), ('counterfactual', 2), ('counterfactual', 3)
) AS stages (stage, draw)
WHERE arm = 'tool' AND turn <= calls
"""


def write_load(path: Path, items: int, models: int) -> None:
    """Write the load into a new warehouse file."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS raw")
        connection.execute("USE raw")
        connection.execute(catalog.load().raw_schema)
        for statement in LOAD.split(";\n"):
            named = {name: value for name, value in (("items", items), ("models", models)) if f"${name}" in statement}
            connection.execute(statement, named)


def read_all(path: Path) -> dict[str, float]:
    """Read every view of `tooluse` in one session; seconds by view, in reading order."""
    seconds = {}
    with session.open(path) as opened:
        for name in sorted(view for view in opened.catalog if view.startswith("tooluse.")):
            started = time.perf_counter()
            opened.connection.execute(f"SELECT count(*) FROM ({_select(opened, name)})").fetchall()
            seconds[name] = round(time.perf_counter() - started, 2)
    return seconds


def _select(opened: session.Session, name: str) -> str:
    """A query that needs every column of every row."""
    opened.need(name)
    return f"SELECT DISTINCT hash(COLUMNS(*)) FROM {name}"


def main() -> None:
    """Make the load, read it in a process of its own, and print what that took."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--items", type=int, default=1000)
    options.add_argument("--models", type=int, default=5)
    options.add_argument("--warehouse", type=Path, help="where to keep the load; by default a temporary file")
    options.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.read:
        seconds = read_all(given.read)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(json.dumps({"views": seconds, "seconds": round(sum(seconds.values()), 2), "gigabytes": round(peak, 2)}))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = given.warehouse or Path(folder, "load.duckdb")
        if not path.exists():
            write_load(path, given.items, given.models)
        done = subprocess.run([sys.executable, "-m", "benchmarks.tooluse", "--read", str(path)], capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout)
    print(json.dumps({"name": "tooluse views, seconds", "ratio": measured["seconds"] / SECONDS, "bound": 1.0, **measured}))
    print(json.dumps({"name": "tooluse views, memory", "ratio": measured["gigabytes"] / GIGABYTES, "bound": 1.0}))


if __name__ == "__main__":
    main()
