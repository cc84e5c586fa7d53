"""One body, one text: reasoning is put back inline, and what cannot be read says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sql.calls import Row, body, call, session


def text(response: str | None, **columns: Any) -> Row:
    [row] = session([call("c", response, **columns)]).rows("SELECT * FROM parse.text")
    return row


@pytest.mark.parametrize(
    ("message", "source", "inline", "final"),
    [
        ({"content": "ANSWER: odd"}, None, "ANSWER: odd", "ANSWER: odd"),
        ({"content": "b", "reasoning": "a"}, "reasoning", "<think>a</think>b", "b"),
        ({"content": "b", "reasoning_content": "a"}, "reasoning_content", "<think>a</think>b", "b"),
        ({"content": "b", "reasoning": "a", "reasoning_content": "a"}, "reasoning", "<think>a</think>b", "b"),
        ({"content": "b", "reasoning": "", "reasoning_content": "a"}, "reasoning_content", "<think>a</think>b", "b"),
        ({"content": "b", "reasoning": None}, None, "b", "b"),
        ({"content": "<think>a</think>b"}, None, "<think>a</think>b", "b"),
        ({"content": "a</think>b"}, None, "a</think>b", "b"),
        ({"content": "<think>a</think>b</think>c"}, None, "<think>a</think>b</think>c", "c"),
        ({"content": "b", "reasoning": "a</think>x"}, "reasoning", "<think>a</think>x</think>b", "b"),
        ({"content": None, "reasoning": "a"}, "reasoning", "<think>a</think>", ""),
        ({"content": None}, None, "", ""),
        ({"content": ""}, None, "", ""),
        ({"content": "<think>cut"}, None, "<think>cut", None),
        ({"content": "<think>a</think><think>cut"}, None, "<think>a</think><think>cut", None),
        ({"content": "[1] is no list of parts"}, None, "[1] is no list of parts", "[1] is no list of parts"),
    ],
)
def test_reasoning_is_put_back_inline(message: dict[str, Any], source: str | None, inline: str, final: str | None) -> None:
    row = text(body(**message))
    assert (row["reasoning_source"], row["text"], row["final_text"]) == (source, inline, final)
    assert row["think_open"] == (final is None)


@pytest.mark.parametrize(
    ("parts", "reasoning", "final"),
    [
        ([{"type": "text", "text": "ANSWER: "}, {"type": "text", "text": "odd"}], None, "ANSWER: odd"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "b"}], "hm", "b"),
        ([{"type": "reasoning", "text": "hm"}, {"type": "output_text", "text": "b"}], "hm", "b"),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"type": "text", "text": "m"}]},
                {"type": "text", "text": "b"},
            ],
            "hm",
            "b",
        ),
        ([{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "b"}], None, "b"),
        (["a", {"type": "text", "text": "b"}], None, "ab"),
        ([{"type": "text"}], None, ""),
        ([{"text": "b"}], None, "b"),
        ([7], None, ""),
    ],
)
def test_typed_parts_are_joined_and_thinking_parts_are_reasoning(parts: list[Any], reasoning: str | None, final: str) -> None:
    row = text(body(parts))
    assert (row["reasoning_source"], row["reasoning"] or None, row["final_text"]) == ("content" if reasoning else None, reasoning, final)


def test_finish_reasons_are_kept_as_sent() -> None:
    row = text(body("x", finish="stop", choice={"native_finish_reason": "MAX_TOKENS", "stop_reason": 128009}))
    assert (row["finish_reason"], row["native_finish_reason"], row["stop_reason"]) == ("stop", "MAX_TOKENS", "128009")
    row = text(body("x", finish=None))
    assert (row["finish_reason"], row["native_finish_reason"], row["stop_reason"]) == (None, None, None)


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (None, "no body"),
        ("", "no JSON object"),
        ("<html>busy</html>", "no JSON object"),
        ('{"choices":[{"message":{"content":"cut sho', "no JSON object"),
        ("[]", "no JSON object"),
        ("null", "no JSON object"),
        ("7", "no JSON object"),
        ("{}", "no message"),
        ('{"choices":[]}', "no message"),
        ('{"choices":null}', "no message"),
        ('{"choices":{"message":{"content":"x"}}}', "no message"),
        ('{"choices":[null]}', "no message"),
        ('{"choices":[{"finish_reason":"stop"}]}', "no message"),
        ('{"choices":[{"message":null}]}', "no message"),
        ('{"choices":[{"message":{}}]}', "message"),
        (' \r\n\t{"choices":[{"message":{"content":"x"}}]}', "message"),
        ("[" * 10_000, "no JSON object"),
        ('{"a":' * 10_000, "no JSON object"),
        ('{"choices":' + "[" * 10_000 + "]" * 10_000 + "}", "no message"),
    ],
)
def test_a_body_says_how_far_it_can_be_read(response: str | None, said: str) -> None:
    row = text(response)
    assert row["body"] == said
    assert (row["final_text"] is None) == (said != "message")


def test_a_body_that_is_no_utf8_is_told_apart() -> None:
    reading = session([call("c", None)])
    reading.connection.execute("UPDATE raw.completion SET response_bytes = '\\xff\\xfe'::BLOB")
    assert reading.rows("SELECT body FROM parse.text") == [{"body": "no UTF-8"}]


@pytest.mark.parametrize(
    ("response", "final"),
    [
        (body("a\ud800b ANSWER"), "a\ufffdb ANSWER"),
        (body("a\udc00\ud800b"), "a\ufffd\ufffdb"),
        (body("a\U0001f600b"), "a\U0001f600b"),
        (body("\\ud800 is no escape"), "\\ud800 is no escape"),
        (body("a\x00b"), "a\x00b"),
        (body("x")[:-1] + ', "usage": {"prompt_tokens": 1e400, "total_tokens": 123456789012345678901234567890}}', "x"),
        (body("x")[:-1] + ', "choices": []}', "x"),
    ],
)
def test_odd_json_is_read_all_the_same(response: str, final: str) -> None:
    assert text(response)["final_text"] == final


def test_errors_are_kept() -> None:
    row = text(json.dumps({"error": {"code": 502, "message": "x"}}))
    assert json.loads(row["body_error"]) == {"code": 502, "message": "x"}
    row = text(body("half", choice={"error": {"code": 500}}))
    assert (json.loads(row["choice_error"]), row["body_error"]) == ({"code": 500}, None)
