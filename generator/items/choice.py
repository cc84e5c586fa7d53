"""Multiple choice as the public data sets write it: option lines, letters, and the sentence that asks for one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from analysis.errors import DataError

INSTRUCTION = re.compile(r"\s*Answer with the option['\u2019]?s letter from the given choices directly\.?\s*\Z", re.IGNORECASE)
LETTERS = ("A", "B", "C", "D")
OPTION = re.compile(r"\s*[(\uff08]\s*([A-Z])\s*[)\uff09]\s*(.*?)\s*", re.DOTALL)  # full-width brackets occur


def split(text: str) -> tuple[str, list[str]]:
    """A question's own text and its option lines: what a data set asks a model for, in words, is taken off the end."""
    lines = INSTRUCTION.sub("", text).strip().split("\n")
    first = next((place for place, line in enumerate(lines) if OPTION.fullmatch(line)), len(lines))
    return "\n".join(lines[:first]).strip(), lines[first:]


def lettered(lines: Iterable[object], name: str) -> dict[str, str]:
    """Options by letter from lines such as `(A) red`; DataError names `name` where one is no such line or a letter comes twice."""
    options: dict[str, str] = {}
    for line in lines:
        option = OPTION.fullmatch(line) if isinstance(line, str) else None
        if not option or option[1] in options:
            raise DataError(f"{name}: {line!r} is no option like `(A) red` of a letter of its own")
        options[option[1]] = option[2]
    return options


def checked(options: Mapping[str, str], gold: object, name: str) -> str:
    """The gold letter; DataError names `name` where it is not among at least two options."""
    if len(options) < 2:
        raise DataError(f"{name}: there are fewer than two options")
    if not isinstance(gold, str) or gold.strip() not in options:
        raise DataError(f"{name}: the answer {gold!r} is none of the options {', '.join(options)}")
    return gold.strip()
