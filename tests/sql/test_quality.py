"""Each audit finds the rows that break its promise, and none in a study that keeps it."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.catalog import load
from generator.images import Store
from generator.items import load as load_items
from tests.sql.literal import Rows, run
from tests.sql.rows import Row, answer, item, pick

ABOUT: Row = {"model_id": "m", "thinking": False, "task": "goldenview", "item_id": "q", "arm": "AB", "template": "plain", "replicate": 0}
WHEN = "2026-01-01 00:00:00"
BODY = json.dumps({"choices": [{"message": {"content": "ANSWER: A"}, "finish_reason": "stop"}]})


def cell(request_key: str = "k", grid_id: str = "0001", **columns: Any) -> Row:
    return {"study": "s", "grid_id": grid_id, "created_at": WHEN, "request_key": request_key, "protocol": "modality", **ABOUT, **columns}


def call(request_key: str = "k", attempt: int = 1, **columns: Any) -> Row:
    identity = {"completion_id": f"{request_key}/{attempt}", "request_key": request_key, "attempt": attempt, "protocol": "modality"}
    return {**identity, "run_id": "r", "http_status": 200, "response": BODY, **ABOUT, **columns}


def known(item_id: str = "q", gold: Any = "A", **annotation: Any) -> Row:
    about = {"item_id": item_id, "task": "goldenview", "cluster_id": item_id}
    return {**about, "gold": json.dumps(gold), "annotation": json.dumps(annotation)}


WHOLE: dict[str, Rows] = {"raw.item": [known()], "raw.grid": [cell()], "raw.completion": [call()], "raw.run": [{"run_id": "r"}]}
AUDITS = sorted(view for view in load() if view.startswith("quality."))


@pytest.mark.parametrize("audit", AUDITS)
def test_a_whole_study_breaks_no_promise(audit: str) -> None:
    assert run(audit, WHOLE) == []


@pytest.mark.parametrize("audit", AUDITS)
def test_an_empty_warehouse_breaks_no_promise(audit: str) -> None:
    assert run(audit, {}) == []


@pytest.mark.parametrize("audit", AUDITS)
def test_an_audit_says_what_it_promises_and_how_grave_a_breach_is(audit: str) -> None:
    header = load()[audit].header
    assert header["severity"] in ("error", "warning")
    assert header["promise"]
    assert header["grain"]


def broken(audit: str, **tables: Rows) -> list[Row]:
    """The rows of an audit over the whole study with some raw tables replaced."""
    return run(audit, {**WHOLE, **{f"raw.{name}": rows for name, rows in tables.items()}})


def test_a_gold_label_that_recomputing_contradicts_is_shown_and_an_ambiguous_one_too() -> None:
    items = [
        known("right", "even", recomputed_gold="even"),
        known("right number", 24, recomputed_gold=24),
        known("wrong", "neither", recomputed_gold="even"),
        known("ambiguous", "odd", recomputed_gold=["even", "odd"]),
        known("not recomputed", "A"),
        known("unknown", None, recomputed_gold="even"),
    ]
    found = broken("quality.label", item=items)
    assert pick(found, "item_id", "recomputed_gold") == [("ambiguous", '["even","odd"]'), ("unknown", "even"), ("wrong", "even")]


def test_an_item_without_a_usable_gold_answer_is_shown_once() -> None:
    rows = [answer("q", arm, "plain", "A", gold=None) for arm in ("AB", "A")] + [answer("p", "AB", "plain", "A")]
    assert run("quality.gold", {"arm.answer": rows}) == [{"item_id": "q", "task": "isobench/math_parity"}]


@pytest.mark.parametrize(
    ("golden_view", "found"),
    [("CAM_BACK", []), ("NONE_OF_THE_ABOVE", []), ("CAM_SIDE", ["q"]), ("CAM_FRONT", ["q"])],
    ids=["in one", "in none", "unknown", "in both"],
)
def test_an_annotated_camera_that_is_not_in_exactly_one_set_is_shown(golden_view: str, found: list[str]) -> None:
    annotation: Row = {"set_a": ["CAM_FRONT", "CAM_BACK"], "set_b": ["CAM_FRONT"]}
    assert [row["item_id"] for row in broken("quality.evidence", item=[known(golden_view=golden_view, **annotation)])] == found


@pytest.mark.parametrize(
    ("tables", "raw_table", "n_breaches"),
    [
        ({"completion": [call(), call()]}, "completion", 2),
        ({"completion": [call(), call(completion_id="other")]}, "completion", 1),
        ({"item": [known(), known(gold="B")]}, "item", 1),
        ({"grid": [cell(), cell()]}, "grid", 2),
        ({"grid": [cell(), cell("same cell, other request")]}, "grid", 1),
        ({"run": [{"run_id": "r"}, {"run_id": "r"}]}, "run", 1),
        ({"image": [{"image_sha256": "0"}, {"image_sha256": "0"}]}, "image", 1),
        ({"rollout": [{"rollout_id": "o", "attempt": 1}] * 2}, "rollout", 1),
        ({"observation": [{"rollout_id": "o", "turn": 1, "call_index": 1, "draw": 0}] * 2}, "observation", 1),
        ({"probe": [{"rollout_id": "o", "turn": 1, "call_index": 1, "stage": "real", "draw": 0, "attempt": 1}] * 2}, "probe", 1),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_key_that_stands_twice_in_a_raw_table_is_shown(tables: dict[str, Rows], raw_table: str, n_breaches: int) -> None:
    found = broken("quality.duplicate", **tables)
    assert {(row["raw_table"], row["n"]) for row in found} == {(raw_table, 2)}
    assert len(found) == n_breaches


def test_a_later_attempt_another_grid_and_another_turn_are_no_duplicates() -> None:
    calls = [call(), call(attempt=2), call("t", rollout_id="o", turn=1), call("t", completion_id="t/2", rollout_id="o", turn=2)]
    assert broken("quality.duplicate", completion=calls, grid=[cell(), cell(grid_id="0002")]) == []


def test_references_that_lead_nowhere_are_shown() -> None:
    found = broken(
        "quality.orphan",
        completion=[call(), call("not asked for", run_id="no run"), call("k", 2, item_id="no item")],
        grid=[cell(), cell("other", item_id="no such item", grid_id="0002")],
    )
    assert pick(found, "raw_table", "refers_to", "missing", "n") == [
        ("completion", "grid", "not asked for", 1),
        ("completion", "item", "no item", 1),
        ("completion", "run", "no run", 1),
        ("grid", "item", "no such item", 1),
    ]


def test_a_completion_that_is_not_what_its_request_asked_for_is_shown() -> None:
    (row,) = broken("quality.identity", completion=[call(), call(attempt=2, arm="A")])
    assert (row["completion_id"], row["completion"], row["cell"]) == (
        "k/2",
        "m, false, goldenview, q, A, plain, 0",
        "m, false, goldenview, q, AB, plain, 0",
    )


def test_a_gap_in_the_attempts_of_a_request_is_shown() -> None:
    found = broken("quality.attempt", completion=[call("a"), call("a", 2), call("b"), call("b", 3), call("c", 2)])
    assert pick(found, "request_key", "n", "last") == [("b", 2, 3), ("c", 1, 2)]


def test_a_completion_that_holds_nothing_is_shown_and_one_that_says_why_is_not() -> None:
    nothing: Row = {"response": None}
    calls = [call(), call("a", **nothing), call("b", error='{"type": "timeout"}', **nothing), call("c", response_bytes=b"\xff", **nothing)]
    assert [row["request_key"] for row in broken("quality.bodiless", completion=calls)] == ["a"]


def test_what_an_older_grid_of_the_study_asked_for_is_superseded_and_another_studys_is_not() -> None:
    grid = [cell("old"), cell("k"), cell("k", "0002"), cell("theirs", study="another", created_at="2025-01-01")]
    calls = [call("old"), call("old", 2), call("k"), call("theirs")]
    found = broken("quality.superseded", grid=grid, completion=calls)
    assert pick(found, "request_key", "attempt", "grid_id") == [("old", 1, "0001"), ("old", 2, "0001")]


def test_two_answers_to_one_request_and_two_rows_of_one_item_are_shown() -> None:
    given = {"arm.answer": [answer("i", "A", "plain", "odd"), answer("i", "A", "plain", "even")], "arm.item": [item("i"), item("i")]}
    assert pick(run("quality.fan_out", given), "view_name", "n") == [("arm.answer", 2), ("arm.item", 2)]


def test_outcomes_that_do_not_add_up_are_shown() -> None:
    whole = {"model_id": "m", "thinking": False, "task": "t", "arm": "A", "template": "plain", "n_attempted": 6, "n_repetition": 1}
    whole |= {"n_truncated": 1, "n_provider_error": 1, "n_unparsed_answer": 1, "n_unparsed_report": 1, "n_usable": 1, "n_completed": 3}
    conditions = [whole, {**whole, "arm": "lost", "n_usable": 0}, {**whole, "arm": "no detector", "n_attempted": 5, "n_repetition": None}]
    (row,) = run("quality.partition", {"attrition.condition": conditions})
    assert (row["arm"], row["n_attempted"], row["n_sum"], row["n_completed"], row["n_completed_sum"]) == ("lost", 6, 5, 3, 2)


def test_a_reply_from_another_provider_or_in_another_precision_is_shown() -> None:
    grid = [cell(pin_provider="CoreWeave", pin_precision="bf16")]
    calls = [
        call(provider="coreweave", precision="bf16"),
        call(attempt=2, provider="Elsewhere", precision="bf16"),
        call(attempt=3, provider="CoreWeave", precision="fp8"),
        call(attempt=4),
    ]
    found = broken("quality.pin", grid=grid, completion=calls)
    assert pick(found, "attempt", "provider", "precision") == [(2, "Elsewhere", "bf16"), (3, "CoreWeave", "fp8")]


def test_a_model_served_in_two_ways_is_shown_by_what_varies() -> None:
    other: Row = {"item_id": "p"}
    calls = [
        call(precision="bf16", engine="vllm", engine_version="1", temperature=0.0),
        call("l", precision="fp8", engine="vllm", engine_version="2", temperature=0.0, **other),
    ]
    found = broken("quality.serving", item=[known(), known("p")], grid=[cell(), cell("l", **other)], completion=calls)
    assert pick(found, "aspect", "n_values", "first_value", "last_value", "n") == [
        ("engine", 2, "vllm 1", "vllm 2", 2),
        ("precision", 2, "bf16", "fp8", 2),
    ]


def test_a_condition_answered_in_several_ways_drifts_by_what_differs() -> None:
    other: Row = {"item_id": "p"}
    served: Row = {"provider": "vllm", "precision": "bf16", "engine": "vllm", "engine_version": "1", "prompt_sha256": "a"}
    calls = [
        call(**served),
        call("again", replicate=1, **{**served, "prompt_sha256": "b"}),
        call("l", **other, **{**served, "provider": "other", "engine_version": "2"}),
        call("x", **other, arm="A", **{**served, "precision": "fp8"}),
    ]
    grid = [cell(), cell("again", replicate=1), cell("l", **other), cell("x", arm="A", **other)]
    found = broken("quality.drift", item=[known(), known("p")], grid=grid, completion=calls)
    assert pick(found, "arm", "aspect", "n_values", "first_value", "last_value", "n") == [
        ("AB", "engine", 2, "vllm 1", "vllm 2", 3),
        ("AB", "prompt", 2, "a", "b", 2),
        ("AB", "provider", 2, "other", "vllm", 3),
    ]


def test_what_is_not_said_or_is_a_providers_error_or_superseded_is_no_drift() -> None:
    other: Row = {"item_id": "p"}
    calls = [call(provider="one"), call("l", **other), call("x", item_id="q2", http_status=502, response="", provider="two")]
    calls += [call("y", item_id="q3", provider="three"), call("y", attempt=2, item_id="q3", provider="one")]
    grid = [cell(), cell("l", **other), cell("x", item_id="q2"), cell("y", item_id="q3")]
    items = [known(name) for name in ("q", "p", "q2", "q3")]
    assert broken("quality.drift", item=items, grid=grid, completion=calls) == []


def test_rollouts_of_one_condition_served_in_several_ways_drift() -> None:
    asked = {"protocol": "tool_use", "arm": "tool", "template": "free"}

    def turn(rollout: str, number: int, attempt: int = 1, **columns: Any) -> Row:
        return call(f"{rollout}", attempt, **asked, item_id=rollout, rollout_id=rollout, turn=number, **columns) | {
            "completion_id": f"{rollout}/{number}/{attempt}"
        }

    calls = [turn("a", 1, precision="bf16"), turn("a", 2, precision="fp8", http_status=429), turn("a", 2, 2, precision="bf16")]
    calls += [turn("failed", 1, precision="int4"), turn("b", 1, precision="bf16"), turn("b", 2, precision="fp8")]
    rollouts = [
        {"rollout_id": name, "attempt": 1, "end_reason": "error" if name == "failed" else "answer"} for name in ("a", "b", "failed")
    ]
    grid = [cell(name, item_id=name, **asked) for name in ("a", "b", "failed")]
    items = [known(name) for name in ("a", "b", "failed")]
    found = broken("quality.rollout_drift", item=items, grid=grid, completion=calls, rollout=rollouts)
    assert pick(found, "arm", "aspect", "first_value", "last_value", "n") == [("tool", "precision", "bf16", "fp8", 4)]
    assert broken("quality.rollout_drift", item=items, grid=grid, completion=calls[:4], rollout=rollouts) == []


def test_an_attempt_that_was_called_again_does_not_drift() -> None:
    assert broken("quality.serving", completion=[call(precision="fp8"), call(attempt=2, precision="bf16")]) == []


def test_a_request_never_called_or_failed_at_the_provider_is_unsettled() -> None:
    other: Row = {"item_id": "p"}
    calls = [call("failed", response="<html>busy</html>", http_status=503, **other)]
    found = broken("quality.unsettled", item=[known(), known("p")], grid=[cell("never"), cell("failed", **other)], completion=calls)
    assert pick(found, "request_key", "attempts") == [("failed", 1), ("never", 0)]


def film(item_id: str, arm: str, **columns: Any) -> Row:
    return cell(f"{item_id} {arm}", task="mmimdb", item_id=item_id, arm=arm, **columns)


def test_a_film_without_its_poster_call_or_without_a_summary_is_shown() -> None:
    items = [{"item_id": f"mmimdb/{name}", "task": "mmimdb", "cluster_id": f"mmimdb/{name[0]}"} for name in ("7", "7/0", "8", "9/0")]
    grid = [film("mmimdb/7", "B"), film("mmimdb/7/0", "AB"), film("mmimdb/8", "B"), film("mmimdb/9/0", "A"), film("mmimdb/8", "title")]
    found = broken("quality.film", item=items, grid=grid, completion=[])
    assert pick(found, "film", "lacks") == [("mmimdb/8", "summary"), ("mmimdb/9", "poster")]


def test_cells_without_an_item_are_shown_in_each_setting() -> None:
    said = {"a_assess_answer": "odd", "a_assess_with_other": "odd", "ab_plain_answer": "odd"}
    found = run("quality.empty_cell", {"arm.item": [item("i", **said)]})
    assert sorted((row["setting"], row["model_id"], row["arm"]) for row in found) == [
        ("prospective", "m", "B"),
        ("retrospective", "m", "AB"),
        ("retrospective", "pooled", "AB"),
        ("sufficiency", "m", "A"),
        ("sufficiency", "m", "B"),
    ]


class Unseen(Store):
    """Takes pictures without looking at them: labels are recomputed from text."""

    def add(self, data: bytes, name: str) -> str:
        return name


def test_the_public_isobench_has_six_labels_that_recomputing_contradicts(shared: Path, tmp_path: Path) -> None:
    source, store = str(shared / "data" / "isobench"), Unseen(tmp_path)
    items = [item for task in ("isobench/math_parity", "isobench/graph_maxflow") for item in load_items(task, source, store)]
    rows = [{**vars(item), **{name: json.dumps(getattr(item, name)) for name in ("gold", "inputs", "annotation")}} for item in items]
    assert len(rows) == 384 + 128
    found = run("quality.label", {"raw.item": rows})
    assert sorted(row["item_id"] for row in found) == [f"isobench/math_parity/{row}" for row in (164, 268, 311, 57, 71, 94)]
