"""Reading calls out of a model's text: JSON objects between tags, outside the think blocks. Nothing is ever evaluated."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from generator.tools.interface import Call, Malformed

_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_OPEN_THOUGHT = re.compile(r"<think>.*", re.DOTALL)


def calls(text: str, tag: str, in_open_thought: bool = False) -> list[Call | Malformed]:
    """What stands between `<tag>` and `</tag>`, in order, each a Call where it is one JSON object and Malformed where not.

    What precedes the last `</think>` without an opening tag is thought too. Text between and after the calls is passed over. A tag that
    is never closed is malformed: the text may have been cut inside a number. `in_open_thought` reads calls in a think block that is never
    closed, for a family whose calls end the turn wherever they stand.
    """
    spoken = _without_thought(text, in_open_thought)
    found: list[Call | Malformed] = []
    for index, opening in enumerate(re.finditer(rf"<{tag}>(.*?)(</{tag}>|(?=<{tag}>)|\Z)", spoken, re.DOTALL)):
        body, start = text[opening.start(1) : opening.end(1)], opening.start()
        if not opening[2]:
            found.append(Malformed(body, f"malformed: the call is not closed by </{tag}>", index, start))
            continue
        try:
            found.append(Call(_object(body), index, start))
        except (ValueError, RecursionError) as fault:
            found.append(Malformed(body, f"malformed: the call is no JSON object ({_first_line(fault)})", index, start))
    return found


def arguments(requested: dict[str, Any]) -> dict[str, Any]:
    """The `arguments` of a call; ValueError where they are no object. A JSON text of an object, as some models write, is one."""
    given = requested.get("arguments")
    if isinstance(given, str):
        given = _object(given)
    if not isinstance(given, dict):
        raise ValueError("`arguments` is no object")
    return given


def _without_thought(text: str, keep_open: bool) -> str:
    """The text with each think block blanked, so that places stay what they are."""
    blanked = _THOUGHT.sub(_blank, text)
    blanked = blanked if keep_open else _OPEN_THOUGHT.sub(_blank, blanked)
    end = blanked.rfind("</think>")  # a block whose opening tag stands in the prompt
    return blanked if end < 0 else " " * end + blanked[end:]


def _blank(block: re.Match[str]) -> str:
    return " " * len(block[0])


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text, parse_float=_finite, parse_constant=str)
    if not isinstance(value, dict):
        raise ValueError(f"it is {type(value).__name__}")
    return value


def _finite(digits: str) -> float | str:
    """A number, or its own text where no finite number is that large: then it can be stored as JSON, and is refused where one is needed."""
    return number if math.isfinite(number := float(digits)) else digits


def _first_line(fault: Exception) -> str:
    return (str(fault).splitlines() or [""])[0][:120] or type(fault).__name__
