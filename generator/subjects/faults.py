"""A fault server: a simulated subject that fails as real providers do, on a schedule, and keeps a log of what it served.

For tests, and to rehearse before money is spent:

    python -m generator.subjects.faults --port 8123 --rate 0.2

serves `http://127.0.0.1:8123/v1` until Ctrl-C; GET /served tells what it has done so far. It plays the faults of PASSING unless others are
named, so a study under them ends with the same answers as without; those others lose an answer, or stop a run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from typing import Any

import httpx

from generator.client import Clock, SystemClock
from generator.subjects import app as subject_app
from generator.subjects import draw
from generator.subjects.chat import App, Receive, Scope, Send, received, respond
from generator.subjects.fault_kinds import BYTES, EDITS, FAULTS, HEADERS, PASSING, REFUSALS, Body
from generator.subjects.question import digest

BURST = 10  # requests in a row that a burst refuses
PIECES, PIECE_S = 8, 0.25  # a slow body comes in so many pieces, so far apart
RESET = "vlmaudit.reset"  # in a request's scope: what breaks its connection off, where the server can

SOUND = "sound"


class HangUpError(ConnectionError):
    """The server leaves in the middle of a body."""


# -- schedules: which fault the n-th request meets, given a digest of its body and how often that body has come before --------------------

Schedule = Callable[[int, str, int], str]


def at_rate(rate: float, kinds: Iterable[str] = PASSING, seed: int = 0, after: int = 0) -> Schedule:
    """About that share of the requests fails, once `after` have been served, each kind alike. The same requests meet the same faults."""
    names = tuple(kinds)
    # what begins a run of refusals is drawn that much less often
    odds = {name: rate / len(names) / (BURST if name in ("burst", "storm") else 1) for name in names}
    odds[SOUND] = 1 - sum(odds.values())
    return lambda n, request, visit: SOUND if n < after else draw.choose(odds, "faults", seed, request, visit)


def listed(kinds: Iterable[str]) -> Schedule:
    """These in order of arrival, then none."""
    names = list(kinds)
    return lambda n, request, visit: names[n] if n < len(names) else SOUND


# -- the server --------------------------------------------------------------------------------------------------------------------


@dataclass
class Served:
    """One request: when it arrived (seconds since 1970), what it met, until when it was told to wait, whether its reply went out whole."""

    n: int
    at: float
    request: str
    kind: str
    status: int | None = None
    not_before: float | None = None
    whole: bool = False


class Faults:
    """An ASGI application that passes requests on to another one and spoils its replies; `log` has a row for each chat request.

    `wait_s` is the Retry-After of a 429, and how long a storm of them lasts.
    """

    def __init__(self, app: App, schedule: Schedule, clock: Clock | None = None, wait_s: float = 2.0) -> None:
        self.app, self.schedule, self.clock, self.wait_s = app, schedule, clock or SystemClock(), wait_s
        self.log: list[Served] = []
        self._visits: Counter[str] = Counter()
        self._storm_until = 0.0
        self._burst_left = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, as the ASGI says."""
        if scope["path"] == "/served":
            await respond(send, 200, json.dumps(self.told()).encode())
        elif scope["path"] != "/v1/chat/completions":
            await self.app(scope, receive, send)
        else:
            request = await received(receive)
            served = self._arrived(digest(request))
            await self._reply(served, scope, request, receive, send)
            served.whole = True

    def told(self) -> Body:
        """The log, with its counts by kind."""
        return {"served": len(self.log), "kinds": Counter(row.kind for row in self.log), "log": [asdict(row) for row in self.log]}

    def too_early(self) -> Iterator[Served]:
        """Requests that came again before the time that they had been told to wait for."""
        told: dict[str, float] = {}
        for row in self.log:
            if row.at < told.get(row.request, 0.0):
                yield row
            if row.not_before is not None:
                told[row.request] = row.not_before

    def _arrived(self, request: str) -> Served:
        n, now = len(self.log), self.clock.now()
        kind = self.schedule(n, request, self._visits[request])
        self._visits[request] += 1
        if now < self._storm_until:
            kind = "storm"
        elif self._burst_left:
            kind, self._burst_left = "burst", self._burst_left - 1
        elif kind == "storm":
            self._storm_until = now + self.wait_s
        elif kind == "burst":
            self._burst_left = BURST - 1
        self.log.append(Served(n, now, request, kind))
        return self.log[-1]

    async def _reply(self, served: Served, scope: Scope, request: bytes, receive: Receive, send: Send) -> None:
        kind = served.kind
        if kind == "hang":
            await gone(receive)
            raise HangUpError("the client gave up")
        status, body = REFUSALS[kind] if kind in REFUSALS else await self._sound(scope, request)
        served.status = status
        if isinstance(body, dict):
            if kind in EDITS and status == 200:
                EDITS[kind](body)
            body = json.dumps(body).encode()
        body = BYTES[kind](body) if kind in BYTES else body
        headers = {**HEADERS.get(kind, {}), **self._wait(served)}
        await respond(partial(self._wire, kind, scope, send), status, body, headers)

    def _wait(self, served: Served) -> dict[str, str]:
        """The Retry-After of a 429, in seconds or as a date."""
        if served.status != 429:
            return {}
        now = self.clock.now()
        until = self._storm_until if served.kind == "storm" else now + self.wait_s
        if served.kind == "rate_limit_date":
            served.not_before = float(int(until) + 1)  # dates have whole seconds
            return {name: format_datetime(datetime.fromtimestamp(moment, UTC), usegmt=True) for name, moment in
                    (("retry-after", served.not_before), ("date", now))}  # fmt: skip
        served.not_before = until
        return {"retry-after": f"{max(0.0, until - now):.3f}"}

    async def _sound(self, scope: Scope, request: bytes) -> tuple[int, Body]:
        """What the subject itself answers."""
        sent: list[Any] = []

        async def receive() -> Body:
            return {"type": "http.request", "body": request, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        return sent[0]["status"], json.loads(sent[1]["body"])

    async def _wire(self, kind: str, scope: Scope, send: Send, message: Any) -> None:
        """Send one message of a response, or fail to."""
        body = message.get("body", b"")
        if kind == "slow" and body:
            size = -(-len(body) // PIECES)
            for start in range(0, len(body), size):
                await self.clock.sleep(PIECE_S)
                await send({**message, "body": body[start : start + size], "more_body": start + size < len(body)})
        elif kind in ("cut_short", "reset") and body:
            await send({**message, "body": body[: len(body) // 2], "more_body": True})
            await asyncio.sleep(0.02)  # else the half is still in the buffer when the connection goes
            if kind == "reset":
                scope.get(RESET, lambda: None)()
            raise HangUpError(kind)
        else:
            await send(message)


async def gone(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class FaultTransport(httpx.ASGITransport):
    """A fault server in process: a connection that it breaks off is a read error, as over a socket."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        try:
            return await super().handle_async_request(request)
        except HangUpError as fault:
            raise httpx.ReadError(f"the connection was broken off ({fault})", request=request) from None


def protocol() -> type[asyncio.Protocol]:
    """Uvicorn's HTTP protocol, so that an application can reset its connection (TCP RST) in the middle of a body."""
    import socket
    import struct

    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Resettable(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            app = self.app

            def reset() -> None:
                linger = struct.pack("ii", 1, 0)  # closing discards what is unsent, and says so to the other side
                transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                transport.abort()

            async def resettable(scope: Any, receive: Any, send: Any) -> None:
                await app({**scope, RESET: reset}, receive, send)

            self.app = resettable

    return Resettable


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(
        "python -m generator.subjects.faults", description="A simulated subject that fails as real providers do."
    )
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--subject", default="mixed", help="honest, copycat or mixed")
    parser.add_argument("--rate", type=float, default=0.2, help="share of the requests that meet a fault")
    parser.add_argument(
        "--kind", action="append", choices=FAULTS, metavar="KIND", help=f"a fault to play, any number of times: {', '.join(FAULTS)}"
    )
    parser.add_argument("--after", type=int, default=0, help="requests to serve before the first fault")
    parser.add_argument("--wait", type=float, default=2.0, help="seconds that a 429 asks to wait")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--price", type=float, default=0.0, help="US dollars charged for a token")
    asked = parser.parse_args()
    try:
        import uvicorn
    except ImportError:
        parser.error("the fault server needs uvicorn: pip install 'vlmaudit[dev]'")
    schedule = at_rate(asked.rate, asked.kind or PASSING, asked.seed, asked.after)
    app = Faults(subject_app(asked.subject, asked.seed, asked.price), schedule, wait_s=asked.wait)
    print(f"http://127.0.0.1:{asked.port}/v1", flush=True)
    uvicorn.run(app, host="127.0.0.1", port=asked.port, http=protocol(), lifespan="off", log_level="critical", date_header=False)


if __name__ == "__main__":
    main()
