"""Which requests need no further call."""

from __future__ import annotations

import pytest

from tests.sql.calls import Row, body, call, session

ENDINGS = {
    "good": body("ANSWER: odd"),
    "unparsed": body("I am not sure."),
    "truncated": body("x", finish="length"),
    "repetition": body("x", finish="repetition"),
    "error": '{"choices":[]}',
    "html": "<html>busy</html>",
}


def settled(calls: list[Row], settings: dict[str, str] | None = None) -> list[Row]:
    return session(calls, settings=settings).rows(
        "SELECT request_key, settled, outcome, reason, attempts FROM arm.settled ORDER BY request_key"
    )


@pytest.mark.parametrize("kind", ENDINGS)
def test_every_ending_but_a_provider_error_settles_a_request(kind: str) -> None:
    [row] = settled([call("c", ENDINGS[kind])])
    assert row["settled"] == (kind not in {"error", "html"})
    assert row["attempts"] == 1


def test_the_latest_attempt_decides() -> None:
    [row] = settled([call("1", ENDINGS["good"], request_key="r"), call("2", ENDINGS["error"], request_key="r", attempt=2)])
    assert row == {"request_key": "r", "settled": False, "outcome": "provider_error", "reason": "no choices", "attempts": 2}
    [row] = settled([call("1", ENDINGS["error"], request_key="r"), call("2", ENDINGS["good"], request_key="r", attempt=2)])
    assert row == {"request_key": "r", "settled": True, "outcome": "completed", "reason": None, "attempts": 2}


def test_a_request_never_called_is_not_settled() -> None:
    asked = {
        "study": "s",
        "grid_id": "1",
        "created_at": "2026-01-01",
        "request_key": "r",
        "protocol": "modality",
        "model_id": "m",
        "thinking": False,
    }
    grid = [{**asked, "task": "goldenview", "item_id": "q", "arm": "A", "template": "plain", "replicate": 0}]
    assert session([], grid=grid).rows("SELECT settled, outcome, attempts FROM arm.settled") == [
        {"settled": False, "outcome": None, "attempts": 0}
    ]


def test_the_rules_that_read_answers_do_not_move_it() -> None:
    calls = [call(kind, response) for kind, response in ENDINGS.items()]
    assert settled(calls) == settled(calls, {"parse.rules": "lenient"})
    reading = session(calls)
    assert not {view for view in reading.catalog.closure(["arm.settled"]) if view.startswith("parse.")} - {"parse.text"}


def turn(rollout: str, number: int, response: str, **columns: object) -> Row:
    identity = {"protocol": "tool_use", "task": "vstar", "arm": "tool", "template": "free", "request_key": "r"}
    return call(f"{rollout}{number}", response, **{**identity, "rollout_id": rollout, "turn": number, **columns})  # type: ignore[arg-type]


def settled_rollouts(calls: list[Row], ended: dict[str, tuple[int, str]]) -> list[Row]:
    reading = session(calls)
    for rollout, (attempt, end_reason) in ended.items():
        reading.connection.execute("INSERT INTO raw.rollout VALUES (?, ?, NULL, 12, ?)", [rollout, attempt, end_reason])
    return reading.rows("SELECT settled, outcome, reason, attempts FROM arm.settled")


def test_a_rollout_is_settled_by_an_attempt_that_was_finished_and_not_by_its_turns() -> None:
    turns = [turn("a", 1, ENDINGS["good"]), turn("a", 2, ENDINGS["good"])]
    assert settled_rollouts(turns, {}) == [{"settled": False, "outcome": None, "reason": "not finished", "attempts": 1}]
    assert settled_rollouts(turns, {"a": (1, "answer")}) == [{"settled": True, "outcome": "answer", "reason": None, "attempts": 1}]
    assert settled_rollouts(turns, {"a": (1, "truncated")})[0]["settled"]


def test_a_rollout_that_ended_in_an_error_is_not_settled_until_another_attempt_is() -> None:
    turns = [turn("a", 1, ENDINGS["good"]), turn("a", 2, ENDINGS["html"])]
    failed = {"settled": False, "outcome": "error", "reason": "no JSON object", "attempts": 1}
    assert settled_rollouts(turns, {"a": (1, "error")}) == [failed]
    turns.append(turn("b", 1, ENDINGS["good"]))
    assert settled_rollouts(turns, {"a": (1, "error")}) == [{**failed, "attempts": 2}]
    assert settled_rollouts(turns, {"a": (1, "error"), "b": (2, "answer")}) == [
        {"settled": True, "outcome": "answer", "reason": None, "attempts": 2}
    ]
