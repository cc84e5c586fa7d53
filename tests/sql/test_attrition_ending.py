"""How a call ended, in the paper's order: repetition, truncated, provider error, completed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sql.calls import Row, body, call, session

GOOD = body("ANSWER: odd")


def ending(response: str | None, pin: Row | None = None, **columns: Any) -> Row:
    completion = call("c", response, **columns)
    boundary = {"study": "s", "grid_id": "0001-a", "created_at": "2026-01-01"}
    asked = {
        name: completion[name]
        for name in ("request_key", "protocol", "model_id", "thinking", "task", "item_id", "arm", "template", "replicate")
    }
    [row] = session([completion], grid=[{**boundary, **asked, **(pin or {})}]).rows("SELECT ending, reason FROM attrition.ending")
    return row


# response, columns of the call, ending, reason
CALLS: list[tuple[str | None, Row, str, str | None]] = [
    (GOOD, {}, "completed", None),
    (GOOD, {"http_status": None}, "completed", None),
    (body(None, reasoning="all of it"), {}, "completed", None),
    (body("x", finish="content_filter"), {}, "completed", None),
    # repetition comes before all else
    (body("x", finish="repetition", choice={"stop_reason": "repetition_detected"}), {}, "repetition", "finish_reason repetition"),
    (body("x", finish="stop", choice={"stop_reason": "repetition_detected"}), {}, "repetition", "stop_reason repetition_detected"),
    (body("<think>la la", finish="repetition"), {"http_status": 500}, "repetition", "finish_reason repetition"),
    # truncated: the finish, the upstream's own finish, or an open think block
    (body("x", finish="length"), {}, "truncated", "finish_reason length"),
    (body(None, finish="length", reasoning="full"), {}, "truncated", "finish_reason length"),
    (body("x", choice={"native_finish_reason": "MAX_TOKENS"}), {}, "truncated", "native_finish_reason MAX_TOKENS"),
    (body("x", choice={"native_finish_reason": "max_output_tokens"}), {}, "truncated", "native_finish_reason max_output_tokens"),
    (body("x", finish="max_tokens"), {}, "truncated", "finish_reason max_tokens"),
    (body("x", finish="model_length"), {}, "truncated", "finish_reason model_length"),
    (body("x", choice={"native_finish_reason": "STOP"}), {}, "completed", None),
    (body("<think>so ANSWER: odd"), {}, "truncated", "think block left open"),
    (body("<think>a</think>ANSWER: odd<think>and"), {}, "truncated", "think block left open"),
    (body("ANSWER: odd", reasoning="<think>a"), {}, "completed", None),
    # no finish reason: classed by what is known
    (body("ANSWER: odd", finish=None), {"completion_tokens": 50, "max_tokens": 500}, "completed", None),
    (body("ANSWER: odd", finish=None), {}, "completed", None),
    (body("ANSWER: o", finish=None), {"completion_tokens": 500, "max_tokens": 500}, "truncated", "no finish reason, token budget spent"),
    (GOOD, {"completion_tokens": 500, "max_tokens": 500}, "completed", None),
    # provider errors
    (None, {"http_status": None, "error": {"type": "timeout"}}, "provider_error", "transport error"),
    (GOOD, {"error": {"type": "reset"}}, "provider_error", "transport error"),
    (GOOD, {"error": None}, "completed", None),
    ("<html>busy</html>", {"http_status": 503}, "provider_error", "HTTP status 503"),
    (GOOD, {"http_status": 429}, "provider_error", "HTTP status 429"),
    (GOOD, {"http_status": 302}, "provider_error", "HTTP status 302"),
    ("<html>busy</html>", {}, "provider_error", "no JSON object"),
    (GOOD[:-9], {}, "provider_error", "no JSON object"),
    ("", {}, "provider_error", "no JSON object"),
    (None, {}, "provider_error", "no body"),
    (json.dumps({"error": {"code": 502, "message": "x"}}), {}, "provider_error", "error in the body"),
    (json.dumps({**json.loads(GOOD), "error": {"code": 502}}), {}, "provider_error", "error in the body"),
    (json.dumps({**json.loads(GOOD), "error": None}), {}, "completed", None),
    (body("half", finish="error"), {}, "provider_error", "error in the choice"),
    (body("half", choice={"error": {"code": 502}}), {}, "provider_error", "error in the choice"),
    ('{"choices":[]}', {}, "provider_error", "no choices"),
    ("{}", {}, "provider_error", "no choices"),
    # the order holds: a truncation is told before an error
    (body("x", finish="length"), {"http_status": 500}, "truncated", "finish_reason length"),
]


@pytest.mark.parametrize(("response", "columns", "wanted", "reason"), CALLS)
def test_a_call_has_one_ending(response: str | None, columns: Row, wanted: str, reason: str | None) -> None:
    assert ending(response, **columns) == {"ending": wanted, "reason": reason}


@pytest.mark.parametrize(
    ("pin", "answered", "reason"),
    [
        ({"pin_provider": "Alpha"}, {"provider": "alpha"}, None),
        ({"pin_provider": "Alpha"}, {"provider": "Beta"}, "answered by provider Beta, pinned Alpha"),
        ({"pin_provider": "Alpha"}, {"provider": None}, None),
        ({}, {"provider": "Beta"}, None),
        ({"pin_provider": "Alpha", "pin_precision": "bf16"}, {"provider": "Alpha", "precision": "BF16"}, None),
        (
            {"pin_provider": "Alpha", "pin_precision": "bf16"},
            {"provider": "Alpha", "precision": "fp8"},
            "answered in precision fp8, pinned bf16",
        ),
    ],
)
def test_the_pinned_provider_and_precision_must_answer(pin: Row, answered: Row, reason: str | None) -> None:
    assert ending(GOOD, pin, **answered) == {"ending": "provider_error" if reason else "completed", "reason": reason}


def test_a_pin_holds_for_its_own_request_and_however_often_it_was_asked_for() -> None:
    boundary = {"study": "s", "protocol": "modality", "model_id": "m", "thinking": False, "task": "isobench/math_parity", "item_id": "i"}
    asked = {**boundary, "arm": "A", "template": "plain", "replicate": 0, "created_at": "2026-01-01"}
    grid = [
        {**asked, "grid_id": grid, "request_key": key, "pin_provider": pin}
        for grid in ("0001-a", "0002-b")
        for key, pin in (("a", "x"), ("b", "y"))
    ]
    rows = session([call("a", GOOD, provider="x"), call("b", GOOD, provider="x")], grid=grid).rows(
        "SELECT completion_id, ending FROM attrition.ending ORDER BY 1"
    )
    assert rows == [{"completion_id": "a", "ending": "completed"}, {"completion_id": "b", "ending": "provider_error"}]
