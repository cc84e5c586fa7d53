"""What a visual tool is to a rollout: how it is offered, which calls it reads, what it returns, and what could be returned instead."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from PIL import Image

Frame = Literal["0-1000", "absolute", "0-1"]
Kind = Literal["random_crop", "noise", "blank"]
Part = str | Image.Image
Box = tuple[int, int, int, int]  # x1, y1, x2, y2 in pixels; x2 and y2 are the first column and row outside

_DECODING = tomllib.loads(Path(__file__).with_name("decoding.toml").read_text(encoding="utf-8"))
LIMIT: int = _DECODING["max_calls"]  # tool calls of a rollout, for every model


class ToolError(ValueError):
    """A call that cannot be carried out; the message goes to the model and the rollout goes on. `kind` is a short word for counting."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class Decoding(NamedTuple):
    """How a model samples in both policies (seed 001, Table 7). top_k is -1 where all tokens are kept."""

    temperature: float
    top_p: float
    top_k: int


def decoding_of(family: str) -> Decoding:
    """How a family samples, as decoding.toml says."""
    return Decoding(**_DECODING["families"][family])


@dataclass(frozen=True)
class Message:
    """One message of the conversation: texts and images in order."""

    role: Literal["system", "user"]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Call:
    """A call as the model wrote it. `requested` can be stored as JSON; `index` is its place among the turn's calls, from 0, malformed ones
    included; `start` is where its opening tag stands in the text, in characters.
    """

    requested: dict[str, Any]
    index: int
    start: int


@dataclass(frozen=True)
class Malformed:
    """What stands between a call's tags and is none: its text and the reason, a tool error to tell the model."""

    text: str
    reason: str
    index: int
    start: int


@dataclass(frozen=True)
class Shown:
    """An image of the conversation that later calls may refer to.

    `image` holds the pixels that crops are taken from: RGB, upright, never resized. `place` is what part of the original it is, None for
    what is no part of it (noise, blank).
    """

    image: Image.Image = field(repr=False)
    place: Box | None


@dataclass(frozen=True)
class Observation:
    """What a call returns: an image or a text, or else an error.

    `shown` is what later calls refer to, and `send` makes of its image what is sent. `executed` can be stored as JSON: `bbox_2d` in whole
    pixels of the image that was cropped, `source` its place among the images shown, `source_size` its width and height, `original_bbox_2d`
    the same region in the original's pixels (None where the source is no part of it), and for a random crop `shown_bbox_2d`, the region of
    the original that was shown instead. `source` is None where the call did not get as far as naming one.
    """

    executed: dict[str, Any] | None = None
    shown: Shown | None = None
    error: str | None = None
    source: int | None = None
    text: str | None = None
    send: Callable[[Image.Image], Image.Image] = field(default=lambda image: image, repr=False)

    @property
    def image(self) -> Image.Image | None:
        """What is sent. Made once it is asked for, which nobody does where an intervention takes its place."""
        # Python's own cached_property lets one thread at a time make any of them, up to version 3.11.
        made: dict[str, Image.Image | None] = vars(self)
        if "_image" not in made:
            made["_image"] = self.send(self.shown.image) if self.shown else None
        return made["_image"]


class Interface(Protocol):
    """A tool as one model family was trained to use it.

    Other tools fit here by returning `text`, and by their own `replaced`: text read elsewhere for OCR, another moment for frames.
    """

    @property
    def name(self) -> str:
        """The module's name, as models.toml says it."""

    @property
    def frame(self) -> Frame:
        """The frame of coordinates of the boxes: declared, never guessed."""

    @property
    def decoding(self) -> Decoding:
        """How the family samples."""

    @property
    def stop(self) -> tuple[str, ...]:
        """Strings that end a turn; the server is to keep them in the text (`include_stop_str_in_output`)."""

    def system_prompt(self) -> str:
        """The system message that offers the tool."""

    def first_image(self, original: Image.Image) -> Image.Image:
        """The original as it is sent; the very same object where nothing is to change, so that the stored bytes can be sent."""

    def user_message(self, question: str, options: Mapping[str, str], image: Image.Image) -> Message:
        """The first user message. `image` is what `first_image` gave; options map letters to texts, none where the answer is free."""

    def calls(self, text: str) -> list[Call | Malformed]:
        """The calls of a turn, in order; nothing inside a think block is one. Read by a grammar: nothing in them is evaluated."""

    def execute(self, call: Call | Malformed, shown: Sequence[Shown]) -> Observation:
        """Carry out a call on the images shown so far, the original first. A fault is an observation with `error`, never an exception."""

    def observation_messages(self, observations: Sequence[Observation], turn: int, n_shown: int) -> list[Message]:
        """What the model is told after a turn (from 1) with these observations; n_shown images were shown before them."""

    def replaced(self, observation: Observation, shown: Sequence[Shown], kind: Kind, seed: int) -> Observation:
        """The counterfactual of an observation: the same call with another return. One without an image (an error) stays itself."""
