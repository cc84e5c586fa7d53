"""The wording that models receive, as data, and the one renderer of it (seed paper 000, Appendix C).

One TOML file holds the prompts of one task: `description` and `closing` (by template), each one text for every arm or one text per arm, and
`inputs`, what each arm sends of an item. `{…}` in a description is an input that varies per instance. The files hold the paper's boxes word
for word, with straight quotes and ASCII hyphens.

[decided] The text of the paper that we have sets every line of a box apart. Here a line that ends in a colon is followed at once by what it
introduces, the two statements and the output lines follow each other, and paragraphs are separated by a blank line. Boxes that show only an
assess prompt's closing block take the description of their plain prompt. Changing a word makes another instrument: give PROMPT_SET a new
version and the tests new golden files.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from analysis.errors import DataError
from generator.items import Item

PROMPT_SET = "seed-000-appendix-c/1"


@dataclass(frozen=True)
class Text:
    """A text part of a user message."""

    text: str


@dataclass(frozen=True)
class Image:
    """An image part of a user message, named by the SHA-256 of the bytes that are sent."""

    image_sha256: str


Part = Text | Image


@dataclass(frozen=True)
class Prompt:
    """One rendered exchange: the system message and the parts of the user message, in order."""

    system: str
    parts: tuple[Part, ...]

    @cached_property
    def prompt_sha256(self) -> str:
        """SHA-256 over the rendered system text and text parts: the wording, without the images."""
        texts = [self.system, *(part.text for part in self.parts if isinstance(part, Text))]
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


@dataclass(frozen=True)
class Wording:
    """The prompts of one task: what its TOML file holds."""

    task: str
    source: str
    description: str | Mapping[str, str]
    inputs: Mapping[str, list[str]]
    closing: Mapping[str, str | Mapping[str, str]]
    plain_in_paragraph: bool = False
    scene: Mapping[str, Any] | None = None

    def conditions(self) -> tuple[tuple[str, str], ...]:
        """The pairs (arm, template) that have a prompt, in a fixed order."""
        return tuple(
            (arm, template)
            for arm in self.inputs
            for template, closing in self.closing.items()
            if isinstance(closing, str) or arm in closing
        )

    def system(self, arm: str, template: str) -> str:
        """The system message, its per-instance spans still open."""
        separator = " " if template == "plain" and self.plain_in_paragraph else "\n\n"
        return _for_arm(self.description, arm) + separator + _for_arm(self.closing[template], arm)


def _for_arm(text: str | Mapping[str, str], arm: str) -> str:
    return text if isinstance(text, str) else text[arm]


@cache
def wordings() -> Mapping[str, Wording]:
    """Every task's prompts, by task."""
    files = sorted(Path(__file__).parent.glob("*.toml"))
    return {wording.task: wording for wording in (Wording(**tomllib.loads(file.read_text(encoding="utf-8"))) for file in files)}


def render(task: str, arm: str, template: str, item: Item) -> Prompt:
    """The exchange that puts one item to a model under one condition.

    Raises DataError, naming the item, where it lacks an input that the arm sends. (task, arm, template) is one of the task's conditions.
    """
    wording = wordings()[task]
    try:
        system = wording.system(arm, template).format_map(item.inputs)
        parts = _scene(wording, arm, item) if wording.scene else _raw(wording.inputs[arm], item)
    except KeyError as fault:
        raise DataError(f"item {item.item_id} has no input {fault.args[0]!r}, which arm {arm} sends: make the items again") from None
    return Prompt(system, parts)


def _raw(names: list[str], item: Item) -> tuple[Part, ...]:
    """The item's own inputs, verbatim, one part each."""
    return tuple(Image(item.inputs[name]) if name == "image" else Text(item.inputs[name]) for name in names)


def _scene(wording: Wording, arm: str, item: Item) -> tuple[Part, ...]:
    """The cameras of each set, introduced one by one; then a notice of the withheld ones, the question and its options (Appendix C.5)."""
    scene = wording.scene or {}
    shown = wording.inputs[arm]
    parts: list[Part] = []
    for name in shown:
        for camera in (camera for camera in scene["cameras"] if camera in item.annotation[name]):
            parts += [Text(scene["introduction"].format(set=scene[name], camera=camera)), Image(item.inputs["images"][camera])]
    withheld = [camera for camera in scene["cameras"] if not any(camera in item.annotation[name] for name in shown)]
    notice = [scene["notice"].format(cameras=", ".join(withheld)), ""] if withheld else []
    options = [f"{letter}. {text}" for letter, text in sorted(item.annotation["options"].items())]
    return (*parts, Text("\n".join([*notice, item.inputs["question"], *options])))
