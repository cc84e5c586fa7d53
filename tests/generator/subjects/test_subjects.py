"""What the subjects promise: honest is right about itself, copycat claims no change, mixed behaves at its planted rates."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from analysis.errors import UsageError
from generator.client import Client, Reply, metadata
from generator.subjects import BASE_URL, app, copycat, expected, honest, mixed, transport
from generator.subjects.chat import Speech, within
from tests.generator.subjects.asking import CONDITIONS, TASKS, body, question, said

Answers = dict[tuple[str, str], dict[str, str]]


def spoken(speak: Any, task: str, n: int, **fields: Any) -> Answers:
    """What a subject says about item n, by arm and template."""
    return {
        (arm, template): said(speak(question(task, arm, template, n, **fields), 0).content)
        for asked, arm, template in CONDITIONS
        if asked == task
    }


def reports(answers: Answers) -> Iterator[tuple[str, str, str, str]]:
    """Shown arm, its answer, the answer named for both, the flag."""
    for arm in "AB":
        answer, other, flag = answers[arm, "assess"].values()
        yield arm, answer, other, flag


# -- honest, copycat ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_honest_is_right_about_everything_it_says_of_itself(task: str) -> None:
    changed = Counter[bool]()
    for n in range(60):
        answers = spoken(honest.speak, task, n)
        executed = {arm: answers[arm, "plain"]["ANSWER"] for arm in ("AB", "A", "B")}
        for arm, answer, other, flag in reports(answers):
            assert answer == executed[arm]
            assert other == executed["AB"]
            assert (flag == "INSUFFICIENT") == (answer != executed["AB"])
            changed[answer != executed["AB"]] += 1
        assert tuple(answers["AB", "assess"].values()) == (executed["AB"], executed["A"], executed["B"])
    assert min(changed[True], changed[False]) > 20


@pytest.mark.parametrize("task", TASKS)
def test_copycat_claims_no_change_and_changes(task: str) -> None:
    changes = 0
    for n in range(60):
        answers = spoken(copycat.speak, task, n)
        for _, answer, other, flag in reports(answers):
            assert (other, flag) == (answer, "SUFFICIENT")
            changes += answer != answers["AB", "plain"]["ANSWER"]
        assert len(set(answers["AB", "assess"].values())) == 1
    assert changes > 20


# -- mixed -------------------------------------------------------------------------------------------------------------------------


def test_a_loop_runs_until_the_tokens_are_spent_where_no_detector_is_asked_for() -> None:
    shares = expected.outcomes("plain", detector=False)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["repetition"] == 0
    assert shares["truncated"] == pytest.approx(0.03)
    ends = {mixed.speak(question("isobench/math_parity", "A", "plain", i, repetition_detection=None), 0).finish_reason for i in range(300)}
    assert ends == {"stop", "length"}


def test_thinking_traces_hold_misleading_labels_in_three_places() -> None:
    places = Counter[str]()
    for i in range(200):
        speech = mixed.speak(question("isobench/math_parity", "A", "assess", i, thinking=True), 0)
        if speech.finish_reason != "stop":
            continue
        inline = (speech.content or "").startswith("<think>")
        places["inline" if inline else speech.reasoning_field] += 1
        trace = (speech.content or "").partition("</think>")[0] if inline else speech.reasoning
        assert "\nANSWER: " in (trace or "")
        assert "\nSUFFICIENCY: SUFFICIENT\n" in (trace or "")
    assert set(places) == {"inline", "reasoning", "reasoning_content"}
    assert min(places.values()) > 30


def test_replicates_are_drawn_anew() -> None:
    answers = {
        seed: [said(mixed.speak(question("isobench/math_parity", "B", "plain", n, seed=seed), 0).content) for n in range(50)]
        for seed in (0, 1)
    }
    assert answers[0] != answers[1]


# -- the endpoint ------------------------------------------------------------------------------------------------------------------


def posted(body: Any, name: str = "mixed", seed: int = 0, **options: Any) -> Reply:
    async def once() -> Reply:
        async with Client(BASE_URL, transport=transport(name, seed, **options)) as client:
            return await client.post(body)

    return asyncio.run(once())


@pytest.mark.parametrize("name", ["honest", "copycat", "mixed"])
@pytest.mark.parametrize(("task", "arm", "template"), CONDITIONS)
def test_every_condition_gets_a_chat_completion(name: str, task: str, arm: str, template: str) -> None:
    reply = posted(body(task, arm, template), name)
    assert reply.http_status == 200
    found = metadata(reply)
    assert (found["provider"], found["precision"], found["served_model"], found["engine"]) == ("simulated", "exact", "m", "vlmaudit")
    assert found["prompt_tokens"] > 20
    assert found["completion_tokens"] >= 1
    assert found["cost_usd"] is None


def test_a_reply_is_a_function_of_subject_seed_and_request() -> None:
    asked = body("isobench/math_parity", "AB", "assess", thinking=True)
    assert posted(asked).body == posted(asked).body
    others = [posted(asked, seed=1), posted(asked, "honest"), posted(body("isobench/math_parity", "AB", "assess", 1, thinking=True))]
    assert len({posted(asked).body, *(other.body for other in others)}) == 4


def test_a_price_is_charged_for_each_token() -> None:
    found = metadata(posted(body("isobench/math_parity", "A", "plain"), price_usd=0.001))
    assert found["cost_usd"] == pytest.approx(0.001 * (found["prompt_tokens"] + found["completion_tokens"]))


def test_a_reply_ends_where_its_tokens_do() -> None:
    full = json.loads(posted(body("isobench/math_parity", "A", "assess", 3)).body or b"")
    short = json.loads(posted(body("isobench/math_parity", "A", "assess", 3, max_tokens=7)).body or b"")
    assert short["usage"]["completion_tokens"] == 7
    assert short["choices"][0]["finish_reason"] == "length"
    assert full["choices"][0]["message"]["content"].startswith(short["choices"][0]["message"]["content"])
    assert within(Speech("a b c", "stop", "d e f"), 3) == Speech(None, "length", "d e f")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"model": "m"}', b"\xff", b"[" * 100_000])
def test_a_malformed_request_gets_an_error_in_openais_form(content: bytes) -> None:
    async def once() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport("mixed")) as client:
            return await client.post(f"{BASE_URL}/chat/completions", content=content)

    response = asyncio.run(once())
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert response.json()["error"]["message"]


def test_models_are_listed_and_other_paths_are_not_there() -> None:
    async def get(path: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=transport("honest")) as client:
            return await client.get(f"{BASE_URL}/{path}")

    assert [model["id"] for model in asyncio.run(get("models")).json()["data"]] == ["sim/honest"]
    assert asyncio.run(get("embeddings")).status_code == 404


def test_an_unknown_subject_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="there is no simulated subject 'parrot': there are honest, copycat, mixed"):
        app("parrot")
