"""The tool loop: calls are carried out, interventions change returned images and nothing else, and a rollout is whole or absent."""

import base64
import hashlib
import io
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from generator import tools
from generator.rollout import draw_seed
from tests.generator.loopback import serving, wait_until
from tests.generator.tooling import Scripted, ToolProject, call, said, urls, without_images

ANSWER = "<think>so</think><answer>A</answer>"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Callable[..., ToolProject]]:
    servers = []

    def start(app: Any, n: int = 2) -> ToolProject:
        server = serving(app)
        servers.append(server)
        return ToolProject(tmp_path, server.__enter__(), n)

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def looks_then_answers(n_turns: int, body: dict[str, Any]) -> str:
    """Two calls, the second in the first's crop, then an answer."""
    return [call(100, 100, 300, 300), call(250, 250, 700, 800, img_idx=1), ANSWER][n_turns]


def picture(url: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))


# -- what is asked and stored --------------------------------------------------------------------------------------------------------


def test_every_turn_is_a_row_and_the_rollout_is_written_last(project: Callable[..., ToolProject]) -> None:
    app = Scripted(looks_then_answers)
    own = project(app, n=1)
    result = own.rollout()
    assert (result.requests, result.settled, result.stored, result.failures) == (1, 1, 3, [])
    turns = own.rows("SELECT * FROM raw.completion ORDER BY turn")
    assert [row["turn"] for row in turns] == [1, 2, 3]
    assert len({row["completion_id"] for row in turns}) == 3
    assert len({(row["rollout_id"], row["request_key"]) for row in turns}) == 1
    assert {(row["protocol"], row["arm"], row["template"], row["attempt"]) for row in turns} == {("tool_use", "tool", "free", 1)}
    assert own.rows("SELECT rollout_id, attempt, max_calls, end_reason FROM raw.rollout") == [
        {"rollout_id": turns[0]["rollout_id"], "attempt": 1, "max_calls": 12, "end_reason": "answer"}
    ]
    seen = own.rows("SELECT * FROM raw.observation ORDER BY turn")
    assert [(row["turn"], row["call_index"], row["draw"], row["kind"], row["frame"]) for row in seen] == [
        (1, 0, 0, "real", "0-1000"),
        (2, 0, 0, "real", "0-1000"),
    ]
    assert json.loads(seen[0]["executed"])["bbox_2d"] == [200, 200, 600, 600]
    assert json.loads(seen[1]["executed"])["original_bbox_2d"] == [300, 300, 480, 520]
    for row in seen:
        data = (own.data / "observations" / f"{row['image_sha256']}.png").read_bytes()
        assert hashlib.sha256(data).hexdigest() == row["image_sha256"]
        assert Image.open(io.BytesIO(data)).size == (row["width"], row["height"])
    assert {row["image_sha256"] for row in seen} <= {row["image_sha256"] for row in own.rows("SELECT image_sha256 FROM raw.image")}


def test_a_stored_request_is_what_was_sent_with_each_image_by_its_digest(project: Callable[..., ToolProject]) -> None:
    app = Scripted(looks_then_answers)
    own = project(app, n=1)
    own.rollout()
    stored = [json.loads(row["request"]) for row in own.rows("SELECT request FROM raw.completion ORDER BY turn")]
    for body, kept in zip(app.bodies, stored, strict=True):
        text = json.dumps(body)
        for url in set(urls(body)):
            text = text.replace(url, f"sha256:{hashlib.sha256(base64.b64decode(url.partition(',')[2])).hexdigest()}")
        assert json.loads(text) == kept
    assert [len(urls(body)) for body in app.bodies] == [1, 2, 3]
    for before, after in zip(app.bodies, app.bodies[1:], strict=False):
        assert after["messages"][: len(before["messages"])] == before["messages"]


def test_a_turn_decodes_as_the_family_does_in_both_policies(project: Callable[..., ToolProject]) -> None:
    app = Scripted(lambda n_turns, body: ANSWER)
    own = project(app, n=1)
    own.study |= {"arms": ["direct", "tool"], "replicates": 2, "seed": 7}
    own.rollout()
    decoding = ("temperature", "top_p", "top_k", "max_tokens", "chat_template_kwargs")
    assert {json.dumps([body[name] for name in decoding]) for body in app.bodies} == {
        json.dumps([0.7, 0.8, 20, 8192, {"enable_thinking": False}])
    }
    assert sorted(body["seed"] for body in app.bodies) == [7, 7, 8, 8]
    systems = {body["messages"][0]["content"] for body in app.bodies}
    assert systems == {tools.DIRECT_SYSTEM, tools.interface("qwen3_vl").system_prompt()}


def test_a_family_with_a_stop_string_keeps_it_and_resizes_what_it_is_shown(project: Callable[..., ToolProject]) -> None:
    grounding = '<grounding>{"bbox_2d": [0.1, 0.1, 0.3, 0.3], "source": "original_image"}</grounding>'
    app = Scripted(lambda n_turns, body: grounding if not n_turns and "stop" in body else ANSWER)
    own = project(app, n=1)
    own.model["interface"] = "mini_o3"
    own.study["arms"] = ["direct", "tool"]
    own.rollout()
    offered = [body for body in app.bodies if body["messages"][0]["content"] != tools.DIRECT_SYSTEM]
    assert {(tuple(body["stop"]), body["include_stop_str_in_output"]) for body in offered} == {(("</grounding>",), True)}
    assert all("stop" not in body for body in app.bodies if body not in offered)
    assert {picture(urls(body)[0]).size for body in app.bodies} == {(1414, 1414)}
    assert own.rows("SELECT executed FROM raw.observation")[0]["executed"].count("[200, 200, 600, 600]") == 2


def test_a_second_run_asks_nothing_and_leaves_the_bytes_alone(project: Callable[..., ToolProject]) -> None:
    app = Scripted(looks_then_answers)
    own = project(app)
    own.rollout()
    before, asked = own.state(), len(app.bodies)
    assert own.rollout().stored == 0
    assert (own.state(), len(app.bodies)) == (before, asked)


# -- interventions -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ["random_crop", "noise", "blank"])
def test_an_intervention_replaces_every_returned_image_and_nothing_else(project: Callable[..., ToolProject], arm: str) -> None:
    app = Scripted(looks_then_answers)
    own = project(app, n=1)
    own.study |= {"concurrency": 1, "arms": ["tool"]}
    own.rollout()
    clean = app.bodies
    app.bodies = []
    own.study["arms"] = [arm]
    own.rollout()
    assert [without_images(body) for body in app.bodies] == [without_images(body) for body in clean]
    assert [urls(body)[0] for body in app.bodies] == [urls(body)[0] for body in clean]
    for real, other in zip(urls(clean[-1])[1:], urls(app.bodies[-1])[1:], strict=True):
        assert real != other
        assert picture(real).size == picture(other).size
    if arm == "blank":
        assert {picture(url).convert("RGB").getextrema() for url in urls(app.bodies[-1])[1:]} == {((0, 0),) * 3}
    rows = own.rows(f"SELECT kind, seed FROM raw.observation WHERE kind = '{arm}' ORDER BY turn")
    assert [row["kind"] for row in rows] == [arm, arm]
    assert len({row["seed"] for row in rows}) == 2


def test_sampled_crops_follow_the_replicate_and_not_the_model(project: Callable[..., ToolProject]) -> None:
    app = Scripted(looks_then_answers)
    own = project(app, n=1)
    own.study |= {"arms": ["random_crop"], "replicates": 2}
    own.rollout()
    seeds = own.rows("SELECT replicate, turn, observation.seed FROM raw.observation JOIN raw.completion USING (rollout_id, turn)")
    assert len({row["seed"] for row in seeds}) == 4
    shown = {row["shown"] for row in own.rows("SELECT executed->>'shown_bbox_2d' AS shown FROM raw.observation")}
    assert len(shown) == 4


def test_draws_differ_in_all_that_may_differ() -> None:
    class Cell:
        seed, item_id = 0, "vstar/0"

    seeds = [draw_seed(Cell, turn, index, draw) for turn in range(1, 13) for index in range(3) for draw in range(4)]  # type: ignore[arg-type]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**53 for seed in seeds)


# -- the limit -----------------------------------------------------------------------------------------------------------------------


def test_a_rollout_that_never_stops_ends_at_the_limit(project: Callable[..., ToolProject]) -> None:
    app = Scripted(lambda n_turns, body: call(100, 100, 300, 300 + n_turns))
    own = project(app, n=1)
    own.rollout()
    assert len(app.bodies) == 13
    assert own.rows("SELECT end_reason, count(*) AS n FROM raw.rollout JOIN raw.observation USING (rollout_id) GROUP BY ALL") == [
        {"end_reason": "call_limit", "n": 12}
    ]
    assert own.rows("SELECT hit_max, correct, ruling FROM tooluse.rollout") == [{"hit_max": True, "correct": False, "ruling": "no_answer"}]


def test_a_model_that_is_forced_to_answer_is_told_so_at_the_limit_alone(project: Callable[..., ToolProject]) -> None:
    def turn(n_turns: int, body: dict[str, Any]) -> str:
        is_direct = body["messages"][0]["content"] == tools.DIRECT_SYSTEM
        return ANSWER if is_direct or tools.FORCE_ANSWER in json.dumps(body) else call(100, 100, 300, 300)

    app = Scripted(turn)
    own = project(app, n=1)
    own.study |= {"arms": ["direct"], "force_answer": ["tool"], "max_calls": 3}
    own.rollout()
    told = [tools.FORCE_ANSWER in json.dumps(body) for body in app.bodies]
    assert sorted(told) == [False] * 4 + [True]
    assert own.rows("SELECT template, end_reason, n_calls FROM tooluse.rollout ORDER BY ALL") == [
        {"template": "force_answer", "end_reason": "answer", "n_calls": 3},
        {"template": "free", "end_reason": "answer", "n_calls": 0},
    ]


def test_calls_over_the_limit_are_not_carried_out(project: Callable[..., ToolProject]) -> None:
    app = Scripted(lambda n_turns, body: ANSWER if n_turns else "".join(call(100 * n, 100, 100 * n + 200, 300) for n in range(1, 6)))
    own = project(app, n=1)
    own.study["max_calls"] = 3
    own.rollout()
    assert [len(urls(body)) for body in app.bodies] == [1, 4]
    assert own.rows("SELECT call_index FROM raw.observation ORDER BY 1") == [{"call_index": n} for n in range(3)]


# -- what models write ---------------------------------------------------------------------------------------------------------------

HOSTILE = "__import__('os').system('touch planted')"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (call(1100, 1100, 1200, 1200), "outside"),
        (call(300, 300, 300, 500), "zero_area"),
        (call(500, 500, 300, 300), "swapped"),
        (call("1", 2, 3, 4), "not_a_number"),
        (call(float("nan"), 2, 3, 4), "not_a_number"),
        (call(HOSTILE, 2, 3, 4), "not_a_number"),
        (f'<tool_call>{{"name": "image_zoom_in_tool", "arguments": {{"bbox_2d": {HOSTILE}}}}}</tool_call>', "malformed"),
        ("<tool_call>not json</tool_call>", "malformed"),
        ('<tool_call>{"name": "rm", "arguments": {}}</tool_call>', "unknown_tool"),
        (call(100, 100, 300, 300, img_idx=9), "no_image"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_an_error_to_the_model_and_the_rollout_goes_on(
    project: Callable[..., ToolProject], text: str, error: str
) -> None:
    app = Scripted(lambda n_turns, body: [text, call(100, 100, 300, 300), ANSWER][n_turns])
    own = project(app, n=1)
    own.rollout()
    rows = own.rows("SELECT error, image_sha256 IS NULL AS is_bare, requested FROM raw.observation ORDER BY turn")
    assert rows[0]["error"].startswith(f"{error}: ")
    assert [row["is_bare"] for row in rows] == [True, False]
    assert rows[1]["error"] is None
    assert error in json.dumps(app.bodies[1]["messages"][-1])
    assert own.rows("SELECT end_reason FROM raw.rollout") == [{"end_reason": "answer"}]
    assert not Path("planted").exists()
    assert not list(own.folder.rglob("planted"))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (said("<think>it is A</think>I do not know."), "no_answer"),
        (said("\\boxed{A}"), "answer"),
        (said("<think>on and on"), "truncated"),
        (said("<think>on and on", "length"), "truncated"),
        (said(call(100, 100, 300, 300), "length"), "truncated"),
        (
            {**said("x"), "choices": [{"message": {"content": "x"}, "finish_reason": "stop", "native_finish_reason": "MAX_TOKENS"}]},
            "truncated",
        ),
        ({**said("x"), "choices": [{"message": {"content": None, "reasoning": "so"}, "finish_reason": "length"}]}, "truncated"),
        ({**said("x"), "choices": [{"message": {"content": "<answer>A</answer>", "reasoning": "so"}, "finish_reason": "stop"}]}, "answer"),
        ({"error": {"code": 502, "message": "x"}}, "error"),
        ({"choices": []}, "error"),
        ({**said("x"), "provider": "Elsewhere"}, "error"),
    ],
)
def test_a_rollout_says_how_it_ended(project: Callable[..., ToolProject], body: dict[str, Any], reason: str) -> None:
    own = project(Scripted(lambda n_turns, asked: (200, body)), n=1)
    result = own.rollout()
    assert own.rows("SELECT end_reason FROM raw.rollout") == [{"end_reason": reason}]
    assert result.settled == (reason != "error")


def test_reasoning_that_came_apart_goes_back_inline(project: Callable[..., ToolProject]) -> None:
    apart = {"content": call(100, 100, 300, 300).partition("</think>")[2], "reasoning": "look"}
    app = Scripted(lambda n_turns, body: ANSWER if n_turns else (200, {"choices": [{"message": apart, "finish_reason": "stop"}]}))
    own = project(app, n=1)
    own.rollout()
    assert app.bodies[1]["messages"][2]["content"] == call(100, 100, 300, 300)


# -- faults --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [(500, {}), (429, {}), (200, {"choices": []})])
def test_a_fault_that_passes_costs_one_exchange_and_no_rollout(project: Callable[..., ToolProject], fault: tuple[int, Any]) -> None:
    failed: set[str] = set()

    def turn(n_turns: int, body: dict[str, Any]) -> Any:
        key = json.dumps(body)
        if n_turns == 1 and key not in failed:
            failed.add(key)
            return fault
        return looks_then_answers(n_turns, body)

    own = project(Scripted(turn))
    result = own.rollout()
    assert (result.settled, result.stored) == (2, 8)
    assert own.rows("SELECT turn, attempt, count(*) AS n FROM raw.completion GROUP BY ALL ORDER BY ALL") == [
        {"turn": 1, "attempt": 1, "n": 2},
        {"turn": 2, "attempt": 1, "n": 2},
        {"turn": 2, "attempt": 2, "n": 2},
        {"turn": 3, "attempt": 1, "n": 2},
    ]


def test_a_fault_that_stays_ends_the_rollout_and_a_later_run_begins_another(project: Callable[..., ToolProject]) -> None:
    app = Scripted(lambda n_turns, body: (500, {}) if n_turns else call(100, 100, 300, 300))
    own = project(app, n=1)
    result = own.rollout()
    assert (result.settled, str(result.failures[0])) == (0, "1 failed: own/one vstar tool free: HTTP status 500")
    app.turn = looks_then_answers
    assert own.rollout().settled == 1
    found = own.rows("SELECT rollout_id, attempt, end_reason FROM raw.rollout ORDER BY attempt")
    assert [(row["attempt"], row["end_reason"]) for row in found] == [(1, "error"), (2, "answer")]
    assert found[0]["rollout_id"] != found[1]["rollout_id"]
    assert own.rows("SELECT rollout_id, correct IS NOT NULL AS known FROM tooluse.rollout") == [
        {"rollout_id": found[1]["rollout_id"], "known": True}
    ]
    assert own.rows("SELECT attempts, outcome, settled FROM arm.settled") == [{"attempts": 2, "outcome": "answer", "settled": True}]


def test_a_conversation_that_outgrows_the_context_is_truncated(project: Callable[..., ToolProject]) -> None:
    refusal = {"error": {"message": "This model's maximum context length is 1024 tokens.", "type": "BadRequestError", "code": 400}}
    own = project(Scripted(lambda n_turns, body: (400, refusal) if n_turns else call(100, 100, 300, 300)), n=1)
    assert own.rollout().settled == 1
    assert own.rows("SELECT end_reason, correct FROM tooluse.rollout") == [{"end_reason": "truncated", "correct": False}]


# -- many at once, and stops -----------------------------------------------------------------------------------------------------------


def test_as_many_requests_are_in_flight_as_allowed_and_no_more(project: Callable[..., ToolProject]) -> None:
    app = Scripted(looks_then_answers, delay=0.05)
    own = project(app, n=6)
    own.study |= {"concurrency": 5, "replicates": 3}
    assert own.rollout().settled == 18
    assert app.peak == 5
    assert len(app.bodies) == 54


def test_killed_at_any_moment_no_finished_rollout_is_lost_and_none_is_half(project: Callable[..., ToolProject]) -> None:
    moments, kills = random.Random(0), 5
    app = Scripted(looks_then_answers, delay=0.01)
    own = project(app, n=5)
    own.study |= {"arms": ["tool", "random_crop"], "replicates": 4}
    finished: set[str] = set()
    killed = 0
    for _ in range(kills):
        last = app.answered + moments.randint(3, 20)
        run = own.command()
        wait_until(lambda last=last: app.answered >= last, run)  # type: ignore[misc]
        killed += run.poll() is None
        run.kill()
        run.communicate()
        if own.warehouse.exists():
            now = {row["rollout_id"] for row in own.rows("SELECT rollout_id FROM tooluse.finished")}
            assert finished <= now
            finished = now
            assert own.rows("SELECT DISTINCT n_turns, n_calls FROM tooluse.finished") in ([], [{"n_turns": 3, "n_calls": 2}])
    run = own.command()
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert killed >= kills - 1
    assert re.search(r"s: 40 of 40 rollouts settled", out)
    assert own.rows("SELECT count(*) AS n, min(n_turns) AS least, max(n_turns) AS most, max(n_calls) AS calls FROM tooluse.finished") == [
        {"n": 40, "least": 3, "most": 3, "calls": 2}
    ]
    assert finished <= {row["rollout_id"] for row in own.rows("SELECT rollout_id FROM raw.rollout")}
    assert own.rows("SELECT count(*) AS n FROM raw.rollout") == [{"n": 40}]
    assert own.rows("SELECT * FROM quality.orphan") == own.rows("SELECT * FROM quality.duplicate") == []
