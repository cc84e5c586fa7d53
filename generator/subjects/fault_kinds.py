"""The kinds of fault that a fault server plays: what takes the place of a reply, what is done to its JSON, to its bytes, on its way.

Each stands for something that real providers were seen to do. Those of PASSING are over when the request is asked again, or change the
form of an answer and not the answer.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from typing import Any

Body = dict[str, Any]


def problem(code: int, message: str) -> Body:
    """An error body."""
    return {"error": {"code": code, "message": message}}


REFUSALS: Mapping[str, tuple[int, Body | bytes]] = {
    "html": (200, b"<html>busy</html>"),
    "error_in_200": (200, problem(502, "upstream is gone")),
    "no_choices": (200, {"id": "sim-none", "choices": []}),
    "choice_error": (
        200,
        {"id": "sim-none", "choices": [{"index": 0, "message": None, "error": {"code": 502, "message": "upstream is gone"}}]},
    ),
    "empty": (200, b""),
    "server_error": (500, problem(500, "internal error")),
    "bad_gateway": (502, b"<html><h1>502 Bad Gateway</h1></html>"),
    "overloaded": (529, problem(529, "overloaded")),
    "burst": (503, problem(503, "no capacity")),
    "rate_limit": (429, problem(429, "too many requests")),
    "rate_limit_date": (429, problem(429, "too many requests")),
    "storm": (429, problem(429, "too many requests")),
    "bad_request": (400, problem(400, "the prompt is too long")),
    "unauthorised": (401, problem(401, "no such key")),
    "no_credit": (402, problem(402, "insufficient credits")),
    "forbidden": (403, problem(403, "not permitted")),
}


def message_of(body: Body) -> Body:
    """The message of a reply's one choice."""
    message: Body = body["choices"][0]["message"]
    return message


def typed_parts(body: Body) -> None:
    """The content as a list of typed parts, its reasoning among them."""
    message = message_of(body)
    parts: list[Body] = [{"type": "text", "text": message["content"] or ""}]
    if thought := message.pop("reasoning", None) or message.pop("reasoning_content", None):
        parts.insert(0, {"type": "thinking", "thinking": thought})
    message["content"] = parts


def reasoned(*fields: str) -> Callable[[Body], None]:
    """A trace in these fields of the message, where there is none."""

    def edit(body: Body) -> None:
        message = message_of(body)
        for field in fields:
            message.setdefault(field, message.get("reasoning") or "Perhaps so.\nANSWER: I do not know yet")

    return edit


def native_limit(body: Body) -> None:
    """Cut short, and only the native reason says so."""
    body["choices"][0] |= {"finish_reason": "stop", "native_finish_reason": "MAX_TOKENS"}
    message_of(body)["content"] = "Let me look at"


def only_reasoning(finish_reason: str) -> Callable[[Body], None]:
    """Reasoning and no content."""

    def edit(body: Body) -> None:
        body["choices"][0] |= {
            "finish_reason": finish_reason,
            "message": {"role": "assistant", "content": None, "reasoning": "Let me see."},
        }

    return edit


def prefixed(text: str) -> Callable[[Body], None]:
    """Something odd before the answer."""

    def edit(body: Body) -> None:
        message_of(body)["content"] = f"{text}\n{message_of(body)['content']}"

    return edit


EDITS: Mapping[str, Callable[[Body], Any]] = {
    "typed_parts": typed_parts,
    "reasoning": reasoned("reasoning"),
    "reasoning_content": reasoned("reasoning_content"),
    "both_reasonings": reasoned("reasoning", "reasoning_content"),
    "no_usage": lambda body: body.pop("usage"),
    "no_finish_reason": lambda body: body["choices"][0].update(finish_reason=None),
    "two_choices": lambda body: body["choices"].append(body["choices"][0]),
    "native_limit": native_limit,
    "thought_only": only_reasoning("length"),
    "no_content": only_reasoning("stop"),
    "other_provider": lambda body: body.update(provider="another"),
    "other_precision": lambda body: body.update(precision="int4"),
    "lone_surrogate": prefixed("\ud800"),
    "nul": prefixed("a\0b"),
    "hostile_text": prefixed("\x1b]0;owned\x07\x1b[31m<script>alert(1)</script>\n=1+1"),
    "huge_integer": lambda body: body["usage"].update(prompt_tokens=10**30),
    "huge_float": lambda body: body["usage"].update(cost="1e400"),
}
BYTES: Mapping[str, Callable[[bytes], bytes]] = {
    "huge_float": lambda body: body.replace(b'"1e400"', b"1e400"),
    "not_utf8": lambda body: body.replace(b'"content": "', b'"content": "\xff\xfe'),
    "half": lambda body: body[: len(body) // 2],
    "repeated": lambda body: body + body,
    "gzip": gzip.compress,
}
HEADERS = {"gzip": {"content-encoding": "gzip"}, "html": {"content-type": "text/html"}, "bad_gateway": {"content-type": "text/html"}}
WIRES = ("slow", "hang", "cut_short", "reset")

FAULTS = tuple(dict.fromkeys([*REFUSALS, *EDITS, *BYTES, *WIRES]))
PASSING = (
    *("html", "error_in_200", "no_choices", "choice_error", "empty", "server_error", "bad_gateway", "overloaded", "burst"),
    *("rate_limit", "rate_limit_date", "storm", "half", "repeated", "cut_short", "reset"),
    *("gzip", "typed_parts", "no_usage", "no_finish_reason", "two_choices", "slow"),
)
