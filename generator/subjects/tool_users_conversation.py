"""What a tool user is asked: policy, question and options, what was returned so far, and whether an answer has been begun for it.

It knows no more than a model would, except that the synthetic original tells it where the target is and which answer is right. What a
returned image shows is read from its pixels alone.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from PIL import Image

from generator import images, tools
from generator.items.synth.visual_search import seen
from generator.subjects.question import MalformedError, digest, whole
from generator.tools import FORCE_ANSWER, Interface

REMEMBERED = 20_000  # images whose sight is kept: each stands in many requests
_sights: dict[str, str | None] = {}


@dataclass(frozen=True)
class Conversation:
    """One request. `tool` is None under the direct policy. `begun` is the beginning of the answer that is to be continued, if it is."""

    model: str
    tool: Interface | None
    question: str
    options: Mapping[str, str]
    original: str
    returned: tuple[str, ...]
    said: tuple[str, ...]
    begun: str | None
    must_answer: bool
    seed: int | None
    max_tokens: int | None
    body: Mapping[str, Any]

    @property
    def n_calls(self) -> int:
        """Calls made so far."""
        return sum(len(self.tool.calls(text)) for text in self.said) if self.tool else 0

    @cached_property
    def item(self) -> str:
        """A digest of the question and its image: the same in every condition."""
        return digest(self.question, self.original)

    @cached_property
    def identity(self) -> str:
        """A digest of all that may move the reply."""
        return digest(self.item, str(self.tool and self.tool.name), *self.returned, *self.said, str(self.begun), str(self.seed))

    @cached_property
    def truth(self) -> Mapping[str, Any]:
        """What the original says that it shows: `gold`, a letter, and `target_box` in its pixels; nothing where it is no scene of ours."""
        return images.truth(picture(self.original)) or {}

    @cached_property
    def shown(self) -> tuple[str | None, ...]:
        """What each returned image shows of the target; None where nothing."""
        return tuple(sight(url) for url in self.returned)

    def words(self) -> int:
        """How many words of text the prompt holds, roughly: what a tool says is not counted."""
        return sum(len(text.split()) for text in (self.question, *self.said))

    def pictures(self) -> int:
        """How many images the prompt holds."""
        return 1 + len(self.returned)


def read(body: Any) -> Conversation:
    """A chat-completion request about one image; MalformedError where it is none."""
    match body:
        case {"model": str(model), "messages": [{"role": "system", "content": str(system)}, {"role": "user", "content": [*asked]}, *rest]}:
            pass
        case _:
            raise MalformedError("a system text and a user message with an image are needed", "messages")
    urls, texts = _images([{"content": asked}]), _texts([{"content": asked}])
    if len(urls) != 1:
        raise MalformedError("the first user message must hold one image", "messages")
    begun = rest.pop()["content"] if body.get("continue_final_message") else None
    told = [message for message in rest if message.get("role") == "user"]
    return Conversation(
        model=model,
        tool=next((tool for tool in map(tools.interface, tools.NAMES) if tool.system_prompt() == system), None),
        question=" ".join(texts),
        options=dict(re.findall(r"^\(([A-Z])\) (.*)$", "\n".join(texts), re.MULTILINE)),
        original=urls[0],
        returned=tuple(_images(told)),
        said=tuple(str(message["content"]) for message in rest if message.get("role") == "assistant"),
        begun=begun,
        must_answer=FORCE_ANSWER in "".join(_texts(told[-1:])),
        seed=whole(body, "seed"),
        max_tokens=whole(body, "max_tokens"),
        body=body,
    )


def picture(url: str) -> bytes:
    """The bytes in a data URL; MalformedError where there are none."""
    head, _, data = url.partition(",")
    try:
        if not head.startswith("data:image/"):
            raise ValueError
        return base64.b64decode(data, validate=True)
    except (ValueError, binascii.Error):
        raise MalformedError("an image must be a data URL of base64", "messages") from None


def sight(url: str) -> str | None:
    """What an image's pixels show of a scene's target; None where nothing is to be seen of it."""
    key = hashlib.sha256(url.encode()).hexdigest()
    if key not in _sights:
        if len(_sights) >= REMEMBERED:
            _sights.clear()
        with Image.open(io.BytesIO(picture(url)), formats=("PNG", "JPEG")) as image:
            _sights[key] = seen(image.convert("RGB"))
    return _sights[key]


def _parts(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [part for message in messages if isinstance(message["content"], list) for part in message["content"]]


def _texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(part["text"]) for part in _parts(messages) if part.get("type") == "text"]


def _images(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(part["image_url"]["url"]) for part in _parts(messages) if part.get("type") == "image_url"]
