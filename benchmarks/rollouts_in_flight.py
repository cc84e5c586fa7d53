"""Mean requests in flight of many rollouts against a server on loopback that answers in 200 ms: at least 0.9 of a concurrency of 32.

usage: python benchmarks/rollouts_in_flight.py [--items 20]

What is measured is `vlmaudit rollout` itself: each rollout makes three calls on a scene of 2,000 pixels and answers, so that crops are
cut, encoded and stored between its turns. The server counts what is in its hands. Prints one JSON object. Meant for an idle machine with
two cores: one for the client, one for the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import in_flight
import yaml

from generator.run import Options
from generator.tool_use import rollout

CONCURRENCY, BOUND, CALLS = 32, 0.9, 3
REPLICATES = 8  # as in seed 001
LOOK = '<tool_call>{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [100, 100, 220, 220], "label": "x", "img_idx": 0}}</tool_call>'


def main() -> None:
    """Run a server in a process of its own, roll out, print the mean."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--items", type=int, default=20)
    n = arguments.parse_args().items
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = {
            "protocol": "tool_use",
            "models": ["own/one"],
            "tasks": {"vstar": {"source": "synth", "n": n}},
            "arms": ["tool", "random_crop"],
            "replicates": REPLICATES,
            "probed": 0,
            "concurrency": CONCURRENCY,
        }
        model = {"serving": "vllm", "base_url": f"http://127.0.0.1:{ours.recv()}/v1", "precision": "bf16", "interface": "qwen3_vl"}
        params = folder / "params.yaml"
        params.write_text(yaml.safe_dump({"studies": {"s": study}, "models": {"own/one": {**model, "thinking": [False]}}}))
        warehouse, options = folder / "data" / "w.duckdb", Options(say=lambda line: None)
        rollout(params, ["s"], warehouse, folder / "data", replace(options, stages=()))  # makes the items and the grid
        began = time.process_time()
        rollout(params, ["s"], warehouse, folder / "data", options)
        spent = time.process_time() - began
    ours.send(None)
    rollouts = 2 * REPLICATES * n
    requests = rollouts * (CALLS + 1)
    measured = {"ratio": round(ours.recv() / CONCURRENCY, 3), "bound": BOUND, "rollouts": rollouts, "requests": requests}
    print(json.dumps({"name": "rollouts in flight", **measured, "client_cpu_ms_per_request": round(1000 * spent / requests, 2)}))


def serve(pipe: Connection) -> None:
    """The other benchmark's server, with turns for answers."""
    in_flight.answering = answering
    asyncio.run(in_flight.serve(pipe))


def answering(count: Callable[[int], None]) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]:
    """A connection's handler: just enough HTTP; a call while fewer than CALLS were made, then an answer."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                request = head.partition(b" ")[0]
                length = int((head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or b"0").strip())
                body = await reader.readexactly(length)
                if request != b"POST":  # who are you, asks the client before it begins
                    writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                    continue
                count(1)
                await asyncio.sleep(in_flight.LATENCY_S)
                count(-1)
                said = LOOK if body.count(b'"role":"assistant"') < CALLS else "<answer>A</answer>"
                answer = json.dumps({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(answer) + answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    return handle


if __name__ == "__main__":
    main()
