"""What a request asks a simulated subject: task, arm and labels from the system prompt's words, inputs from the user message.

A subject gets nothing else, so it knows no more than a model would, except that a synthetic picture tells it what it shows.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from generator import images
from generator.subjects.answers import GOLDENVIEW, MAXFLOW, MMIMDB, PARITY, solve

# How each task's description names what it supplies (Appendix C.3 to C.5), and which arm that is.
OPENINGS = {
    MMIMDB: r"You are a movie genre classifier\. Given a movie's ([a-z ]+), predict",
    PARITY: r"You are given the ([\w ]+) of a single-variable function",
    MAXFLOW: r"You are given the ([a-z ]+) of a directed graph",
    GOLDENVIEW: r"Answer the driving-scene multiple-choice question()",
}
ARMS = {
    "plot summary and poster image": "AB",
    "plot summary": "A",
    "poster image": "B",
    "title": "title",
    "LaTeX definition and plot": "AB",
    "LaTeX definition": "A",
    "plot": "B",
    "adjacency matrix and drawing": "AB",
    "adjacency matrix": "A",
    "drawing": "B",
}


class MalformedError(ValueError):
    """A request that no server of this interface would take: what is wrong, and with which field."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Question:
    """One request, as far as a subject needs it. `shown` maps each arm's letter (`title` too) to what was supplied of it: texts, images."""

    task: str
    arm: str
    labels: tuple[str, ...]
    system: str
    shown: Mapping[str, tuple[str | bytes, ...]]
    model: str
    thinking: bool
    detector: bool
    seed: int | None
    max_tokens: int | None

    @property
    def template(self) -> str:
        """`plain` asks for the answer alone, `assess` for a self-report beside it."""
        return "assess" if len(self.labels) > 1 else "plain"

    def lines(self, values: Sequence[str]) -> str:
        """The final lines as the prompt asks for them: `LABEL: value`, or the bare list of a plain genre prompt."""
        return "\n".join(f"{label}: {value}" for label, value in zip(self.labels, values, strict=True)) if self.labels else values[0]

    @cached_property
    def contents(self) -> Mapping[str, str]:
        """A digest of what was supplied, by arm letter: the same input has the same one in every condition."""
        return {letter: digest(*parts) for letter, parts in self.shown.items()}

    @cached_property
    def identity(self) -> str:
        """A digest of all that may move the reply."""
        return digest(self.system, json.dumps([self.contents, self.model, self.thinking, self.seed]))

    def truth(self) -> str | None:
        """The right answer, as far as the inputs say: solved from the text, else told by a synthetic picture."""
        for letter in sorted(self.shown):
            for part in self.shown[letter]:
                found = solve(self.task, part, self.terminals) if isinstance(part, str) else told(self.task, part)
                if found is not None:
                    return found
        return None

    @property
    def terminals(self) -> tuple[int, int] | None:
        """Source and sink, where the prompt names them."""
        named = re.search(r"maximum flow from node (\d+) to node (\d+)", self.system)
        return (int(named[1]), int(named[2])) if named else None

    def words(self) -> int:
        """How many words of text the prompt holds."""
        texts = [self.system, *(part for parts in self.shown.values() for part in parts if isinstance(part, str))]
        return sum(len(text.split()) for text in texts)

    def pictures(self) -> int:
        """How many images the prompt holds."""
        return sum(isinstance(part, bytes) for parts in self.shown.values() for part in parts)


def digest(*parts: str | bytes) -> str:
    """32 hexadecimal digits over the parts and their order."""
    each = [hashlib.sha256(part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")).digest() for part in parts]
    return hashlib.sha256(b"".join(each)).hexdigest()[:32]


def told(task: str, picture: bytes) -> str | None:
    """The answer that a synthetic picture says it shows."""
    said = images.truth(picture) or {}
    if said.get("task") != task or "gold" not in said:
        return None
    return json.dumps(sorted(said["gold"])) if isinstance(said["gold"], list) else str(said["gold"])


def read(body: Any) -> Question:
    """A chat-completion request; MalformedError where it is none, or asks something other than Appendix C's prompts."""
    if not isinstance(body, dict):
        raise MalformedError("the body is no JSON object")
    if not isinstance(body.get("model"), str):
        raise MalformedError("model is missing", "model")
    if body.get("stream"):
        raise MalformedError("this server does not stream", "stream")
    system, parts = messages(body.get("messages"))
    task, supplied = opening(system)
    shown = sets(parts) if task == GOLDENVIEW else inputs(ARMS.get(supplied, ""), parts)
    return Question(
        task=task,
        arm="".join(sorted(shown)) if task == GOLDENVIEW else ARMS.get(supplied, ""),
        labels=tuple(re.findall(r"^([A-Z_]+): ", system, re.MULTILINE)),
        system=system,
        shown=shown,
        model=body["model"],
        thinking=switch(body, "chat_template_kwargs", "enable_thinking") or switch(body, "reasoning", "enabled"),
        detector=bool(body.get("repetition_detection")),
        seed=whole(body, "seed"),
        max_tokens=whole(body, "max_tokens"),
    )


def messages(given: Any) -> tuple[str, list[str | bytes]]:
    """The system text, and the user message's parts in order: texts, and images as bytes."""
    match given:
        case [{"role": "system", "content": str(system)}, {"role": "user", "content": str(text)}]:
            return system, [text]
        case [{"role": "system", "content": str(system)}, {"role": "user", "content": [*parts]}]:
            return system, [part_of(part) for part in parts]
    raise MalformedError("messages must be a system text and a user message of text and image_url parts", "messages")


def part_of(part: Any) -> str | bytes:
    """One part of a user message."""
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return picture_in(url)
    raise MalformedError("a part of the user message is neither a text nor an image_url", "messages")


def picture_in(url: str) -> bytes:
    """The bytes of a data URL."""
    head, _, data = url.partition(",")
    if not re.fullmatch(r"data:image/\w+;base64", head):
        raise MalformedError("an image must be a data URL (data:image/png;base64,...)", "messages")
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        raise MalformedError("an image is no valid base64", "messages") from None


def opening(system: str) -> tuple[str, str]:
    """The task, and the words by which its description names the inputs supplied."""
    straight = system.replace("\u2019", "'")
    for task, pattern in OPENINGS.items():
        if found := re.match(pattern, straight):
            return task, found[1]
    raise MalformedError("a simulated subject knows the prompts of seed paper 000, Appendix C, and no others", "messages")


def inputs(arm: str, parts: list[str | bytes]) -> dict[str, tuple[str | bytes, ...]]:
    """The parts by arm letter: A is the text, B the image."""
    texts = tuple(part for part in parts if isinstance(part, str))
    pictures = tuple(part for part in parts if isinstance(part, bytes))
    found: dict[str, tuple[str | bytes, ...]] = {
        letter: held for letter, held in (("title" if arm == "title" else "A", texts), ("B", pictures)) if held
    }
    if "".join(sorted(found)) != arm:
        raise MalformedError(f"the user message does not hold what the system prompt names (arm {arm or '?'})", "messages")
    return found


def sets(parts: list[str | bytes]) -> dict[str, tuple[str | bytes, ...]]:
    """A driving scene's images by the set that their introductions name, the question with each (Appendix C.5)."""
    found: dict[str, list[str | bytes]] = {}
    for before, part in zip(parts, parts[1:], strict=False):
        named = re.match(r"Set ([AB])\b", before) if isinstance(before, str) else None
        if isinstance(part, bytes) and named:
            found.setdefault(named[1], []).append(part)
    last = parts[-1] if parts else ""
    if not found or not isinstance(last, str):
        raise MalformedError("a driving scene needs introduced images, and a question at the end", "messages")
    asked = re.sub(r"\AWithheld cameras:.*\n+", "", last)
    return {letter: (*held, asked) for letter, held in found.items()}


def switch(body: dict[str, Any], group: str, name: str) -> bool:
    """Whether a nested field is true."""
    held = body.get(group)
    return isinstance(held, dict) and held.get(name) is True


def whole(body: dict[str, Any], name: str) -> int | None:
    """An optional integer field."""
    value = body.get(name)
    if value is not None and type(value) is not int:
        raise MalformedError(f"{name} must be an integer", name)
    return value
