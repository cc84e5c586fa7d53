"""The judge: exact match first, a view says what needs a ruling, and a ruling is a raw row of its own."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from generator import judge
from tests.generator.loopback import serving
from tests.generator.tooling import Scripted, ToolProject

RULINGS = "SELECT item_id, correct, ruling FROM tooluse.rollout ORDER BY item_id"


class Answering(Scripted):
    """A model that answers one item with a letter, another in words, a third not at all; and the judge at the same address."""

    def __init__(self, ruling: Callable[[str], Any]) -> None:
        super().__init__(self.says)
        self.ruling = ruling
        self.texts: dict[str, str] = {}

    def says(self, n_turns: int, body: dict[str, Any]) -> Any:
        if body["messages"][0]["content"] == judge.SYSTEM:
            return self.ruling(body["messages"][1]["content"][0]["text"])
        options = body["messages"][1]["content"][1]["text"]
        texts = ["<answer>A</answer>", "<answer>something like it</answer>", "<think>hm</think>I cannot say."]
        return self.texts.setdefault(options, texts[len(self.texts) % 3])

    @property
    def rulings(self) -> list[dict[str, Any]]:
        return [body for body in self.bodies if body["messages"][0]["content"] == judge.SYSTEM]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Callable[..., ToolProject]]:
    servers = []

    def start(app: Any) -> ToolProject:
        server = serving(app)
        servers.append(server)
        own = ToolProject(tmp_path, server.__enter__(), 3)
        own.study |= {"arms": ["direct"], "concurrency": 1, "judge": "own/one"}
        return own

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def test_only_what_exact_match_cannot_read_is_judged(project: Callable[..., ToolProject]) -> None:
    app = Answering(lambda text: "correct")
    own = project(app)
    own.rollout()
    assert sorted(row["ruling"] for row in own.rows(RULINGS)) == ["exact", "judge", "no_answer"]
    (asked,) = app.rulings
    assert {name: asked[name] for name in ("temperature", "chat_template_kwargs")} == {
        "temperature": 0.0,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    text = asked["messages"][1]["content"][0]["text"]
    gold = own.rows("SELECT gold FROM raw.item JOIN tooluse.rollout USING (item_id) WHERE ruling = 'judge'")[0]["gold"]
    assert "What is the colour of the tag" in text
    assert f"Correct answer:\n({json.loads(gold)}) " in text
    assert text.endswith("Response:\n<answer>something like it</answer>")


@pytest.mark.parametrize(("said", "correct"), [("correct", True), ("Incorrect.", False), ("**correct**", True), ("who knows", None)])
def test_a_ruling_is_a_row_of_its_own_that_a_view_reads(project: Callable[..., ToolProject], said: str, correct: bool | None) -> None:
    own = project(Answering(lambda text: said))
    own.rollout()
    (row,) = own.rows("SELECT rollout_id, protocol, model_id, arm, template, turn FROM raw.completion WHERE protocol = 'judge'")
    judged = own.rows("SELECT rollout_id, correct, ruling FROM tooluse.rollout WHERE ruling IN ('judge', 'pending')")
    assert [(found["rollout_id"], found["correct"]) for found in judged] == [(row["rollout_id"], correct)]
    assert (row["arm"], row["template"], row["turn"]) == ("direct", "free", None)
    assert {view: own.rows(f"SELECT * FROM quality.{view}") for view in ("duplicate", "orphan", "unsettled", "superseded")} == {
        view: [] for view in ("duplicate", "orphan", "unsettled", "superseded")
    }


def test_a_ruling_that_failed_is_asked_again_and_one_that_came_is_not(project: Callable[..., ToolProject]) -> None:
    app = Answering(lambda text: (500, {}))
    own = project(app)
    own.rollout()
    assert len(app.rulings) == 2
    assert "pending" in {row["ruling"] for row in own.rows(RULINGS)}
    app.ruling = lambda text: "correct"
    own.rollout()
    assert {row["ruling"] for row in own.rows(RULINGS)} == {"exact", "judge", "no_answer"}
    before, asked = own.state(), len(app.bodies)
    own.rollout()
    assert (own.state(), len(app.bodies)) == (before, asked)


def test_stored_answers_are_judged_later(project: Callable[..., ToolProject]) -> None:
    app = Answering(lambda text: "correct")
    own = project(app)
    own.study["judge"] = None
    own.rollout()
    assert {row["ruling"] for row in own.rows(RULINGS)} == {"exact", "none", "no_answer"}
    own.study["judge"] = "own/one"
    asked = len(app.bodies)
    own.rollout(stages=("verdicts",))
    assert len(app.bodies) == asked + 1
    assert {row["ruling"] for row in own.rows(RULINGS)} == {"exact", "judge", "no_answer"}


def test_the_simulated_judge_compares_texts(tmp_path: Path) -> None:
    own = ToolProject(tmp_path, n=3)
    own.study |= {"models": ["sim/uses"], "judge": "sim/judge", "arms": ["direct", "tool"]}
    assert own.rollout().failures == []
