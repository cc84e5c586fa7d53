"""All that the three arms said of one item, side by side."""

from __future__ import annotations

from typing import Any

from tests.sql.literal import run

ANSWER = {
    "model_id": "m",
    "thinking": False,
    "task": "isobench/math_parity",
    "item_id": "i",
    "cluster_id": "i",
    "gold": "odd",
    "replicate": 0,
}


def answer(arm: str, template: str, outcome: str | None = "usable", **columns: Any) -> dict[str, Any]:
    return {**ANSWER, "arm": arm, "template": template, "outcome": outcome, **columns}


def items(rows: list[dict[str, Any]], **settings: str) -> list[dict[str, Any]]:
    return run("arm.item", {"arm.answer": rows}, {name.replace("__", "."): value for name, value in settings.items()})


def test_an_item_has_one_row_with_every_arm() -> None:
    [row] = items(
        [
            answer("AB", "plain", answer="odd"),
            answer("AB", "assess", answer="even", alone_a="odd", alone_b="neither"),
            answer("A", "assess", answer="odd", with_other="even", sufficiency="SUFFICIENT"),
            answer("B", "plain", outcome=None),
            answer("title", "plain", answer="neither"),
        ]
    )
    said = {name: value for name, value in row.items() if value not in (None, False) and name not in ANSWER}
    assert said == {
        "ab_plain_asked": True,
        "ab_plain_answer": "odd",
        "ab_assess_asked": True,
        "ab_assess_answer": "even",
        "ab_assess_alone_a": "odd",
        "ab_assess_alone_b": "neither",
        "a_assess_asked": True,
        "a_assess_answer": "odd",
        "a_assess_with_other": "even",
        "a_assess_sufficiency": "SUFFICIENT",
        "b_plain_asked": True,
    }
    assert (row["gold"], row["a_plain_asked"], row["b_plain_answer"]) == ("odd", False, None)


def test_the_title_alone_is_no_arm_of_an_item() -> None:
    assert items([answer("title", "plain", answer="odd")]) == []


def test_usable_drops_what_a_row_that_lost_a_field_still_said() -> None:
    rows = [answer("A", "assess", "unparsed_report", answer="odd", with_other="even")]
    [relevant], [usable] = items(rows), items(rows, arm__field_policy="usable")
    assert (relevant["a_assess_answer"], relevant["a_assess_with_other"]) == ("odd", "even")
    assert (usable["a_assess_asked"], usable["a_assess_answer"], usable["a_assess_with_other"]) == (True, None, None)


def test_a_row_never_called_is_dropped_by_neither_policy() -> None:
    rows = [answer("A", "plain", None)]
    assert [row["a_plain_asked"] for policy in ("relevant", "usable") for row in items(rows, arm__field_policy=policy)] == [True, True]


def test_one_replicate_is_read() -> None:
    rows = [answer("A", "plain", answer="odd"), answer("A", "plain", answer="even", replicate=1)]
    assert [row["a_plain_answer"] for row in items(rows)] == ["odd"]
    assert [row["a_plain_answer"] for row in items(rows, arm__replicate="1")] == ["even"]
    assert items(rows, arm__replicate="2") == []
