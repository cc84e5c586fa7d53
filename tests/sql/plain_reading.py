"""How a body ends and what `strict` reads in it, in plain Python from the protocol: the oracle that the views are held against."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

BLANKS = " \t\n\r\v\f"
GENRES = [
    *("Action", "Adventure", "Animation", "Biography", "Comedy", "Crime", "Documentary", "Drama", "Family", "Fantasy", "Film-Noir"),
    *("History", "Horror", "Music", "Musical", "Mystery", "Romance", "Sci-Fi", "Short", "Sport", "Thriller", "War", "Western"),
]
SPELLED = {genre.lower(): genre for genre in GENRES}
WORDS = {"isobench/math_parity": ("even", "odd", "neither"), "goldenview": ("A", "B", "C", "D"), "flag": ("SUFFICIENT", "INSUFFICIENT")}
OTHERS = {
    ("mmimdb", "AB"): ("PLOT_ALONE", "POSTER_ALONE"),
    ("mmimdb", "A"): ("WITH_POSTER", "SUFFICIENCY"),
    ("mmimdb", "B"): ("WITH_PLOT", "SUFFICIENCY"),
    ("isobench", "AB"): ("TEXT_ALONE", "IMAGE_ALONE"),
    ("isobench", "A"): ("WITH_IMAGE", "SUFFICIENCY"),
    ("isobench", "B"): ("WITH_TEXT", "SUFFICIENCY"),
    ("goldenview", "AB"): ("SET_A_ALONE", "SET_B_ALONE"),
    ("goldenview", "A"): ("WITH_SET_B", "SUFFICIENCY"),
    ("goldenview", "B"): ("WITH_SET_A", "SUFFICIENCY"),
}

Read = tuple[str | None, str | None]  # value, or the reason why there is none


def first_of_equal_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found.setdefault(key, value)
    return found


def strict_json(text: str) -> Any:
    """ValueError for NaN and its like, too."""

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def ending(response: str | None, http_status: int | None, error: Any) -> tuple[str, str | None]:
    """How the call ended, and its final text where it was completed."""
    try:
        said = json.loads(response or "", object_pairs_hook=first_of_equal_keys)
    except (ValueError, RecursionError):
        said = None
    choices = said.get("choices") if isinstance(said, dict) else None
    choice: dict[str, Any] = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message: dict[str, Any] = choice["message"] if isinstance(choice.get("message"), dict) else {}
    content, reasoning = message.get("content") or "", message.get("reasoning") or message.get("reasoning_content") or ""
    text = f"<think>{reasoning}</think>{content}" if reasoning else content
    finish, native = str(choice.get("finish_reason") or "").lower(), str(choice.get("native_finish_reason") or "").lower()
    if "repetition" in (finish, native) or choice.get("stop_reason") == "repetition_detected":
        return "repetition", None
    if any(re.search("length|max.*token", word) for word in (finish, native)) or text.rfind("<think>") > text.rfind("</think>"):
        return "truncated", None
    faulty = error is not None or not 200 <= (http_status or 200) <= 299 or not isinstance(said, dict) or said.get("error") is not None
    if faulty or choice.get("error") is not None or finish == "error" or "message" not in choice:
        return "provider_error", None
    return "completed", text.rpartition("</think>")[2].replace("\ud800", "\ufffd")


def genres(raw: str) -> Read:
    try:
        value = strict_json(raw)
    except ValueError:
        return None, "malformed"
    if value == []:
        return None, "empty"
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return None, "malformed"
    if not all(name.lower() in SPELLED for name in value):
        return None, "out_of_range"
    return json.dumps(sorted({SPELLED[name.lower()] for name in value}), separators=(",", ":")), None


def value(task: str, label: str, raw: str) -> Read:
    if label == "SUFFICIENCY":
        task = "flag"
    if task == "mmimdb":
        return genres(raw)
    if task == "isobench/graph_maxflow":
        return (str(int(raw)), None) if re.fullmatch("[+-]?[0-9]+", raw) else (None, "malformed")
    for word in WORDS[task]:
        if raw.isascii() and raw.lower() == word.lower():
            return word, None
    return None, "out_of_range" if re.fullmatch("[A-Za-z]+", raw) else "malformed"


def field(task: str, label: str, text: str) -> Read:
    lines = [line[len(label) + 1 :].strip(BLANKS) for line in text.split("\n") if line.startswith(label + ":")]
    values = [kept for line in lines if (kept := line.removesuffix(".").strip(BLANKS))]
    if not values:
        return None, "empty" if lines else "missing"
    meanings = {value(task, label, raw)[0] or f" {raw}" for raw in values}
    return value(task, label, values[0]) if len(meanings) == 1 else (None, "duplicate_label")


def bare_array(text: str) -> Read:
    for span in reversed(re.findall(r"\[[^\[\]]*\]", text)):
        try:
            strict_json(span)
        except ValueError:
            continue
        return genres(span)
    return None, "missing"


def fields(task: str, arm: str, template: str, text: str) -> Iterator[tuple[str, Read]]:
    """Every label the prompt asks for, and what is read of it."""
    if template == "plain":
        yield "ANSWER", bare_array(text) if task == "mmimdb" else field(task, "ANSWER", text)
        return
    for label in ("ANSWER", *OTHERS[task.split("/")[0], arm]):
        yield label, field(task, label, text)
