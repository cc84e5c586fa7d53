"""Outcomes of calls, and their counts by condition: Appendix D's partition and the overlapping counts beside it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.calls import Row, body, call, session

DETECTOR = {"repetition_detection": {"min_count": 4}}
TEXTS = {
    "usable": body("ANSWER: odd\nWITH_IMAGE: odd\nSUFFICIENCY: SUFFICIENT"),
    "unparsed_report": body("ANSWER: odd\nWITH_IMAGE: odd\nSUFFICIENT"),
    "unparsed_answer": body("WITH_IMAGE: odd\nSUFFICIENCY: SUFFICIENT"),
    "both": body("nothing"),
    "truncated": body("ANSWER: odd", finish="length"),
    "repetition": body("ANSWER: odd", finish="repetition"),
    "provider_error": '{"choices":[]}',
}
COUNTS = (
    "n_requests",
    "n_attempted",
    "n_repetition",
    "n_truncated",
    "n_provider_error",
    "n_unparsed_answer",
    "n_unparsed_report",
    "n_usable",
)


def assess(key: str, kind: str, **columns: Any) -> Row:
    return call(key, TEXTS[kind], template="assess", **{"item_id": key, "request": DETECTOR, **columns})


def conditions(calls: list[Row], settings: dict[str, str] | None = None, **given: Any) -> list[Row]:
    return session(calls, settings=settings, **given).rows("SELECT * FROM attrition.condition ORDER BY ALL")


@pytest.mark.parametrize(
    ("kind", "outcome", "lost_answer", "lost_report", "reason"),
    [
        ("usable", "usable", False, False, None),
        ("unparsed_report", "unparsed_report", False, True, "SUFFICIENCY missing"),
        ("unparsed_answer", "unparsed_answer", True, False, "ANSWER missing"),
        ("both", "unparsed_answer", True, True, "ANSWER missing, SUFFICIENCY missing, WITH_IMAGE missing"),
        ("truncated", "truncated", None, None, "finish_reason length"),
        ("repetition", "repetition", None, None, "finish_reason repetition"),
        ("provider_error", "provider_error", None, None, "no choices"),
    ],
)
def test_a_call_has_one_outcome(kind: str, outcome: str, lost_answer: bool | None, lost_report: bool | None, reason: str | None) -> None:
    [row] = session([assess("c", kind)]).rows(
        "SELECT outcome, lost_answer, lost_report, reason, had_detector, is_latest FROM attrition.outcome"
    )
    assert tuple(row.values()) == (outcome, lost_answer, lost_report, reason, True, True)


def test_a_call_whose_task_has_no_labels_has_lost_its_answer() -> None:
    [row] = session([call("c", body("B"), "vstar")]).rows("SELECT outcome, reason FROM attrition.outcome")
    assert row == {"outcome": "unparsed_answer", "reason": "no label is known for this task and arm"}


def test_other_protocols_are_not_this_audits_calls() -> None:
    assert session([call("c", body("B"), protocol="tool_use")]).rows("SELECT * FROM attrition.outcome") == []


def test_outcomes_partition_the_attempts_and_lost_fields_overlap() -> None:
    calls = [assess(f"{kind} {n}", kind) for kind, times in zip(TEXTS, range(1, 8), strict=True) for n in range(times)]
    [row] = conditions(calls)
    assert [row[name] for name in COUNTS] == [28, 28, 6, 5, 7, 3 + 4, 2, 1]
    assert (row["n_completed"], row["n_lost_answer"], row["n_lost_report"], row["n_lost_either"]) == (10, 7, 6, 9)
    assert row["parse_failure_of_completed"] == 0.9


def test_repetitions_are_unknown_where_no_request_carried_the_detector() -> None:
    assert conditions([assess("a", "usable", request=None)])[0]["n_repetition"] is None
    assert conditions([assess("a", "usable", request={"repetition_detection": None})])[0]["n_repetition"] is None
    assert conditions([assess("a", "usable")])[0]["n_repetition"] == 0
    assert conditions([assess("a", "usable", request={}), assess("b", "repetition")])[0]["n_repetition"] == 1


def test_a_repetition_that_nobody_asked_to_detect_is_counted_apart() -> None:
    [row] = conditions([assess("a", "repetition"), assess("b", "repetition", request=None), assess("c", "repetition", request={})])
    assert [row[name] for name in ("n_attempted", "n_repetition", "n_repetition_unasked")] == [3, 1, 2]
    calls = [assess("a", "repetition", request=None), assess("b", "usable", request=None)]
    assert session(calls).rows("SELECT * FROM quality.partition") == []


def test_the_latest_attempt_counts_whatever_it_was() -> None:
    calls = [
        assess(f"{attempt}", kind, request_key="r", item_id="i", attempt=attempt)
        for attempt, kind in ((10, "truncated"), (2, "usable"), (9, "both"))
    ]
    [row] = conditions(calls)
    assert [row[name] for name in COUNTS] == [1, 1, 0, 1, 0, 0, 0, 0]
    assert session(calls).rows("SELECT attempt, is_latest FROM attrition.outcome ORDER BY attempt") == [
        {"attempt": 2, "is_latest": False},
        {"attempt": 9, "is_latest": False},
        {"attempt": 10, "is_latest": True},
    ]


def test_headline_counts_read_one_replicate() -> None:
    calls = [assess("0", "usable"), assess("1", "both", replicate=1)]
    assert conditions(calls)[0]["n_usable"] == 1
    assert conditions(calls, {"arm.replicate": "1"})[0]["n_unparsed_answer"] == 1


def test_what_was_asked_for_and_never_called_is_a_condition_without_rates() -> None:
    asked = {
        "study": "s",
        "created_at": "2026-01-01",
        "protocol": "modality",
        "model_id": "m",
        "thinking": False,
        "task": "goldenview",
        "replicate": 0,
    }
    old = {**asked, "grid_id": "0001-a", "request_key": "old", "item_id": "q", "arm": "B", "template": "plain"}
    new = {**asked, "grid_id": "0002-b", "request_key": "new", "item_id": "q", "arm": "A", "template": "plain"}
    [row] = conditions([], grid=[old, new])
    assert (row["arm"], row["n_requests"], row["n_attempted"], row["n_usable"]) == ("A", 1, 0, 0)
    assert (row["n_repetition"], row["parse_failure_of_completed"]) == (None, None)


def test_a_condition_that_completed_nothing_has_no_parse_failure_rate() -> None:
    assert conditions([assess("a", "truncated")])[0]["parse_failure_of_completed"] is None


def test_a_films_image_only_calls_count_once_per_film() -> None:
    film = {"task": "mmimdb", "template": "plain"}
    calls = [call("b", body('["Drama"]'), arm="B", item_id="mmimdb/1", **film)]
    calls += [call(f"a{n}", body('["Drama"]'), arm="AB", item_id=f"mmimdb/1/{n}", **film) for n in range(3)]
    assert {row["arm"]: row["n_attempted"] for row in conditions(calls)} == {"AB": 3, "B": 1}


def test_the_rule_set_moves_unparsed_rows_only() -> None:
    calls = [assess("a", "unparsed_report"), assess("b", "truncated")]
    strict, lenient = conditions(calls)[0], conditions(calls, {"parse.rules": "lenient"})[0]
    assert (strict["n_unparsed_report"], strict["n_usable"], strict["n_truncated"]) == (1, 0, 1)
    assert (lenient["n_unparsed_report"], lenient["n_usable"], lenient["n_truncated"]) == (0, 1, 1)
