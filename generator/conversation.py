"""A conversation as chat messages, each image named `sha256:<digest>`: the form in which it is stored, and from which bodies are made.

A rollout's messages are the opening (system, user), then for each turn what the model said (assistant) and what the tool returned (user).
A later turn's messages begin with those of every earlier turn, so that one stored request holds the whole rollout up to it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image as Picture

from generator.client import encode
from generator.items import Item
from generator.pictures import Pictures
from generator.prompts import Image, Prompt, Text
from generator.tools import DIRECT_SYSTEM, Interface, Message, direct_message

Chat = dict[str, Any]  # one message

DIGEST = "sha256:"
NAMED = re.compile(rb'"url":"sha256:([0-9a-f]{64})"')  # in JSON: no text can hold it, since its quotes would be escaped
_PLACEHOLDER = Picture.new("RGB", (1, 1))  # the words of an opening do not depend on its image


def prompt(arm: str, tool: Interface, item: Item) -> Prompt:
    """How a rollout of an item opens under a policy: seed 001, A.1. Every arm but `direct` is offered the tool."""
    question, options = item.inputs["question"], item.annotation.get("options") or {}
    system = DIRECT_SYSTEM if arm == "direct" else tool.system_prompt()
    asked = direct_message(question, options, _PLACEHOLDER) if arm == "direct" else tool.user_message(question, options, _PLACEHOLDER)
    return Prompt(system, tuple(Text(part) if isinstance(part, str) else Image(item.inputs["image"]) for part in asked.parts))


def opening(asked: Prompt, image_sha256: str) -> list[Chat]:
    """The first two messages, with the item's image as the family sends it."""
    parts = [text_part(part.text) if isinstance(part, Text) else image_part(image_sha256) for part in asked.parts]
    return [{"role": "system", "content": asked.system}, {"role": "user", "content": parts}]


def chat(message: Message, digest: Callable[[Picture.Image], str]) -> Chat:
    """A message of a tool; `digest` gives the name of an image that was kept."""
    parts = [text_part(part) if isinstance(part, str) else image_part(digest(part)) for part in message.parts]
    return {"role": message.role, "content": parts}


def text_part(text: str) -> Chat:
    """A text in a message."""
    return {"type": "text", "text": text}


def image_part(image_sha256: str) -> Chat:
    """An image in a message."""
    return {"type": "image_url", "image_url": {"url": DIGEST + image_sha256}}


def sent(stored: Mapping[str, Any], pictures: Pictures) -> bytes:
    """The body of a stored request as JSON, with its images in it. DataError where one is missing."""
    # Put in as bytes: to copy megabytes through a JSON encoder at each turn would take longer than all else that a turn needs.
    return NAMED.sub(lambda image: b'"url":"%s"' % pictures.url(image[1].decode()), encode(stored))


def images(messages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    """The `image_url` objects of messages, in order."""
    for message in messages:
        if not isinstance(message["content"], str):
            yield from (part["image_url"] for part in message["content"] if part["type"] == "image_url")


def with_image(messages: Sequence[Chat], place: int, image_sha256: str) -> list[Chat]:
    """The messages with another image in the place of one, counted from 0."""
    changed = copy.deepcopy(list(messages))
    list(images(changed))[place]["url"] = DIGEST + image_sha256
    return changed


@dataclass(frozen=True)
class Exchange:
    """One turn that was answered by observations: the messages before it, what the model said, what it was told."""

    before: tuple[Chat, ...]
    said: str
    told: tuple[Chat, ...]


def exchanges(messages: Sequence[Chat]) -> list[Exchange]:
    """The turns of a conversation whose observations are in it, in order."""
    places = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    ends = [*places[1:], len(messages)]
    return [
        Exchange(tuple(messages[:place]), messages[place]["content"], tuple(messages[place + 1 : end]))
        for place, end in zip(places, ends, strict=False)
    ]
