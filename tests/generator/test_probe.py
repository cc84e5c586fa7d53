"""Checkpoints: where `<answer>` is put, what real and counterfactual share, how log-probabilities are asked for and stored."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

from analysis.errors import ProviderError
from generator.items import read, table
from tests.generator.loopback import serving
from tests.generator.tooling import Scripted, ToolProject, call, said, urls, without_images

ANSWER = "<think>so</think><answer>A</answer>"
IDS = {letter: 100 + place for place, letter in enumerate("ABCD")}


class Probed(Scripted):
    """A model that looks twice in its first turn, once in its second, then answers; and that can be probed."""

    def __init__(self, turn: Any = None) -> None:
        super().__init__(turn or self.usual)
        self.fault: Callable[[dict[str, Any]], tuple[int, dict[str, Any]] | None] = lambda body: None
        self.forms: dict[str, list[int]] = {}

    def usual(self, n_turns: int, body: dict[str, Any]) -> str | tuple[int, dict[str, Any]]:
        if "prompt" in body:
            return 200, {"tokens": self.forms.get(body["prompt"], [IDS.get(body["prompt"], 7)])}
        if body.get("continue_final_message"):
            return self.fault(body) or (200, reading(body))
        looks = [call(100, 100, 300, 300) + call(500, 500, 700, 700), call(200, 200, 400, 400)]
        return looks[n_turns] if n_turns < 2 else ANSWER

    @property
    def probes(self) -> list[dict[str, Any]]:
        return [body for body in self.bodies if body.get("continue_final_message")]

    @property
    def turns(self) -> list[dict[str, Any]]:
        return [body for body in self.bodies if "messages" in body and not body.get("continue_final_message")]


def reading(body: dict[str, Any]) -> dict[str, Any]:
    """A vLLM reply: half to A, the rest to the others; the sampled token stands first and is not repeated."""
    if "prompt_logprobs" in body:
        return {**said("x", "length"), "prompt_logprobs": [None, {"5": {"logprob": -9.0}}, {"7": {"logprob": -0.25}}]}
    share = {100: 0.5, 101: 0.2, 102: 0.2, 103: 0.1}
    entries = [{"token": f"token_id:{number}", "logprob": math.log(share.get(number, 0.01))} for number in body["logprob_token_ids"]]
    answer = said("A", "length")
    answer["choices"][0]["logprobs"] = {"content": [{**entries[0], "top_logprobs": entries}]}
    return answer


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Callable[..., ToolProject]]:
    servers = []

    def start(app: Any, n: int = 1) -> ToolProject:
        server = serving(app)
        servers.append(server)
        own = ToolProject(tmp_path, server.__enter__(), n)
        own.study["probed"] = 1
        return own

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def stored(own: ToolProject) -> list[tuple[Any, ...]]:
    columns = ("turn", "call_index", "stage", "draw", "attempt")
    return [tuple(row[name] for name in columns) for row in own.rows("SELECT * FROM raw.probe ORDER BY ALL")]


def places(n_calls: dict[int, int]) -> set[tuple[Any, ...]]:
    stages = [("before", 0), ("real", 0), ("counterfactual", 1), ("counterfactual", 2), ("counterfactual", 3)]
    return {(turn, index, *stage) for turn, n in n_calls.items() for index in range(n) for stage in stages}


def test_every_call_is_read_before_after_and_after_three_others_in_its_place(project: Callable[..., ToolProject]) -> None:
    app = Probed()
    own = project(app)
    own.rollout()
    assert {row[:4] for row in stored(own)} == places({1: 2, 2: 1})
    assert {row[4] for row in stored(own)} == {1}
    drawn = own.rows("SELECT turn, call_index, draw, kind FROM raw.observation WHERE draw > 0 ORDER BY ALL")
    assert len(drawn) == 9
    assert {row["kind"] for row in drawn} == {"random_crop"}
    assert own.rows("SELECT DISTINCT round(mass, 9) AS mass, reason FROM tooluse.probe") == [{"mass": 1.0, "reason": None}]


def test_a_checkpoint_is_the_conversation_as_it_was_with_an_answer_begun(project: Callable[..., ToolProject]) -> None:
    app = Probed()
    own = project(app)
    own.rollout()
    told = [body["messages"] for body in app.turns]
    last = [body["messages"][-1] for body in app.probes]
    assert {message["role"] for message in last} == {"assistant"}
    before = [body["messages"] for body in app.probes if len(body["messages"]) in (3, 5) and body["messages"][-1]["content"] != "<answer>"]
    assert sorted(len(messages) for messages in before) == [3, 3, 5]
    for messages in before:
        assert messages[:-1] == told[(len(messages) - 3) // 2]
        assert messages[-1]["content"] == "<think>look</think>\n<answer>"
    after = [body["messages"] for body in app.probes if body["messages"][-1]["content"] == "<answer>"]
    real = [messages for messages in after if messages[:-1] in told]
    assert sorted(len(messages) for messages in real) == [5, 5, 7]


def test_real_and_counterfactual_differ_in_one_image_and_nothing_else(project: Callable[..., ToolProject]) -> None:
    app = Probed()
    own = project(app)
    own.rollout()
    sent = [(body, raw) for body, raw in zip(app.bodies, app.raws, strict=True) if body in app.probes]
    after = [(body, raw) for body, raw in sent if body["messages"][-1]["content"] == "<answer>"]
    turns = [turn["messages"] for turn in app.turns]
    real = {len(body["messages"]): (body, raw) for body, raw in after if body["messages"][:-1] in turns}
    replaced: list[tuple[int, int]] = []
    for body, raw in after:
        actual, actual_raw = real[len(body["messages"])]
        assert without_images(body) == without_images(actual)
        differing = [place for place, pair in enumerate(zip(urls(body), urls(actual), strict=True)) if pair[0] != pair[1]]
        if differing:
            (place,) = differing
            replaced.append((len(body["messages"]), place))
            # what stands before the image is the same byte for byte, and so is what follows
            assert raw.split(urls(body)[place].encode()) == actual_raw.split(urls(actual)[place].encode())
    assert sorted(replaced) == [(5, 1)] * 3 + [(5, 2)] * 3 + [(7, 3)] * 3


def test_options_are_asked_for_by_the_ids_of_their_tokens(project: Callable[..., ToolProject]) -> None:
    app = Probed()
    app.forms = {f" {letter}": [200 + place] for place, letter in enumerate("ABCD")}
    own = project(app)
    own.model["option_forms"] = ["{}", " {}"]
    own.rollout()
    for body in app.probes:
        assert body["logprob_token_ids"] == [100, 200, 101, 201, 102, 202, 103, 203]
        asked = {name: body[name] for name in ("max_tokens", "logprobs", "add_generation_prompt", "return_tokens_as_token_ids")}
        assert asked == {"max_tokens": 1, "logprobs": True, "add_generation_prompt": False, "return_tokens_as_token_ids": True}
        assert body["chat_template_kwargs"] == {"enable_thinking": False}
        assert "top_logprobs" not in body
    assert json.loads(own.rows("SELECT DISTINCT options FROM raw.probe")[0]["options"])["B"] == [101, 201]
    tokenized = [body["prompt"] for body in app.bodies if "prompt" in body]
    assert len(tokenized) == len(set(tokenized)) == 8  # once a model


def test_an_option_of_several_tokens_is_refused_before_anything_is_probed(project: Callable[..., ToolProject]) -> None:
    app = Probed()
    app.forms = {"B": [1, 2]}
    own = project(app)
    with pytest.raises(ProviderError, match="own/one writes the option 'B' in 2 tokens: give it other option_forms"):
        own.rollout()
    assert app.probes == []


def test_a_server_that_cannot_tokenize_is_named(project: Callable[..., ToolProject]) -> None:
    own = project(Scripted(lambda n_turns, body: (404, {}) if "prompt" in body else call(1, 1, 200, 200) if not n_turns else ANSWER))
    with pytest.raises(ProviderError, match="does not say the tokens of 'A' .status 404.: own/one can only be probed on a vLLM server"):
        own.rollout()


def test_a_call_that_ended_in_an_error_is_read_before_alone(project: Callable[..., ToolProject]) -> None:
    app = Probed()
    usual = app.usual
    app.turn = lambda n_turns, body: [call(3000, 3000, 4000, 4000), ANSWER][n_turns] if body in app.turns[-1:] else usual(n_turns, body)
    own = project(app)
    own.rollout()
    assert [row[:4] for row in stored(own)] == [(1, 0, "before", 0)]


def test_what_cannot_be_used_is_a_row_with_a_reason_and_is_not_asked_again(project: Callable[..., ToolProject]) -> None:
    app = Probed()

    def lacking(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        answer = reading(body)
        entry = answer["choices"][0]["logprobs"]["content"][0]
        entry["top_logprobs"] = [{**one, "logprob": -9999.0} if one["token"] == "token_id:102" else one for one in entry["top_logprobs"]]
        return 200, answer

    app.fault = lacking
    own = project(app)
    own.rollout()
    assert own.rows("SELECT DISTINCT gap, reason FROM tooluse.probe") == [
        {"gap": None, "reason": "log-probability of option C at the floor of -9999"}
    ]
    assert own.rollout().stored == 0


def test_a_reading_that_failed_is_a_row_and_is_asked_again_as_a_further_attempt(project: Callable[..., ToolProject]) -> None:
    app = Probed()
    app.fault = lambda body: (500, {})
    own = project(app)
    own.rollout()
    assert {row[4] for row in stored(own)} == {1, 2}
    app.fault = lambda body: None
    own.rollout()
    assert {row[4] for row in stored(own)} == {1, 2, 3}
    assert own.rows("SELECT DISTINCT reason FROM tooluse.probe") == [{"reason": None}]


def test_stored_rollouts_are_probed_later_without_rerunning_them(project: Callable[..., ToolProject]) -> None:
    app = Probed()
    own = project(app)
    own.study["replicates"] = 3
    own.rollout(stages=("rollouts",))
    turns = len(app.turns)
    assert (turns, app.probes) == (9, [])
    own.rollout(stages=("probes",))
    assert (len(app.turns), len(app.probes)) == (turns, 15)
    own.study["probed"] = 3
    own.rollout()
    assert (len(app.turns), len(app.probes)) == (turns, 45)
    assert own.rollout().stored == 0


def test_a_gold_text_is_read_from_the_prompt_it_ends(project: Callable[..., ToolProject]) -> None:
    app = Probed()
    own = project(app)
    own.study["probed"] = 0
    own.rollout(stages=())
    make_open(own.data)
    own.study |= {"probed": 1, "seed": 1}
    own.warehouse.unlink()
    own.rollout()
    assert all(body["prompt_logprobs"] == 1 and "logprobs" not in body for body in app.probes)
    assert {body["messages"][-1]["content"].rpartition("<answer>")[2] for body in app.probes} == {"a bird"}
    scores = own.rows("SELECT DISTINCT stage, score, n_tokens, reason FROM tooluse.open_probe ORDER BY stage")
    assert [row["stage"] for row in scores] == ["before", "counterfactual", "real"]
    assert {(row["score"], row["n_tokens"], row["reason"]) for row in scores} == {(-0.25, 1, None)}
    assert own.rows("SELECT * FROM tooluse.probe") == []


def make_open(data: Path) -> None:
    """Take the options from the items, and give them a text for a gold answer."""
    path = data / "items" / "vstar.parquet"
    note = table.parquet_note(path, "vlmaudit.asked") or ""
    rows = [
        {**vars(item), "gold": json.dumps("a bird"), "inputs": json.dumps(item.inputs), "annotation": "{}"} for item in read(data, "vstar")
    ]
    polars.DataFrame(rows).write_parquet(path, metadata={"vlmaudit.asked": note})
