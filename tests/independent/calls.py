"""What one call says: its outcome and the fields it carries, by the `strict` rules of the protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]

GENRES = [
    *("Action", "Adventure", "Animation", "Biography", "Comedy", "Crime", "Documentary", "Drama", "Family", "Fantasy", "Film-Noir"),
    *("History", "Horror", "Music", "Musical", "Mystery", "Romance", "Sci-Fi", "Short", "Sport", "Thriller", "War", "Western"),
]
ALONE = {"mmimdb": ("PLOT_ALONE", "POSTER_ALONE"), "isobench": ("TEXT_ALONE", "IMAGE_ALONE"), "goldenview": ("SET_A_ALONE", "SET_B_ALONE")}
WITH = {
    "mmimdb": {"A": "WITH_POSTER", "B": "WITH_PLOT"},
    "isobench": {"A": "WITH_IMAGE", "B": "WITH_TEXT"},
    "goldenview": {"A": "WITH_SET_B", "B": "WITH_SET_A"},
}
BLANKS = " \t\r\n\f\v"


def labels(task: str, arm: str, template: str) -> dict[str, str]:
    """The labels a completion should carry, and the column of arm.answer that each fills."""
    family = task.split("/")[0]
    if template == "plain":
        return {"ANSWER": "answer"}
    if arm == "AB":
        alone_a, alone_b = ALONE[family]
        return {"ANSWER": "answer", alone_a: "alone_a", alone_b: "alone_b"}
    return {"ANSWER": "answer", WITH[family][arm]: "with_other", "SUFFICIENCY": "sufficiency"}


def genre_set(value: Any) -> str | None:
    """A list of genres as the JSON text of its sorted set; None where it is no such list."""
    by_lower = {genre.lower(): genre for genre in GENRES}
    if not isinstance(value, list) or not value or not all(isinstance(name, str) and name.lower() in by_lower for name in value):
        return None
    return json.dumps(sorted({by_lower[name.lower()] for name in value}), separators=(",", ":"))


def canonical(task: str, label: str, raw: str, offered: Sequence[str]) -> str | None:
    """A label's value as text that is equal exactly where two answers are the same; None where it cannot be read."""
    raw = raw.strip(BLANKS)
    raw = raw[:-1].strip(BLANKS) if raw.endswith(".") else raw
    if label == "SUFFICIENCY":
        return raw.upper() if raw.upper() in ("SUFFICIENT", "INSUFFICIENT") else None
    if task == "mmimdb":
        try:
            return genre_set(json.loads(raw))
        except ValueError:
            return None
    if task.endswith("graph_maxflow"):
        return str(int(raw)) if re.fullmatch(r"[+-]?[0-9]+", raw) else None
    if task.endswith("math_parity"):
        return raw.lower() if raw.lower() in ("even", "odd", "neither") else None
    return raw.upper() if raw.upper() in offered else None


def read_label(task: str, label: str, text: str, offered: Sequence[str]) -> str | None:
    """The value on which all lines that start with the label and hold one agree."""
    values = [line[len(label) + 1 :] for line in text.split("\n") if line.startswith(f"{label}:")]
    read = {canonical(task, label, value, offered) for value in values if value.strip(BLANKS)}
    return read.pop() if len(read) == 1 else None


def last_list(text: str) -> str | None:
    """The last bracketed span that is valid JSON: how a plain mmimdb answer is read."""
    for span in reversed(re.findall(r"\[[^\[\]]*\]", text)):
        try:
            return genre_set(json.loads(span))
        except ValueError:
            continue
    return None


def message(response: Any) -> tuple[str, list[str]] | None:
    """A body's content and its reasons to have finished; None where it holds no answer at all."""
    if isinstance(response, str):
        try:
            response = json.loads(response)
        except ValueError:
            return None
    if not isinstance(response, dict) or response.get("error") or not response.get("choices"):
        return None
    choice = response["choices"][0]
    reasons = [str(choice.get(name) or "") for name in ("finish_reason", "stop_reason", "native_finish_reason")]
    return None if choice.get("error") else (choice["message"].get("content") or "", reasons)


def read_call(row: Row, offered: Sequence[str]) -> Row:
    """The call's outcome and every field it should carry (None where lost)."""
    wanted = labels(row["task"], row["arm"], row["template"])
    nothing = dict.fromkeys(wanted.values())
    said = message(row.get("response"))
    if said is None or row.get("error") or (row.get("http_status") or 200) >= 400:
        return {"outcome": "provider_error", **nothing}
    content, (finish, stop, native) = said
    if finish == "repetition" or stop == "repetition_detected":
        return {"outcome": "repetition", **nothing}
    if finish == "length" or native.upper() in ("MAX_TOKENS", "LENGTH") or content.rfind("<think>") > content.rfind("</think>"):
        return {"outcome": "truncated", **nothing}
    text = content.rpartition("</think>")[2]
    if row["task"] == "mmimdb" and row["template"] == "plain":
        fields: Row = {"answer": last_list(text)}
    else:
        fields = {field: read_label(row["task"], label, text, offered) for label, field in wanted.items()}
    lost_answer = fields["answer"] is None
    lost_report = any(value is None for field, value in fields.items() if field != "answer")
    outcome = "unparsed_answer" if lost_answer else "unparsed_report" if lost_report else "usable"
    return {"outcome": outcome, **fields, "lost_answer": lost_answer, "lost_report": lost_report}
