"""The client against a real server on loopback: bytes are kept, waits are heeded, nothing in flight is lost, keys never show."""

import asyncio
import gzip
import itertools
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import DataError, ProviderError, UsageError
from generator.client import Address, Client, Reply, Request, api_key, departs, metadata, retry_after
from tests.generator.loopback import VirtualClock, serving

KEY = "sk-planted-0123456789abcdef"
ANSWER = json.dumps({"id": "gen-1", "choices": [{"message": {"content": "ANSWER: even"}, "finish_reason": "stop"}]}).encode()


class Server:
    """An ASGI app that answers by a script: (status, headers, body) for the n-th request; it keeps what it was sent and when."""

    def __init__(self, script: Callable[[int, Any], tuple[int, dict[str, str], bytes]], delay: float = 0.0, clock: Any = None) -> None:
        self.script, self.delay, self.clock = script, delay, clock
        self.bodies: list[Any] = []
        self.headers: list[dict[bytes, bytes]] = []
        self.times: list[float] = []
        self.busy = self.peak = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while (message := await receive()).get("more_body") or message.get("body"):
            body += message["body"]
            if not message.get("more_body"):
                break
        n, asked = len(self.bodies), json.loads(body)
        self.bodies.append(asked)
        self.headers.append(dict(scope["headers"]))
        self.times.append(self.clock.now() if self.clock else time.monotonic())
        self.busy += 1
        self.peak = max(self.peak, self.busy)
        await asyncio.sleep(self.delay)
        self.busy -= 1
        status, headers, content = self.script(n, asked)
        await send({"type": "http.response.start", "status": status, "headers": [(k.encode(), v.encode()) for k, v in headers.items()]})
        await send({"type": "http.response.body", "body": content})


def always(status: int = 200, headers: dict[str, str] | None = None, body: bytes = ANSWER) -> Server:
    return Server(lambda n, asked: (status, headers or {}, body))


def post(app: Any, **options: Any) -> Reply:
    async def once(url: str) -> Reply:
        async with Client(url, **options) as client:
            return await client.post({"model": "m"})

    with serving(app) as url:
        return asyncio.run(once(url))


class Records(list[tuple[str, int, Reply]]):
    def __call__(self, request: Request, attempt: int, reply: Reply) -> None:
        self.append((request.key, attempt, reply))

    def attempts(self) -> dict[str, list[int]]:
        return {key: sorted(n for k, n, _ in self if k == key) for key, _, _ in self}


def asking(n: int) -> list[Request]:
    return [Request(f"r{i}", lambda i=i: {"model": "m", "n": i}) for i in range(n)]


def send_all(app: Any, requests: Any, record: Any, **options: Any) -> None:
    async def run(url: str) -> None:
        async with Client(url, **{"clock": VirtualClock()} | options) as client:
            await client.send_all(requests, record)

    with serving(app) as url:
        asyncio.run(run(url))


# -- one exchange ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body", [ANSWER, b"<html>busy</html>", b"", b"\xff\xfe\x00broken", '{"a":"\\ud800\\u0000é"}'.encode(), b'{"n":1e400}\r\n '], ids=repr
)
def test_a_body_is_kept_byte_for_byte(body: bytes) -> None:
    reply = post(always(body=body))
    assert (reply.http_status, reply.body, reply.error) == (200, body, None)
    assert reply.latency_s > 0
    assert reply.started_at.tzinfo is UTC


def test_a_compressed_body_is_unpacked_and_nothing_else() -> None:
    assert post(always(headers={"content-encoding": "gzip"}, body=gzip.compress(ANSWER))).body == ANSWER


def test_a_body_that_is_not_what_its_encoding_says_is_kept_as_it_came() -> None:
    reply = post(always(headers={"content-encoding": "gzip"}, body=ANSWER))
    assert reply.body == ANSWER
    assert reply.error is not None
    assert reply.error["type"] == "DecodingError"


def test_a_body_cut_short_is_an_error_beside_what_arrived() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
        await send({"type": "http.response.body", "body": ANSWER[:20], "more_body": True})
        await asyncio.sleep(0.05)
        raise ConnectionError("cut")

    reply = post(app)
    assert (reply.http_status, reply.body) == (200, ANSWER[:20])
    assert reply.error is not None
    assert reply.error["type"] == "RemoteProtocolError"


def test_a_body_that_drips_for_ever_is_a_timeout_beside_what_arrived() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(100):
            await send({"type": "http.response.body", "body": b".", "more_body": True})
            await asyncio.sleep(0.02)

    reply = post(app, timeout_s=0.2)
    assert reply.error == {"type": "timeout", "message": "no whole reply within 0.2 s"}
    assert reply.body is not None
    assert set(reply.body) == set(b".")


def test_nobody_listening_is_a_reply_with_an_error() -> None:
    async def once() -> Reply:
        async with Client("http://127.0.0.1:9/v1", KEY) as client:
            return await client.post({})

    reply = asyncio.run(once())
    assert (reply.http_status, reply.body) == (None, None)
    assert reply.error is not None
    assert reply.error["type"] == "ConnectError"


def test_a_redirect_is_recorded_and_not_followed() -> None:
    app = always(307, {"location": "http://127.0.0.1:9/elsewhere"}, b"")
    assert post(app, api_key=KEY).http_status == 307
    assert len(app.bodies) == 1


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "ftp://host/v1", "https://user:secret@host/v1", "https://host/v1?key=secret", "http://host:port/v1"]
)
def test_a_base_url_that_is_none_or_holds_a_secret_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        Client(url)
    assert "secret" not in str(refused.value)


# -- the key -----------------------------------------------------------------------------------------------------------------------


def test_the_key_travels_in_the_authorization_header_and_shows_nowhere() -> None:
    def echo(n: int, asked: Any) -> tuple[int, dict[str, str], bytes]:
        return 400, {"x-echo": f"Bearer {KEY}"}, f'{{"error": {{"message": "Incorrect API key: {KEY}"}}}}'.encode()

    app = Server(echo)
    reply = post(app, api_key=KEY)
    assert app.headers[0][b"authorization"] == f"Bearer {KEY}".encode()
    assert KEY not in repr(reply)
    assert reply.body == b'{"error": {"message": "Incorrect API key: ***"}}'


@pytest.mark.parametrize("said", [KEY, KEY.replace("s", "\\u0073").replace("-", "\\u002D"), "".join(f"\\u{ord(each):04x}" for each in KEY)])
def test_a_key_that_json_spells_in_another_way_is_struck_out_too(said: str) -> None:
    reply = post(Server(lambda n, asked: (400, {}, f'{{"error": "no {said}, no \\u00e9"}}'.encode())), api_key=KEY)
    assert reply.body == b'{"error": "no ***, no \\u00e9"}'


@pytest.mark.parametrize("status", [401, 402, 403])
def test_no_error_shows_the_key(status: int) -> None:
    records = Records()
    with pytest.raises(ProviderError) as stopped:
        send_all(always(status, body=KEY.encode()), asking(3), records, api_key=KEY)
    assert KEY not in f"{stopped.value!r} {stopped.value.__context__!r} {records!r} {Client('http://h/v1', KEY).__dict__!r}"


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert api_key(None) is None
    monkeypatch.setenv("PLANTED", f" {KEY}\n")
    assert api_key("PLANTED") == KEY
    monkeypatch.setenv("PLANTED", "two words")
    with pytest.raises(UsageError, match="PLANTED") as refused:
        api_key("PLANTED")
    assert "two words" not in str(refused.value)
    monkeypatch.delenv("PLANTED")
    with pytest.raises(UsageError, match="PLANTED is not set"):
        api_key("PLANTED")


# -- many requests -----------------------------------------------------------------------------------------------------------------


def test_every_request_is_sent_and_recorded_once_and_no_more_are_in_flight_than_allowed() -> None:
    app, records = Server(lambda n, asked: (200, {}, json.dumps(asked).encode()), delay=0.01), Records()
    send_all(app, asking(60), records, concurrency=7)
    assert {(key, json.loads(reply.body or b"")["n"]) for key, _, reply in records} == {(f"r{i}", i) for i in range(60)}
    assert len(records) == 60
    assert app.peak == 7


def test_requests_are_pulled_and_built_only_as_they_are_needed() -> None:
    pulled, recorded, ahead = itertools.count(), itertools.count(), []

    def endless() -> Any:
        for i in range(500):
            next(pulled)
            yield Request(f"r{i}", dict)

    def record(request: Request, attempt: int, reply: Reply) -> None:
        ahead.append(int(repr(pulled)[6:-1]) - next(recorded))

    send_all(always(), endless(), record, concurrency=5)
    assert len(ahead) == 500
    assert max(ahead) <= 2 * 5 + 2


def test_an_asynchronous_source_of_requests_may_hold_requests_back_until_others_are_recorded() -> None:
    records = Records()

    async def one_at_a_time() -> Any:
        for i, request in enumerate(asking(5)):
            while len(records) < i:
                await asyncio.sleep(0.001)
            yield request

    app = Server(lambda n, asked: (200, {}, ANSWER), delay=0.005)
    send_all(app, one_at_a_time(), records, concurrency=4)
    assert len(records) == 5
    assert app.peak == 1


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_busy_server_is_asked_again_and_every_exchange_is_an_attempt(status: int) -> None:
    app, records = Server(lambda n, asked: (status, {}, b"busy") if n < 2 else (200, {}, ANSWER)), Records()
    send_all(app, asking(1), records)
    assert [(attempt, reply.http_status) for _, attempt, reply in records] == [(1, status), (2, status), (3, 200)]


@pytest.mark.parametrize("status", [400, 404, 413, 422, 307])
def test_what_will_not_pass_by_itself_is_not_asked_again(status: int) -> None:
    records = Records()
    send_all(always(status), asking(1), records)
    assert [(attempt, reply.http_status) for _, attempt, reply in records] == [(1, status)]


def test_a_body_with_status_200_is_never_interpreted() -> None:
    records = Records()
    send_all(always(body=b'{"error": {"code": 502}}'), asking(1), records)
    assert len(records) == 1


def test_attempts_are_numbered_on_from_those_already_stored_and_end_where_the_bound_is() -> None:
    records = Records()
    send_all(always(503), [Request("r", dict, attempts=4)], records, attempts=3)
    assert records.attempts() == {"r": [5, 6, 7]}


def test_back_off_grows_and_jitters() -> None:
    clock = VirtualClock()
    send_all(always(503), asking(1), Records(), attempts=6, clock=clock)
    assert len(clock.slept) == 5
    for n, slept in enumerate(clock.slept):
        assert 0.5 * 2**n <= slept <= 0.5 * 2**n + 1
    assert len({slept % 0.5 for slept in clock.slept}) == 5


def test_a_request_that_backs_off_leaves_its_place_to_another() -> None:
    app, records = Server(lambda n, asked: (503, {}, b"") if asked["n"] == 0 else (200, {}, ANSWER)), Records()

    class Frozen(VirtualClock):
        async def sleep(self, seconds: float) -> None:
            while len(records) < 5:  # wakes only when all others are through
                await asyncio.sleep(0.001)

    send_all(app, asking(5), records, concurrency=1, attempts=2, clock=Frozen())
    assert Counter(key for key, _, _ in records) == {"r0": 2, "r1": 1, "r2": 1, "r3": 1, "r4": 1}


# -- Retry-After -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dated", [False, True])
def test_no_request_reaches_the_server_before_its_retry_after(dated: bool) -> None:
    clock = VirtualClock()
    opens: list[float] = []

    def script(n: int, asked: Any) -> tuple[int, dict[str, str], bytes]:
        if n not in (3, 40):
            return 200, {}, ANSWER
        opens.append(clock.now() + 30)
        until = format_datetime(datetime.fromtimestamp(opens[-1], UTC), usegmt=True)
        opens[-1] = int(opens[-1]) if dated else opens[-1]  # an HTTP date has whole seconds
        return 429, {"retry-after": until if dated else "30"}, b"slow down"

    app, records = Server(script, clock=clock), Records()

    async def run() -> None:
        async with Client("http://in.process/v1", transport=httpx.ASGITransport(app), clock=clock, concurrency=1) as client:
            await client.send_all(asking(60), records)

    asyncio.run(run())
    assert [reply.http_status for _, _, reply in records].count(200) == 60
    for first, open_at in zip((3, 40), opens, strict=True):
        assert app.times[first + 1] >= open_at
        assert app.times[first + 1] < open_at + 5


def test_a_wait_that_is_asked_for_is_capped() -> None:
    clock = VirtualClock()
    start = clock.now()
    send_all(
        Server(lambda n, asked: (503, {"retry-after": "86400"}, b"") if n == 0 else (200, {}, ANSWER)), asking(1), Records(), clock=clock
    )
    assert 120 <= clock.now() - start < 125


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "30"}, 30),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "9" * 400}, 0),
        ({"retry-after": "Thu, 01 Jan 1970 00:16:50 GMT"}, 10),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
        ({"retry-after": "Thu, 01 Jan 1970 00:17:50 GMT", "date": "Thu, 01 Jan 1970 00:17:20 GMT"}, 30),
        ({"retry-after": "Thu, 99 Jan 1970 00:00:00 GMT"}, 0),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers, now=1000.0) == seconds


@given(st.text())
def test_any_retry_after_is_a_wait_of_some_length(text: str) -> None:
    assert retry_after({"retry-after": text}, now=1000.0) >= 0


# -- stopping ----------------------------------------------------------------------------------------------------------------------


def test_no_credit_stops_the_run_once_all_that_is_in_flight_is_recorded() -> None:
    app = Server(lambda n, asked: (402, {}, b"") if asked["n"] == 3 else (200, {}, ANSWER), delay=0.02)
    records = Records()
    with pytest.raises(ProviderError, match="answered 402: its credit is used up: add credit"):
        send_all(app, asking(100), records, concurrency=8)
    assert len(app.bodies) == len(records) < 100


def test_an_endpoint_that_cannot_be_reached_stops_the_run() -> None:
    records = Records()

    async def run() -> None:
        async with Client("http://127.0.0.1:9/v1", concurrency=2, clock=VirtualClock()) as client:
            await client.send_all(asking(1000), records)

    with pytest.raises(ProviderError, match=r"http://127.0.0.1:9/v1 does not answer"):
        asyncio.run(run())
    assert 10 <= len(records) <= 12


# -- several servers ---------------------------------------------------------------------------------------------------------------


def send_to(apps: list[Any], n: int, *more: str, **options: Any) -> Records:
    records = Records()

    async def run(urls: list[str]) -> None:
        first, *also = (Address(url, {"engine": str(place)}) for place, url in enumerate(urls))
        given = {"clock": VirtualClock(), "identity": first.identity, "also": also} | options
        async with Client(first.base_url, **given) as client:
            await client.send_all(asking(n), records)

    with ExitStack() as stack:
        urls = [stack.enter_context(serving(app)) for app in apps]
        asyncio.run(run([*more, *urls]))
    return records


def test_a_request_goes_to_the_server_that_has_the_fewest_in_flight() -> None:
    quick, slow = Server(always().script, delay=0.01), Server(always().script, delay=0.1)
    records = send_to([quick, slow], 120, concurrency=8)
    assert len(records) == len(quick.bodies) + len(slow.bodies) == 120
    assert len(quick.bodies) > 2 * len(slow.bodies)
    assert quick.peak + slow.peak <= 8
    assert slow.peak >= 3
    assert Counter(reply.identity["engine"] for _, _, reply in records) == {"0": len(quick.bodies), "1": len(slow.bodies)}


@pytest.mark.parametrize("dead", ["gone", "broken"])
def test_a_dead_server_is_left_aside_and_its_requests_go_to_the_others(dead: str) -> None:
    live, broken = always(), always(502)
    first = {"gone": {"more": ["http://127.0.0.1:9/v1"], "apps": [live]}, "broken": {"more": [], "apps": [broken, live]}}[dead]
    records = send_to(first["apps"], 200, *first["more"], concurrency=8)
    failed = [attempt for _, attempt, reply in records if reply.http_status != 200]
    assert 1 <= len(failed) <= 12
    assert {key for key, _, reply in records if reply.http_status == 200} == {f"r{n}" for n in range(200)}


def test_a_server_that_comes_back_gets_its_share_again() -> None:
    clock = VirtualClock()

    def sound(n: int, asked: Any) -> tuple[int, dict[str, str], bytes]:
        clock.time += 0.1
        return 200, {}, ANSWER

    ill = Server(lambda n, asked: (503, {}, b"") if n < 2 else sound(n, asked))
    well = Server(sound)
    records = send_to([ill, well], 400, concurrency=1, clock=clock)
    assert len({key for key, _, reply in records if reply.http_status == 200}) == 400
    assert len(records) == 402
    assert len(ill.bodies) > 100


def test_servers_of_which_none_answers_stop_the_run_and_are_named() -> None:
    with pytest.raises(ProviderError, match=r"http://127.0.0.1:9/v1 and http://127.0.0.1:10/v1 do(es)? not answer"):
        send_to([], 1000, "http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1", concurrency=2)


def test_a_wait_that_one_server_asks_for_is_no_wait_for_another() -> None:
    clock = VirtualClock()
    busy = Server(lambda n, asked: (429, {"retry-after": "60"}, b"") if n == 0 else (200, {}, ANSWER), clock=clock)
    free = Server(always().script, clock=clock)
    records = send_to([busy, free], 50, concurrency=1, clock=clock)
    assert len({key for key, _, reply in records if reply.http_status == 200}) == 50
    assert all(at >= busy.times[0] + 60 for at in busy.times[1:])
    assert len(free.bodies) >= 49


def test_an_error_of_the_recorder_or_the_builder_ends_the_run_with_that_error() -> None:
    def full(request: Request, attempt: int, reply: Reply) -> None:
        raise DataError("the disk is full: make room")

    with pytest.raises(DataError, match="disk is full"):
        send_all(always(), asking(50), full)

    def broken() -> dict[str, Any]:
        raise DataError("the image is missing")

    records = Records()
    with pytest.raises(DataError, match="image is missing"):
        send_all(always(), [*asking(3), Request("bad", broken), *asking(50)], records, concurrency=2)
    assert len(records) < 53


def test_an_error_in_the_source_of_requests_comes_after_what_is_in_flight() -> None:
    def source() -> Any:
        yield from asking(4)
        raise DataError("the grid is broken")

    records = Records()
    with pytest.raises(DataError, match="grid is broken"):
        send_all(Server(lambda n, asked: (200, {}, ANSWER), delay=0.05), source(), records)
    # all four had been pulled, but only those already sent are worth waiting for
    assert len(records) <= 4


def test_halting_does_not_wait_for_a_request_that_is_long_in_coming() -> None:
    async def source() -> Any:
        yield asking(1)[0]
        await asyncio.sleep(60)

    began = time.monotonic()
    with pytest.raises(ProviderError):
        send_all(always(402), source(), Records())
    assert time.monotonic() - began < 5


def test_halting_ends_a_long_wait_at_once() -> None:
    class Real(VirtualClock):
        async def sleep(self, seconds: float) -> None:
            await asyncio.sleep(seconds)

    def script(n: int, asked: Any) -> tuple[int, dict[str, str], bytes]:
        return (503, {}, b"") if asked["n"] < 5 else (402, {}, b"")

    began = time.monotonic()
    with pytest.raises(ProviderError):
        send_all(Server(script), asking(6), Records(), clock=Real(), attempts=20)
    assert time.monotonic() - began < 5


def test_cancelled_it_records_what_has_arrived() -> None:
    app = Server(lambda n, asked: (200, {}, ANSWER), delay=0.01)
    records = Records()

    def slow(request: Request, attempt: int, reply: Reply) -> None:
        time.sleep(0.005)
        records(request, attempt, reply)

    async def run(url: str) -> None:
        async with Client(url, concurrency=8) as client:
            sending = asyncio.create_task(client.send_all(asking(10_000), slow))
            while len(records) < 20:
                await asyncio.sleep(0.001)
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending

    with serving(app) as url:
        asyncio.run(run(url))
    assert len(records) == len(app.bodies) < 100
    assert len({key for key, _, _ in records}) == len(records)


def test_cancelled_it_does_not_wait_for_a_slow_server() -> None:
    async def run(url: str) -> None:
        async with Client(url, concurrency=4) as client:
            sending = asyncio.create_task(client.send_all(asking(100), Records()))
            await asyncio.sleep(0.1)
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending

    with serving(Server(lambda n, asked: (200, {}, ANSWER), delay=20)) as url:
        began = time.monotonic()
        asyncio.run(run(url))
        assert time.monotonic() - began < 3


# -- who answered ------------------------------------------------------------------------------------------------------------------


def told(body: Any, headers: dict[str, str] | None = None) -> dict[str, Any]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return {
        name: value for name, value in metadata(Reply(datetime.now(UTC), 0.1, 200, content, headers or {})).items() if value is not None
    }


def test_metadata_of_a_vllm_reply() -> None:
    body = {
        "id": "chatcmpl-1",
        "model": "Qwen/Qwen3.5-4B",
        "system_fingerprint": "vllm-0.32.0+cpu-1a2b3c",
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 3}},
    }
    assert told(body) == {
        "generation_id": "chatcmpl-1",
        "served_model": "Qwen/Qwen3.5-4B",
        "engine": "vllm",
        "engine_version": "0.32.0+cpu",
        "prompt_tokens": 5,
        "completion_tokens": 7,
        "reasoning_tokens": 3,
    }


def test_metadata_of_an_openrouter_reply() -> None:
    body = {
        "id": "gen-9",
        "provider": "DeepInfra",
        "model": "qwen/x",
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "cost": 0.00012},
    }
    found = told(body, {"x-precision": "bf16"})
    assert (found["provider"], found["cost_usd"], found["precision"], found["generation_id"]) == ("DeepInfra", 0.00012, "bf16", "gen-9")
    assert told({"error": {"code": 502, "metadata": {"provider_name": "Novita"}}}) == {"provider": "Novita"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        None,
        "text",
        b"",
        b"<html>",
        b"\xff",
        b"[" * 100_000,
        {"usage": None, "id": 7, "model": ["x"], "provider": {"name": "x"}},
        {"usage": []},
        {"usage": {"prompt_tokens": True, "completion_tokens": -1, "cost": "free", "completion_tokens_details": 3}},
        {"usage": {"prompt_tokens": 2**63, "completion_tokens": 1.5, "cost": None}},
        b'{"usage": {"prompt_tokens": 1e400, "cost": 1e400, "completion_tokens": %s}}' % (b"9" * 10_000),
        {"usage": {"cost": float("nan")}, "provider": "\ud800", "id": "a\u0000b", "model": ""},
    ],
    ids=lambda body: repr(body)[:40],
)
def test_what_a_reply_does_not_say_is_none(body: Any) -> None:
    assert told(body) == {}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["usage", "id", "model", "provider", "error", "metadata", "prompt_tokens", "cost", "precision"]), inner)))  # fmt: skip
def test_metadata_never_fails(body: Any) -> None:
    told(body)


def test_a_reply_without_a_body_says_nothing() -> None:
    assert set(metadata(Reply(datetime.now(UTC), 0.1)).values()) == {None}


@pytest.mark.parametrize(
    ("answered", "departure"),
    [
        ({"provider": "DeepInfra", "precision": "bf16"}, None),
        ({"provider": "deepinfra", "precision": "BF16"}, None),
        ({"provider": None, "precision": None}, None),
        ({"provider": "Novita", "precision": "bf16"}, "provider 'Novita' answered where 'DeepInfra' is pinned"),
        ({"provider": "DeepInfra", "precision": "fp8"}, "precision 'fp8' answered where 'bf16' is pinned"),
    ],
)
def test_another_provider_or_precision_than_pinned_departs(answered: dict[str, Any], departure: str | None) -> None:
    assert departs("DeepInfra", "bf16", answered) == departure
    assert departs(None, None, answered) is None


def test_the_wait_of_one_is_the_wait_of_all() -> None:
    clock = VirtualClock()
    app = Server(lambda n, asked: (429, {"retry-after": "30"}, b"") if n == 0 else (200, {}, ANSWER), clock=clock)

    async def run() -> None:
        async with Client("http://in.process/v1", transport=httpx.ASGITransport(app), clock=clock) as client:
            await client.post({})
            await client.post({})

    asyncio.run(run())
    assert app.times[1] - app.times[0] == 30


def test_messages_are_one_line() -> None:
    with pytest.raises(ProviderError) as stopped:
        send_all(always(401), asking(1), Records(), api_key=KEY)
    assert re.fullmatch(r"[^\n]+", str(stopped.value))
