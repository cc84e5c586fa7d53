"""A hosted model in OpenRouter's documented forms: how it is asked, what its replies say, and what goes wrong inside a status 200."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import ProviderError
from generator.subjects.fault_kinds import Body
from generator.subjects.faults import Faults, listed, protocol
from tests.generator.loopback import VirtualClock, serving
from tests.generator.test_generate import CONDITIONS, KEY, Project

N = 2 * CONDITIONS  # requests of the study


class Hosted:
    """An ASGI app that answers as the hosted API does; `asked` are the bodies that came, `keys` what was sent to authorise them."""

    def __init__(self) -> None:
        self.asked: list[Body] = []
        self.keys: set[bytes] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = b""
        while (message := await receive()).get("body") or message.get("more_body"):
            raw += message["body"]
            if not message.get("more_body"):
                break
        self.keys |= {value for name, value in scope["headers"] if name == b"authorization"}
        self.asked.append(json.loads(raw))
        content = json.dumps(reply(self.asked[-1], len(self.asked))).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": content})


def reply(asked: Body, n: int) -> Body:
    message: Body = {"role": "assistant", "content": "ANSWER: even\nTEXT_ALONE: odd\nIMAGE_ALONE: even", "refusal": None}
    thought = {"reasoning_tokens": 3} if asked["reasoning"]["enabled"] else {}
    if thought:
        message["reasoning"] = "Even powers only."
    return {
        "id": f"gen-{n}",
        "provider": "CoreWeave",
        "model": asked["model"],
        "object": "chat.completion",
        "created": 1_750_000_000,
        "choices": [{"logprobs": None, "finish_reason": "stop", "native_finish_reason": "stop", "index": 0, "message": message}],
        "usage": {"prompt_tokens": 70, "completion_tokens": 10, "total_tokens": 80, "cost": 0.00025, "completion_tokens_details": thought},
    }


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Project, Hosted, Faults]]]:
    """Makes a study of a hosted model behind a fault server that plays these faults, in the order in which requests arrive."""
    servers = []
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)

    def start(*kinds: str, **fields: Any) -> tuple[Project, Hosted, Faults]:
        hosted = Hosted()
        faults = Faults(hosted, listed(kinds), VirtualClock())
        servers.append(serving(faults, http=protocol(), date_header=False))
        monkeypatch.setenv("OPENROUTER_BASE_URL", servers[-1].__enter__())
        own = Project(tmp_path, "")
        own.study |= {"tasks": {"isobench/math_parity": {"source": "synth", "n": 2}}, "concurrency": 1}
        own.models = {
            "own/one": {"serving": "openrouter", "identifier": "maker/one", "provider": "CoreWeave", "precision": "bf16", **fields}
        }
        return own, hosted, faults

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def test_a_request_pins_who_may_answer_and_says_whether_to_reason(project: Callable[..., tuple[Project, Hosted, Faults]]) -> None:
    own, hosted, _ = project(thinking=[False, True])
    assert own.generate().settled == 2 * N
    pin = {"order": ["CoreWeave"], "allow_fallbacks": False, "quantizations": ["bf16"]}
    assert all(body["provider"] == pin and body["model"] == "maker/one" for body in hosted.asked)
    assert sorted(body["reasoning"]["enabled"] for body in hosted.asked) == [False] * N + [True] * N
    assert {tuple(sorted(body)) for body in hosted.asked} == {
        ("max_tokens", "messages", "model", "provider", "reasoning", "seed", "temperature")
    }
    assert hosted.keys == {f"Bearer {KEY}".encode()}


def test_a_reply_says_who_answered_what_it_cost_and_what_was_thought(project: Callable[..., tuple[Project, Hosted, Faults]]) -> None:
    own, _, _ = project(thinking=[False, True])
    own.generate()
    who = "thinking, provider, served_model, precision, engine, prompt_tokens, completion_tokens, reasoning_tokens, round(cost_usd, 6)"
    assert own.rows(f"SELECT {who}, count(DISTINCT generation_id) FROM raw.completion GROUP BY ALL ORDER BY ALL") == [
        (False, "CoreWeave", "maker/one", None, None, 70, 10, None, 0.00025, N),
        (True, "CoreWeave", "maker/one", None, None, 70, 10, 3, 0.00025, N),
    ]
    text = "SELECT DISTINCT thinking, reasoning_source, reasoning, native_finish_reason FROM parse.text"
    assert own.rows(f"{text} INNER JOIN raw.completion USING (completion_id) ORDER BY ALL") == [
        (False, None, None, "stop"),
        (True, "reasoning", "Even powers only.", "stop"),
    ]


@pytest.mark.parametrize("kind", ["error_in_200", "choice_error", "no_choices", "html", "empty"])
def test_an_error_inside_a_status_200_is_stored_and_asked_again(project: Callable[..., tuple[Project, Hosted, Faults]], kind: str) -> None:
    own, _, faults = project(kind)
    result = own.generate()
    assert (result.settled, result.stored, result.failures) == (N, N + 1, [])
    assert [row.kind for row in faults.log].count(kind) == 1
    assert own.rows("SELECT attempt, outcome, count(*) FROM attrition.outcome WHERE NOT is_latest GROUP BY ALL") == [
        (1, "provider_error", 1)
    ]


def test_the_native_reason_alone_tells_that_an_answer_was_cut(project: Callable[..., tuple[Project, Hosted, Faults]]) -> None:
    own, _, _ = project("native_limit")
    assert own.generate().settled == N
    assert own.rows("SELECT outcome, reason, count(*) FROM attrition.outcome WHERE outcome = 'truncated' GROUP BY ALL") == [
        ("truncated", "native_finish_reason MAX_TOKENS", 1)
    ]


@pytest.mark.parametrize("kind", ["other_provider", "other_precision"])
def test_answers_from_elsewhere_in_spite_of_the_pin_stop_the_run(project: Callable[..., tuple[Project, Hosted, Faults]], kind: str) -> None:
    own, _, faults = project(*[kind] * 50)
    with pytest.raises(ProviderError, match="3 times in this run"):
        own.generate()
    assert len(faults.log) == 3
    assert own.rows("SELECT outcome, count(*) FROM attrition.outcome GROUP BY ALL") == [("provider_error", 3)]


def test_the_cost_that_replies_name_holds_the_ceiling(project: Callable[..., tuple[Project, Hosted, Faults]]) -> None:
    own, hosted, _ = project()
    own.study["cost_ceiling_usd"] = 0.001
    with pytest.raises(ProviderError, match=r"has spent \$0\.00\d+, and its ceiling of \$0\.001"):
        own.generate()
    assert 1 <= len(hosted.asked) <= 4
    assert own.rows("SELECT round(sum(cost_usd), 6) FROM raw.completion") == [(round(0.00025 * len(hosted.asked), 6),)]
