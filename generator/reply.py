"""What one HTTP exchange with a model brought back, and who says it answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One HTTP exchange: what came back, or what went wrong.

    `body` is what the server sent, undone of its content-encoding only; None where no response began, and what had arrived where it
    was cut short (`error` says so). `error` is None or {"type", "message"}. `identity` is who answers at that address, as it says itself.
    """

    started_at: datetime
    latency_s: float
    http_status: int | None = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, str] | None = None
    identity: Mapping[str, str] = field(default_factory=dict)


def metadata(reply: Reply) -> dict[str, Any]:
    """Who answered and what it cost, as far as the reply or else the endpoint says so: columns of raw.completion, None where neither does.
    Never an estimate.

    Reads the fields of OpenAI, vLLM (`system_fingerprint` = vllm-<version>[-<parallelism>]-<hash>) and OpenRouter (`provider`,
    `usage.cost`).
    """
    body = json_object(reply.body)
    usage = mapping(body.get("usage"))
    engine = re.fullmatch(r"(vllm|vlmaudit)-([^-]+)-.+", name_in(body.get("system_fingerprint")) or "")
    told = {
        "provider": name_in(body.get("provider")) or name_in(mapping(mapping(body.get("error")).get("metadata")).get("provider_name")),
        "served_model": name_in(body.get("model")),
        "precision": name_in(body.get("precision")) or name_in(body.get("quantization")) or name_in(reply.headers.get("x-precision")),
        "engine": engine and engine[1],
        "engine_version": engine and engine[2],
        "generation_id": name_in(body.get("id")),
        "prompt_tokens": count_in(usage.get("prompt_tokens")),
        "completion_tokens": count_in(usage.get("completion_tokens")),
        "reasoning_tokens": count_in(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")),
        "cost_usd": amount_in(usage.get("cost")),
    }
    return {name: reply.identity.get(name) if value is None else value for name, value in told.items()}


@dataclass(frozen=True)
class Spoken:
    """What a model said in one turn: its text with the reasoning put back inline, and whether it was cut short."""

    text: str
    is_cut: bool


def spoken(reply: Reply) -> Spoken | None:
    """What the tool loop needs of a reply, to execute the calls in it and to know whether a turn follows; None where it holds no message.

    In the places and the order in which `parse.text` and `attrition.call` read the same.
    """
    body = json_object(reply.body)
    choices = body.get("choices")
    choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    message = mapping(choice.get("message"))
    if reply.error or not 200 <= (reply.http_status or 0) < 300 or body.get("error") or choice.get("error") or not message:
        return None
    finish = [str(choice.get(name) or "").lower() for name in ("finish_reason", "native_finish_reason", "stop_reason")]
    if finish[0] == "error":
        return None
    content, thoughts = _parts(message.get("content"))
    reasoning = next((text for name in ("reasoning", "reasoning_content") if isinstance(text := message.get(name), str) and text), thoughts)
    text = f"<think>{reasoning}</think>{content}" if reasoning else content
    return Spoken(text, any(re.search(CUT_SHORT, reason) for reason in finish))


def outgrew(reply: Reply) -> bool:
    """Whether a server refused a request because it is longer than the model's context."""
    if reply.http_status not in (400, 413, 422):
        return False
    return re.search(OUTGROWN, (reply.body or b"").decode("utf-8", "replace"), re.IGNORECASE) is not None


CUT_SHORT = r"length|max.*token|token.?limit|context.?window|repetition"
OUTGROWN = r"context.?(length|window|size)|maximum.{0,20}length|max_model_len|too (long|many tokens)"


def _parts(content: Any) -> tuple[str, str]:
    """The text of a message's content, and the thinking in it where it is a list of typed parts."""
    if not isinstance(content, list):
        return (content if isinstance(content, str) else ""), ""
    said: list[str] = []
    thought: list[str] = []
    for part in content:
        kind = str(mapping(part).get("type"))
        text = next((held for name in ("thinking", "reasoning", "text") if isinstance(held := mapping(part).get(name), str)), "")
        (thought if "think" in kind or "reason" in kind else said).append(part if isinstance(part, str) else text)
    return "".join(said), "".join(thought)


def departs(pin_provider: str | None, pin_precision: str | None, answered: Mapping[str, Any]) -> str | None:
    """How a reply's `metadata` departs from the pinned provider and precision, in words; None where it does not or does not say."""
    for what, pinned in (("provider", pin_provider), ("precision", pin_precision)):
        found = answered.get(what)
        if pinned and found and str(found).casefold() != pinned.casefold():
            return f"{what} {found!r} answered where {pinned!r} is pinned"
    return None


def json_object(body: bytes | None) -> dict[str, Any]:
    """A body's JSON object; empty where it is anything else."""
    try:
        # An integer of thousands of digits is legal JSON, but Python refuses to read it; as a float it is out of range, and harmless.
        return mapping(json.loads(body or b"", parse_int=lambda digits: int(digits) if len(digits) < 20 else float("inf")))
    except (ValueError, RecursionError):
        return {}


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def name_in(value: Any) -> str | None:
    """The value where it is a text that can be a name: not empty, nothing unprintable (a lone surrogate, NUL)."""
    return value if isinstance(value, str) and value and value.isprintable() else None


def count_in(value: Any) -> int | None:
    """The value where it is a whole number from 0 on that fits 64 bits."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None


def amount_in(value: Any) -> float | None:
    """The value where it is a finite number from 0 on."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf") else None
