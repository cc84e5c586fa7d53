"""One OpenAI-compatible way to any model: vLLM, a hosted API, a simulated subject in process.

The client sends, waits, retries what the transport or a busy server refused, and hands every exchange to a recorder, byte for byte.
It never reads an answer (the generator's law): whether a body that came with status 200 settles its request is the views' to say.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar
from urllib.parse import urljoin

import httpx
import tenacity

from analysis.errors import ProviderError, UsageError
from generator.reply import Reply, departs, metadata

__all__ = ["Address", "Client", "Clock", "Record", "Reply", "Request", "SystemClock", "api_key", "departs", "metadata"]

T = TypeVar("T")

BUSY = frozenset({408, 409, 425, 429}) | frozenset(range(500, 600))  # worth asking again at once
REFUSED = {
    401: "it does not know the API key: set the right one in the environment variable that the model names",
    402: "its credit is used up: add credit",
    403: "it does not permit this: check the key's rights and the model's terms",
}
CHAT = "chat/completions"
BUILDERS = 16  # threads that build requests: more than cores, since some wait while another decodes the image that they need
GRACE_S = 0.5  # on Ctrl-C: how long replies that are already under way may still come in
SHORTEST_SECRET = 8  # a shorter "key" is a placeholder such as EMPTY, and may occur in any text


class Clock(Protocol):
    """Where time comes from; tests put a virtual one in its place."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return once that many seconds have passed."""
        ...


class SystemClock:
    """The machine's time, read once and carried on by its monotonic clock, so that no adjustment makes a latency negative."""

    def __init__(self) -> None:
        self._origin = time.time() - time.monotonic()

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        return self._origin + time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return once that many seconds have passed."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True)
class Request:
    """What to ask: a body, or the bytes of one, built only when it is about to be sent. `attempts` counts the exchanges already stored for
    this key.
    """

    key: str
    build: Callable[[], Mapping[str, Any] | bytes]
    attempts: int = 0


Record = Callable[[Request, int, Reply], None]


@dataclass(frozen=True)
class Address:
    """A server: its base URL, and who answers there (columns of raw.completion), as it said when it was asked; each response carries it."""

    base_url: str
    identity: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Host:
    """A server as a client knows it: how many requests it has, until when it wants no other, and whether it fails."""

    base_url: str
    identity: Mapping[str, str]
    in_flight: int = 0
    sent: int = 0
    not_before: float = 0.0
    failures: int = 0  # in a row
    aside_until: float = 0.0

    def take(self, reply: Reply, now: float, longest_wait_s: float) -> None:
        """Learn from a reply whether the server is there, and how long it wants to be left alone."""
        if reply.error is None and (reply.http_status or 500) < 500:
            self.failures = 0
        else:
            self.failures += 1
            self.aside_until = now + min(2.0**self.failures, longest_wait_s)
        if reply.http_status in BUSY:
            self.not_before = max(self.not_before, now + min(retry_after(reply.headers, now), longest_wait_s))


class Client:
    """Speaks to one endpoint, or to several that serve the same, with at most `concurrency` requests in flight in all.

    `base_url` ends before `/chat/completions`. `timeout_s` bounds a whole exchange. `attempts` bounds the exchanges that one call of
    `send_all` spends on a request. A wait that a server asks for (Retry-After) holds back every request to it, and is cut at
    `longest_wait_s`. The API key goes into the Authorization header and nowhere else; an echo of it is stored as `***`.

    A request goes to the server that has the fewest in flight. One that fails (no reply, or a status from 500) while another does not is
    left aside for 2, 4, 8, … seconds, and then tried with one request at a time until it answers.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        concurrency: int = 8,
        timeout_s: float = 600.0,
        clock: Clock | None = None,
        attempts: int = 5,
        longest_wait_s: float = 120.0,
        identity: Mapping[str, str] | None = None,
        also: Sequence[Address] = (),
    ) -> None:
        self._hosts = [_Host(checked(at.base_url), at.identity) for at in (Address(base_url, identity or {}), *also)]
        self.concurrency = concurrency
        self.clock = clock or SystemClock()
        self.attempts = attempts
        self._timeout_s = timeout_s
        self._longest_wait_s = longest_wait_s
        self._hide = hider(api_key)
        self._headers = httpx.Headers({"Content-Type": "application/json"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {}))
        self._transport = transport
        self._tls = httpx.create_ssl_context()
        self._idle: list[httpx.AsyncClient] = []

    @property
    def where(self) -> str:
        """The base URLs, as an error names them."""
        return " and ".join(host.base_url for host in self._hosts)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None) -> None:
        for connection in self._idle:
            await connection.aclose()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[httpx.AsyncClient]:
        """An idle connection, or a new one."""
        # Each has a pool of its own: a pool inspects all its idle connections at every request, which at 64 of them costs more time
        # than many a server needs to answer.
        connection = self._idle.pop() if self._idle else self._connect()
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def _connect(self) -> httpx.AsyncClient:
        # No timeout of its own: a model may be silent for minutes; asyncio.timeout() bounds the whole exchange.
        return httpx.AsyncClient(headers=self._headers, transport=self._transport, verify=self._tls, timeout=None)  # noqa: S113

    async def post(self, body: Mapping[str, Any], path: str = CHAT) -> Reply:
        """Send one request once, after any wait that the server has asked for. Never raises for what the provider does.

        `path` is taken from the base URL, as in a link: `../tokenize` of `http://host/v1` is `http://host/tokenize`.
        """
        while (ahead := self.wait_s()) > 0:
            await self.clock.sleep(ahead)
        return await self.send(encode(body), path)

    async def send_all(self, requests: Iterable[Request] | AsyncIterable[Request], record: Record) -> None:
        """Send every request, and hand each exchange to `record(request, attempt, reply)` as it ends.

        `record` is called from a thread of its own, one call at a time; a place in flight is free again once it returns. Requests are
        pulled and built lazily, so memory does not grow with their number. An error of `record`, `build` or `requests`, and a provider
        that refuses (status 401, 402, 403) or cannot be reached (ProviderError), stop the run: nothing new is sent, what is in flight
        is awaited and recorded, then the error is raised. Cancelled (Ctrl-C), it records what has arrived.
        """
        with ThreadPoolExecutor(1, "record") as recorder, ThreadPoolExecutor(BUILDERS, "build") as builder:
            await _Sending(self, record, recorder, builder).run(requests)

    def wait_s(self) -> float:
        """How many seconds from now no server wants a request; 0 or less where one may be sent."""
        now = self.clock.now()
        return min(host.not_before for host in self._open(now)) - now

    def hold(self, waits: Mapping[str, float]) -> None:
        """Send nothing to a base URL before the time (seconds since 1970) that is given for it: what an earlier client learned."""
        for host in self._hosts:
            host.not_before = max(host.not_before, waits.get(host.base_url, 0.0))

    def held(self) -> dict[str, float]:
        """The same of this client, for a later one."""
        return {host.base_url: host.not_before for host in self._hosts}

    def _open(self, now: float) -> list[_Host]:
        """The servers that a request may go to: of those that fail, where another does not, one that is due to be tried again."""
        if all(host.failures for host in self._hosts):
            return self._hosts
        return [host for host in self._hosts if not host.failures or (now >= host.aside_until and not host.in_flight)]

    async def send(self, content: bytes, path: str = CHAT) -> Reply:
        """Send an encoded body at once. Never raises for what the provider does."""
        began = self.clock.now()
        host = min(self._open(began), key=lambda host: (host.not_before > began, host.in_flight, host.sent))
        host.in_flight, host.sent = host.in_flight + 1, host.sent + 1
        try:
            reply = await self._exchange(host, content, path, began)
        finally:
            host.in_flight -= 1
        host.take(reply, self.clock.now(), self._longest_wait_s)
        return reply

    async def _exchange(self, host: _Host, content: bytes, path: str, began: float) -> Reply:
        response: httpx.Response | None = None
        raw, error = bytearray(), None
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                self._connection() as connection,
                connection.stream("POST", urljoin(f"{host.base_url}/", path), content=content) as response,
            ):
                async for chunk in response.aiter_raw():
                    raw += chunk
        except (httpx.TimeoutException, TimeoutError):
            error = {"type": "timeout", "message": f"no whole reply within {self._timeout_s:g} s"}
        except (httpx.HTTPError, OSError) as fault:
            error = {"type": type(fault).__name__, "message": str(fault)}
        return self._reply(began, host.identity, response, bytes(raw), error)

    def _reply(
        self, began: float, identity: Mapping[str, str], response: httpx.Response | None, raw: bytes, error: dict[str, str] | None
    ) -> Reply:
        started_at, latency_s = datetime.fromtimestamp(began, UTC), self.clock.now() - began
        if response is None:
            return Reply(started_at, latency_s, error=error and self._hidden(error))
        try:
            body = httpx.Response(response.status_code, headers=response.headers, content=raw).content
        except httpx.DecodingError as fault:
            body, error = raw, error or {"type": "DecodingError", "message": str(fault)}
        headers = self._hidden(response.headers)
        hidden = error and self._hidden(error)
        return Reply(started_at, latency_s, response.status_code, self._hide(body), headers, hidden, identity)

    def _hidden(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {name: self._hide(text.encode()).decode() for name, text in texts.items()}


class _Sending:
    """One run of `send_all`: what is live, and the error that halts it."""

    def __init__(self, client: Client, record: Record, recorder: ThreadPoolExecutor, builder: ThreadPoolExecutor) -> None:
        self.client, self.record, self.recorder, self.builder = client, record, recorder, builder
        self.in_flight = asyncio.Semaphore(client.concurrency)
        # Twice as many are live as may fly: the next are built while others wait for the server, and what backs off keeps no place.
        self.live = asyncio.Semaphore(2 * client.concurrency)
        self.tasks: set[asyncio.Task[None]] = set()
        self.halted = asyncio.Event()
        self.fault: Exception | None = None
        self.unanswered = 0  # exchanges in a row without any response

    async def run(self, requests: Iterable[Request] | AsyncIterable[Request]) -> None:
        try:
            await self.start(requests)
            await self.drain()
        except asyncio.CancelledError:
            self.halted.set()
            await self.drain(GRACE_S)
            raise
        if self.fault:
            raise self.fault

    async def start(self, requests: Iterable[Request] | AsyncIterable[Request]) -> None:
        try:
            source = each(requests)
            while (request := await self.unless_halted(anext(source, None))) is not None:
                await self.live.acquire()
                if self.halted.is_set():
                    return
                task = asyncio.create_task(self.settle(request))
                self.tasks.add(task)
                task.add_done_callback(self.ended)
        except Exception as fault:
            self.halt(fault)

    def ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        self.live.release()

    def halt(self, fault: Exception) -> None:
        self.fault = self.fault or fault
        self.halted.set()

    async def drain(self, longest_s: float | None = None) -> None:
        if tasks := set(self.tasks):
            _, late = await asyncio.wait(tasks, timeout=longest_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def settle(self, request: Request) -> None:
        """Exchange until the endpoint is no longer busy, the attempts are spent or the run is halted."""
        retrying = tenacity.AsyncRetrying(
            sleep=self.pause,
            wait=tenacity.wait_exponential(multiplier=0.5, max=60) + tenacity.wait_random(0, 1),
            stop=lambda state: self.halted.is_set() or state.attempt_number >= self.client.attempts,
            retry=tenacity.retry_if_result(is_transient),
            retry_error_callback=lambda _: None,  # it stays unsettled; a later run asks again
        )
        try:
            await retrying(self.exchange, request, itertools.count(request.attempts + 1))
        except Exception as fault:
            self.halt(fault)

    async def exchange(self, request: Request, attempts: Iterator[int]) -> Reply | None:
        """Send once and record; None where the run was halted before."""
        content = await asyncio.wrap_future(self.builder.submit(lambda: encode(request.build())))
        async with self.in_flight:
            while not self.halted.is_set() and (ahead := self.client.wait_s()) > 0:
                await self.pause(ahead)
            if self.halted.is_set():
                return None
            reply = await self.client.send(content)
            # Handed over before anything is awaited, and shielded: what has arrived is recorded even if this task is cancelled now.
            await asyncio.shield(asyncio.wrap_future(self.recorder.submit(self.record, request, next(attempts), reply)))
        self.watch(reply)
        return reply

    def watch(self, reply: Reply) -> None:
        """Halt the run where going on could only waste the user's requests."""
        self.unanswered = self.unanswered + 1 if reply.http_status is None else 0
        if remedy := REFUSED.get(reply.http_status or 0):
            self.halt(ProviderError(f"{self.client.where} answered {reply.http_status}: {remedy}, then run the same command again"))
        elif self.unanswered >= self.client.attempts * self.client.concurrency:
            why = (reply.error or {}).get("message")
            self.halt(ProviderError(f"{self.client.where} does not answer ({why}): see that it runs, then run the same command again"))

    async def pause(self, seconds: float) -> None:
        """Sleep, unless the run is halted meanwhile."""
        await self.unless_halted(self.client.clock.sleep(seconds))

    async def unless_halted(self, awaited: Awaitable[T]) -> T | None:
        """What is awaited (a request that is long in coming, the end of a pause); None where the run is halted first."""
        work, halted = asyncio.ensure_future(awaited), asyncio.ensure_future(self.halted.wait())
        try:
            await asyncio.wait({work, halted}, return_when=asyncio.FIRST_COMPLETED)
            return work.result() if work.done() else None
        finally:
            work.cancel()
            halted.cancel()


async def each(source: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    """Either kind of iterable, as an asynchronous one."""
    if isinstance(source, AsyncIterable):
        async for one in source:
            yield one
    else:
        for one in source:
            yield one


def encode(body: Mapping[str, Any] | bytes) -> bytes:
    """A body as JSON, unless it is so already; NaN and infinities, which JSON lacks, raise ValueError."""
    return body if isinstance(body, bytes) else json.dumps(body, allow_nan=False, separators=(",", ":")).encode()


def is_transient(reply: Reply | None) -> bool:
    """Whether the exchange failed in a way that may pass by itself within this run."""
    return reply is not None and (reply.error is not None or reply.http_status in BUSY)


def retry_after(headers: Mapping[str, str], now: float) -> float:
    """Seconds that a server asks to wait (RFC 9110, 10.2.3: a number of seconds or a date); 0 where it does not say.

    A date is compared with the server's own `Date` where it sends one, so that clocks that differ do not matter.
    """
    asked = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d*)?", asked):  # fractions are not in the standard, but are sent
        return float(asked)
    until = http_date(asked)
    return 0.0 if until is None else max(0.0, until - (http_date(headers.get("date", "")) or now))


def http_date(text: str) -> float | None:
    """Seconds since 1970 of an HTTP date; None where it is none."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def checked(base_url: str) -> str:
    """A base URL without its trailing slash; UsageError where it is none, or carries what belongs into the API key's variable."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query:
        raise UsageError("a base_url reads http(s)://host[:port]/path, without user, password or key: correct it in the model's entry")
    return base_url.rstrip("/")


def api_key(variable: str | None) -> str | None:
    """The API key in an environment variable; None where a model names no variable. UsageError where it is unset or cannot be a key."""
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"the environment variable {variable} is not set: put the API key of this model's provider there")
    if not re.fullmatch(r"[!-~]+", key):  # else it could not be a header, and the error about it would show it
        raise UsageError(f"the environment variable {variable} holds a space or another character that no API key has: set it again")
    return key


def hider(secret: str | None) -> Callable[[bytes], bytes]:
    """A function that strikes the API key out of what is about to be stored, however JSON spells its characters."""
    if secret is None or len(secret) < SHORTEST_SECRET:
        return lambda text: text
    literal, spelled = secret.encode(), re.compile("".join(map(_spelled, secret)).encode())

    def hide(text: bytes) -> bytes:
        text = text.replace(literal, b"***")
        return spelled.sub(b"***", text) if b"\\" in text else text

    return hide


def _spelled(character: str) -> str:
    slash = r"\\?" if character in '"/\\' else ""
    return rf"(?:{slash}{re.escape(character)}|(?i:\\u{ord(character):04x}))"
