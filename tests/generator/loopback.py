"""A real HTTP server on loopback for any ASGI app, and a clock on which waiting takes no time."""

import asyncio
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def serving(app: Any, **config: Any) -> Iterator[str]:
    """Yield the base URL (ending in /v1) of a server that runs the app in a thread until left."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off", **config))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(10)


class VirtualClock:
    """Time that passes only by sleeping, and then at once; `slept` lists every wait."""

    def __init__(self, start: float = 1_750_000_000.0) -> None:
        self.time = start
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.time + seconds
        await asyncio.sleep(0)
        self.time = max(self.time, until)


def wait_until(condition: Callable[[], bool], run: subprocess.Popen[str]) -> None:
    """Wait until the condition holds or the run has ended, a minute at most."""
    deadline = time.monotonic() + 60
    while not condition() and run.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
