"""What was read from each request of the grid, a film's image-only answer copied to its summaries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.calls import Row, body, call, session

DRAMA, WAR = '["Drama"]', '["War"]'


def item(item_id: str, gold: Any = None, task: str = "mmimdb", cluster_id: str | None = None) -> Row:
    return {"item_id": item_id, "task": task, "cluster_id": cluster_id or item_id, "gold": gold, "annotation": {}}


def film(arm: str, item_id: str, said: str = DRAMA, **columns: Any) -> Row:
    return call(f"{arm} {item_id} {columns}", body(said), "mmimdb", arm, item_id=item_id, **columns)


FILM = [item("f", ["War", "Drama"]), *(item(f"f/{n}", ["War", "Drama"], cluster_id="f") for n in range(3))]


def answers(calls: list[Row], items: list[Row], settings: dict[str, str] | None = None, **given: Any) -> list[Row]:
    return session(calls, items, settings=settings, **given).rows(
        "SELECT * FROM arm.answer ORDER BY model_id, thinking, item_id, arm, template, replicate"
    )


def test_a_films_image_only_answer_is_copied_to_the_summaries_that_are_asked_about() -> None:
    calls = [film("AB", "f/0"), film("A", "f/2"), film("B", "f", WAR), film("title", "f", DRAMA)]
    assert [(row["item_id"], row["arm"], row["call_item_id"], row["answer"]) for row in answers(calls, FILM)] == [
        ("f", "title", "f", DRAMA),
        ("f/0", "AB", "f/0", DRAMA),
        ("f/0", "B", "f", WAR),
        ("f/2", "A", "f/2", DRAMA),
        ("f/2", "B", "f", WAR),
    ]


def test_it_is_copied_within_one_model_and_mode_only() -> None:
    calls = [film("B", "f"), film("AB", "f/0", model_id="n"), film("AB", "f/1", thinking=True)]
    assert [(row["model_id"], row["item_id"], row["arm"]) for row in answers(calls, FILM)] == [
        ("m", "f", "B"),
        ("m", "f/1", "AB"),
        ("n", "f/0", "AB"),
    ]


def test_a_summary_with_an_image_only_call_of_its_own_keeps_it() -> None:
    calls = [film("AB", "f/0"), film("B", "f/0", WAR), film("B", "f", DRAMA)]
    rows = [(row["item_id"], row["arm"], row["answer"]) for row in answers(calls, FILM)]
    assert rows == [("f", "B", DRAMA), ("f/0", "AB", DRAMA), ("f/0", "B", WAR)]


def test_every_field_stands_in_its_column() -> None:
    said = "ANSWER: odd\nTEXT_ALONE: even\nIMAGE_ALONE: neither"
    single = "ANSWER: odd\nWITH_IMAGE: even\nSUFFICIENCY: INSUFFICIENT"
    calls = [call("ab", body(said), arm="AB", template="assess"), call("a", body(single), arm="A", template="assess")]
    a, ab = answers(calls, [item("isobench/math_parity/0", "odd", "isobench/math_parity")])
    fields = ("gold", "answer", "alone_a", "alone_b", "with_other", "sufficiency", "outcome")
    assert [ab[name] for name in fields] == ["odd", "odd", "even", "neither", None, None, "usable"]
    assert [a[name] for name in fields] == ["odd", "odd", None, None, "even", "INSUFFICIENT", "usable"]


def test_a_request_without_a_call_is_a_row_without_an_outcome() -> None:
    asked = {
        "study": "s",
        "grid_id": "1",
        "created_at": "2026-01-01",
        "request_key": "r",
        "protocol": "modality",
        "model_id": "m",
        "thinking": False,
    }
    [row] = answers(
        [],
        [item("q", "A", "goldenview")],
        grid=[{**asked, "task": "goldenview", "item_id": "q", "arm": "A", "template": "plain", "replicate": 0}],
    )
    assert (row["item_id"], row["gold"], row["outcome"], row["answer"]) == ("q", "A", None, None)


def test_only_a_completed_latest_attempt_gives_an_answer() -> None:
    calls = [
        call("1", body("ANSWER: odd"), request_key="r"),
        call("2", body("ANSWER: even", finish="length"), request_key="r", attempt=2),
    ]
    [row] = answers(calls, [])
    assert (row["outcome"], row["answer"]) == ("truncated", None)


def test_what_an_older_grid_or_another_study_asked_for_is_left_out() -> None:
    calls = [call(key, body("ANSWER: odd"), item_id=key) for key in ("old", "new", "other")]
    asked = {
        "protocol": "modality",
        "model_id": "m",
        "thinking": False,
        "task": "isobench/math_parity",
        "arm": "A",
        "template": "plain",
        "replicate": 0,
    }
    grid = [
        {**asked, "study": study, "grid_id": grid_id, "created_at": at, "request_key": key, "item_id": key}
        for study, grid_id, at, key in (
            ("s", "0001", "2026-01-02", "old"),
            ("s", "0002", "2026-01-03", "new"),
            ("t", "0001", "2026-01-01", "other"),
        )
    ]
    assert [row["item_id"] for row in answers(calls, [], grid=grid)] == ["new"]
    assert [row["item_id"] for row in answers(calls, [], {"study": "t"}, grid=grid)] == ["other"]


@pytest.mark.parametrize(
    ("task", "gold", "text"),
    [
        ("mmimdb", ["War", "Drama", "War"], '["Drama","War"]'),
        ("isobench/math_parity", "even", "even"),
        ("isobench/graph_maxflow", 24, "24"),
        ("isobench/graph_maxflow", "24", "24"),
        ("goldenview", "a", "A"),
        ("goldenview", None, None),
    ],
)
def test_gold_is_written_as_an_answer_is(task: str, gold: Any, text: str | None) -> None:
    [row] = answers([call("c", body("x"), task, item_id="i")], [item("i", gold, task)])
    assert row["gold"] == text


def test_replicates_are_rows_of_their_own() -> None:
    calls = [call(f"{n}", body(f"ANSWER: {said}"), replicate=n) for n, said in enumerate(("odd", "even"))]
    assert [(row["replicate"], row["answer"]) for row in answers(calls, [])] == [(0, "odd"), (1, "even")]
