"""The fault server plays every kind of fault; the client keeps what came and asks again what may pass."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from generator.client import Client, Reply, Request, departs, metadata
from generator.subjects import BASE_URL, app
from generator.subjects.fault_kinds import BYTES, EDITS, FAULTS, PASSING, REFUSALS
from generator.subjects.faults import Faults, FaultTransport, at_rate, listed, protocol
from tests.generator.loopback import VirtualClock, serving
from tests.generator.subjects.asking import body

ASKED = body("isobench/math_parity", "A", "assess", 5)
WHOLE = app("honest")  # says what it has to say, always


def played(kind: str, **options: Any) -> Reply:
    """What the client gets from a real server that plays one fault, once."""

    async def once(url: str) -> Reply:
        async with Client(url, **options) as client:
            return await client.post(ASKED)

    with serving(Faults(WHOLE, listed([kind])), http=protocol(), date_header=False) as url:
        return asyncio.run(once(url))


def content(reply: Reply) -> Any:
    return json.loads(reply.body or b"")["choices"][0]["message"]


SOUND = played("sound")


def test_without_a_fault_the_reply_is_the_subjects_own() -> None:
    assert SOUND.http_status == 200
    assert content(SOUND)["content"].startswith("ANSWER: ")


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_refusal_is_kept_with_its_status(kind: str) -> None:
    status, said = REFUSALS[kind]
    reply = played(kind)
    assert (reply.http_status, reply.error) == (status, None)
    assert reply.body == (said if isinstance(said, bytes) else json.dumps(said).encode())
    assert ("retry-after" in reply.headers) == (status == 429)


def test_a_reset_in_mid_body_is_an_error_beside_half_the_body() -> None:
    reply = played("reset")
    assert reply.error is not None
    assert reply.error["type"] == "ReadError"
    assert reply.body == (SOUND.body or b"")[: len(SOUND.body or b"") // 2]


def test_a_body_cut_short_is_an_error_beside_half_the_body() -> None:
    reply = played("cut_short")
    assert reply.error is not None
    assert reply.error["type"] == "RemoteProtocolError"
    assert reply.body == (SOUND.body or b"")[: len(SOUND.body or b"") // 2]


def test_a_server_that_hangs_is_a_timeout() -> None:
    reply = played("hang", timeout_s=0.2)
    assert (reply.http_status, reply.error and reply.error["type"]) == (None, "timeout")


def test_a_slow_body_arrives_whole() -> None:
    clock = VirtualClock()
    with serving(Faults(WHOLE, listed(["slow"]), clock)) as url:
        reply = httpx.post(f"{url}/chat/completions", json=ASKED)
    assert reply.content == SOUND.body
    assert len(clock.slept) == 8


def test_bytes_are_kept_whatever_they_are() -> None:
    sound = SOUND.body or b""
    assert played("gzip").body == sound
    assert played("half").body == sound[: len(sound) // 2]
    assert played("repeated").body == sound + sound
    assert b"\xff\xfeANSWER" in (played("not_utf8").body or b"")
    assert b'"cost": 1e400' in (played("huge_float").body or b"")
    assert rb"\ud800" in (played("lone_surrogate").body or b"")
    assert rb"\u0000" in (played("nul").body or b"")
    assert b"\x1b" not in (played("hostile_text").body or b"")  # JSON escapes it; a table must, too
    assert content(played("hostile_text"))["content"].startswith("\x1b]0;owned")


def test_other_forms_of_one_answer() -> None:
    said = content(SOUND)["content"]
    assert content(played("typed_parts"))["content"] == [{"type": "text", "text": said}]
    assert set(content(played("both_reasonings"))) == {"role", "content", "reasoning", "reasoning_content"}
    assert content(played("reasoning"))["content"] == said
    assert json.loads(played("no_finish_reason").body or b"")["choices"][0]["finish_reason"] is None
    assert len(json.loads(played("two_choices").body or b"")["choices"]) == 2
    assert metadata(played("no_usage"))["prompt_tokens"] is None
    assert metadata(played("huge_integer"))["prompt_tokens"] is None
    assert metadata(played("huge_float"))["cost_usd"] is None


def test_answers_that_ran_out_of_tokens() -> None:
    native = json.loads(played("native_limit").body or b"")["choices"][0]
    assert (native["finish_reason"], native["native_finish_reason"]) == ("stop", "MAX_TOKENS")
    thought = json.loads(played("thought_only").body or b"")["choices"][0]
    assert (thought["finish_reason"], thought["message"]["content"]) == ("length", None)
    assert thought["message"]["reasoning"]


def test_another_provider_or_precision_is_told_by_the_reply() -> None:
    assert departs("simulated", "exact", metadata(SOUND)) is None
    assert "provider 'another'" in (departs("simulated", "exact", metadata(played("other_provider"))) or "")
    assert "precision 'int4'" in (departs("simulated", "exact", metadata(played("other_precision"))) or "")


def test_every_kind_is_listed_and_those_that_pass_are_among_them() -> None:
    assert set(PASSING) < set(FAULTS)
    assert set(FAULTS) == {*REFUSALS, *EDITS, *BYTES, "slow", "hang", "cut_short", "reset"}


# -- schedules ---------------------------------------------------------------------------------------------------------------------


def test_a_rate_is_kept_and_depends_on_the_request_alone() -> None:
    schedule = at_rate(0.2, seed=1)
    met = [schedule(n, f"request {n}", 0) for n in range(3_000)]
    assert 0.16 < sum(kind != "sound" for kind in met) / 3_000 < 0.21
    assert set(met) == {*PASSING, "sound"}
    assert met == [at_rate(0.2, seed=1)(7, f"request {n}", 0) for n in range(3_000)]
    assert met != [schedule(n, f"request {n}", 1) for n in range(3_000)]


def test_faults_can_begin_half_way() -> None:
    schedule = at_rate(1.0, ["other_precision"], after=10)
    assert [schedule(n, str(n), 0) for n in (0, 9, 10, 99)] == ["sound", "sound", "other_precision", "other_precision"]


# -- a whole run under faults ------------------------------------------------------------------------------------------------------


def is_settled(reply: Reply) -> bool:
    """Whether a reply holds an answer: a stand-in for the view that decides it."""
    try:
        return reply.error is None and bool(json.loads(reply.body or b"")["choices"][0]["message"])
    except (ValueError, KeyError, IndexError):
        return False


def answered(reply: Reply) -> str:
    said = content(reply)["content"]
    return said if isinstance(said, str) else "".join(part["text"] for part in said)


def run_until_settled(server: Faults, n: int, clock: VirtualClock) -> tuple[dict[str, str], int]:
    """The answers by key after as many passes as are needed, and how many exchanges were recorded."""
    answers: dict[str, str] = {}
    exchanges: Counter[str] = Counter()

    def record(request: Request, attempt: int, reply: Reply) -> None:
        exchanges[request.key] += 1
        assert attempt == exchanges[request.key]
        if is_settled(reply):
            answers[request.key] = answered(reply)

    async def passes() -> None:
        async with Client(BASE_URL, transport=FaultTransport(server), clock=clock, concurrency=16) as client:
            for _ in range(20):
                left = [key for key in map(str, range(n)) if key not in answers]
                asked = [Request(key, lambda key=key: body("isobench/math_parity", "A", "plain", int(key)), exchanges[key]) for key in left]
                await client.send_all(asked, record)

    asyncio.run(passes())
    return answers, exchanges.total()


def test_a_run_under_faults_ends_with_the_answers_of_one_without() -> None:
    clock = VirtualClock()
    undisturbed, exchanges = run_until_settled(Faults(WHOLE, listed([]), clock), 150, clock)
    assert exchanges == 150
    server = Faults(WHOLE, at_rate(0.2, seed=3), clock)
    disturbed, exchanges = run_until_settled(server, 150, clock)
    assert disturbed == undisturbed
    assert len(disturbed) == 150
    assert exchanges == len(server.log) > 150
    assert list(server.too_early()) == []
    assert server.told()["kinds"]["sound"] >= 100


def test_a_storm_of_429_is_waited_out_by_all() -> None:
    clock = VirtualClock()
    server = Faults(WHOLE, listed(["sound"] * 5 + ["storm"]), clock, wait_s=30)
    answers, _ = run_until_settled(server, 60, clock)
    assert len(answers) == 60
    (began,) = [row.at for row in server.log if row.kind == "storm"][:1]
    assert all(row.at >= began + 30 or row.kind == "storm" for row in server.log[6:])
    assert sum(row.kind == "storm" for row in server.log) <= 16  # those in flight; nobody asks again before the storm is over
    assert list(server.too_early()) == []


def test_a_burst_refuses_some_in_a_row() -> None:
    clock = VirtualClock()
    server = Faults(WHOLE, listed(["burst"]), clock)
    answers, exchanges = run_until_settled(server, 30, clock)
    assert len(answers) == 30
    assert exchanges == 40
    assert [row.kind for row in server.log] == ["burst"] * 10 + ["sound"] * 30


def test_who_asks_too_early_is_found() -> None:
    clock = VirtualClock()
    server = Faults(WHOLE, listed(["rate_limit", "sound", "rate_limit_date"]), clock)

    async def impatient() -> None:
        async with httpx.AsyncClient(transport=FaultTransport(server)) as client:
            for _ in range(4):
                await client.post(f"{BASE_URL}/chat/completions", json=ASKED)

    asyncio.run(impatient())
    assert [row.n for row in server.too_early()] == [1, 2, 3]


# -- by hand -----------------------------------------------------------------------------------------------------------------------


def test_it_runs_on_its_own_and_tells_what_it_served() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "generator.subjects.faults",
        "--port",
        str(port),
        "--subject",
        "honest",
        "--rate",
        "1",
        "--kind",
        "html",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline().strip() == f"http://127.0.0.1:{port}/v1"
            for _ in range(100):
                try:
                    reply = httpx.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=ASKED)
                    break
                except httpx.ConnectError:
                    time.sleep(0.05)
            assert reply.text == "<html>busy</html>"
            assert httpx.get(f"http://127.0.0.1:{port}/served").json()["kinds"] == {"html": 1}
            assert httpx.get(f"http://127.0.0.1:{port}/v1/models").json()["data"][0]["id"] == "sim/honest"
        finally:
            server.terminate()
            server.wait(10)
