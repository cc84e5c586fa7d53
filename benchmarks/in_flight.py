"""Mean requests in flight against a server on loopback that answers in 200 ms: at least 0.9 of a concurrency of 64, a 50 KB image in each.

usage: python benchmarks/in_flight.py [--requests 6000]

What is measured is the client with the journal behind it, as `generate` uses them; the server counts what is in its hands. Prints one JSON
object. Meant for an idle machine with two cores: one for the client, one for the server.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from generator.client import Client, Reply, Request
from generator.journal import Journal

CONCURRENCY, LATENCY_S, IMAGE_BYTES, BOUND = 64, 0.2, 50_000, 0.9
ANSWER = json.dumps({"choices": [{"message": {"content": "ANSWER: even"}, "finish_reason": "stop"}]}).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(ANSWER)


def main() -> None:
    """Run a server in a process of its own, send the requests, print the mean."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--requests", type=int, default=6000)
    requests = arguments.parse_args().requests
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=lambda: asyncio.run(serve(theirs)), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(ask(f"http://127.0.0.1:{ours.recv()}/v1", requests, Journal(Path(folder, "warehouse.duckdb"))))
    ours.send(None)
    mean = ours.recv()
    print(json.dumps({"name": "in flight", "ratio": round(mean / CONCURRENCY, 3), "bound": BOUND, "requests": requests}))


async def ask(url: str, requests: int, journal: Journal) -> None:
    """Send so many requests, and put every exchange into the journal."""
    image = os.urandom(IMAGE_BYTES)

    def build() -> dict[str, Any]:
        url = f"data:image/png;base64,{base64.b64encode(image).decode()}"
        return {"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}

    def record(request: Request, attempt: int, reply: Reply) -> None:
        journal.append([("completion", {"request_key": request.key, "attempt": attempt, "response": reply.body})])

    async with Client(url, concurrency=CONCURRENCY) as client:
        syncing = asyncio.create_task(keep_durable(journal))
        await client.send_all((Request(str(n), build) for n in range(requests)), record)
        syncing.cancel()


async def keep_durable(journal: Journal) -> None:
    """Sync the journal four times a second."""
    while True:
        await asyncio.sleep(0.25)
        await asyncio.to_thread(journal.sync)


async def serve(pipe: Connection) -> None:
    """Answer every request after LATENCY_S; say the port, and when asked the mean number in hand from the first to the last arrival."""
    events: list[tuple[float, int]] = []
    server = await asyncio.start_server(answering(lambda change: events.append((time.monotonic(), change))), "127.0.0.1", 0, limit=1 << 20)
    pipe.send(server.sockets[0].getsockname()[1])
    await asyncio.to_thread(pipe.recv)
    last = max(at for at, change in events if change > 0)
    held, area = 0, 0.0
    for (at, change), (until, _) in zip(events, events[1:], strict=False):
        held += change
        area += held * (min(until, last) - min(at, last))
    pipe.send(area / (last - events[0][0]))


def answering(count: Callable[[int], None]) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]:
    """A connection's handler: just enough HTTP for one client, so that the server costs as little as it can."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
                await reader.readexactly(length)
                count(1)
                await asyncio.sleep(LATENCY_S)
                count(-1)
                writer.write(HEAD + ANSWER)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    return handle


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
