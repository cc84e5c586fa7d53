"""Crop-and-zoom tools, one module per model family: how calls are written, in which frame of coordinates, and what is returned.

A module follows the released pipeline of its family in what a model is trained on: names and schemas of calls, the frame of the box, which
images a call may refer to, how a crop is made and resized, who speaks in the observation's turn (FORMATS, section 8, has the facts with
their sources). The sentences around them are this project's own [decided].

A rollout uses them so:

    tool = tools.interface("qwen3_vl")
    shown = [tools.original(image)]
    ... for call in tool.calls(text): observation = tool.execute(call, shown)
    ... under an intervention: observation = tool.replaced(observation, shown, "noise", seed)
    ... tool.observation_messages(observations, turn, len(shown)); then shown += [o.shown for o in observations if o.shown]
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from PIL import Image

from analysis.errors import UsageError
from generator import images
from generator.tools import deepeyes, mini_o3, pixel_reasoner, qwen3_vl
from generator.tools.crop import question_text
from generator.tools.interface import (
    LIMIT,
    Call,
    Decoding,
    Frame,
    Interface,
    Kind,
    Malformed,
    Message,
    Observation,
    Part,
    Shown,
    ToolError,
)

__all__ = [
    "DIRECT_SYSTEM", "FORCE_ANSWER", "LIMIT", "NAMES", "PROMPT_SET", "Call", "Decoding", "Frame", "Interface", "Kind", "Malformed",
    "Message", "Observation", "Part", "Shown", "ToolError", "direct_message", "encoded", "interface", "original",
]  # fmt: skip

PROMPT_SET = "tool-use/1"  # the version of the words in this folder

# [decided] The paper's tool-free instruction is lost from the text that we have.
DIRECT_SYSTEM = (
    "You are a helpful assistant. Answer the question from the image. Reason step by step within <think> and </think>, then put the final "
    "answer within <answer> and </answer>. No tools are available."
)
FORCE_ANSWER = "No more tools are allowed. Give your final answer now, within <answer> and </answer>."

_INTERFACES: dict[str, Interface] = {
    tool.name: tool for tool in (qwen3_vl.INTERFACE, deepeyes.INTERFACE, mini_o3.INTERFACE, pixel_reasoner.INTERFACE)
}
NAMES = tuple(_INTERFACES)


def original(image: Image.Image) -> Shown:
    """The first image of a conversation, upright RGB as it is stored."""
    return Shown(image, (0, 0, *image.size))


def interface(name: str) -> Interface:
    """The interface that models.toml names; UsageError where there is none."""
    if name not in _INTERFACES:
        raise UsageError(f"there is no tool interface {name!r}: there are {', '.join(NAMES)}")
    return _INTERFACES[name]


def encoded(image: Image.Image, encode: Callable[[Image.Image, dict[str, Any] | None], bytes] = images.quick_png) -> bytes:
    """An image as the PNG that is sent. A synthetic original keeps what it says that it shows, also resized; crops say nothing."""
    said = image.info.get(images.TRUTH)
    return encode(image, json.loads(said) if isinstance(said, str) else None)


def direct_message(question: str, options: Mapping[str, str], image: Image.Image) -> Message:
    """The user message of the direct policy, without a word about tools; `image` is what the family's `first_image` gave."""
    return Message("user", (image, question_text(question, options)))
