"""Qwen3-VL's zoom: boxes from 0 to 1000 on each axis, of any image of the conversation (`img_idx`, from 0).

Facts from Qwen-Agent's `image_zoom_in_qwen3vl.py` and `nous_fncall_prompt.py` and Qwen3-VL's cookbook `think_with_images`: a box with a
side under 32 pixels is grown around its centre, the crop is resized to multiples of 32 with at least 256 * 32² pixels (bicubic), a turn
may hold several calls, and all results come back in one user message, each between `<tool_response>` tags without further words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from generator.tools.crop import Budget, CropTool, Region, Size, clamped, image_number, whole
from generator.tools.interface import Box, Message, Observation, Part, decoding_of

SHORTEST = 32  # pixels, of a crop's shorter side


class Qwen3VL(CropTool):
    """See the module."""

    name = "qwen3_vl"
    frame = "0-1000"
    decoding = decoding_of(name)
    function = "image_zoom_in_tool"
    description = "Zoom in on a region of an image by cropping it."
    parameters: ClassVar = {
        "bbox_2d": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 4,
            "maxItems": 4,
            "description": "The region as [x1, y1, x2, y2], top left corner first, each from 0 to 1000 relative to the image.",
        },
        "label": {"type": "string", "description": "What is in the region."},
        "img_idx": {"type": "number", "description": "Which image to zoom in on, counted from 0 over all images so far."},
    }
    required = ("bbox_2d", "label", "img_idx")
    reminder = "Think within <think> and </think>, zoom in where you need to, and put the final answer within <answer> and </answer>."
    budget = Budget(factor=32, fewest=256 * 32**2, most=12_845_056)

    def source(self, given: Mapping[str, Any], n_shown: int) -> int:
        """`img_idx`, from 0."""
        return image_number(given, "img_idx", 0, n_shown)

    def pixels(self, asked: Region, size: Size) -> Box:
        """Thousandths of the image, clamped to it and grown where a side is short."""
        width, height = size
        x1, y1, x2, y2 = asked
        return whole(grown(clamped((x1 / 1000 * width, y1 / 1000 * height, x2 / 1000 * width, y2 / 1000 * height), size), size))

    def observation_messages(self, observations: Sequence[Observation], turn: int, n_shown: int) -> list[Message]:
        """One user message for all calls of the turn."""
        parts: list[Part] = []
        for observation in observations:
            opening = "<tool_response>\n" if not parts else "\n<tool_response>\n"
            parts += [opening, observation.image or f"Tool Execution Error: {observation.error}", "\n</tool_response>"]
        return [Message("user", tuple(parts))]


def grown(box: Region, size: Size) -> Region:
    """A box with a side under 32 pixels, scaled around its centre until neither is; itself where the image's edge leaves it short."""
    x1, y1, x2, y2 = box
    width, height = x2 - x1, y2 - y1
    if min(width, height) >= SHORTEST:
        return box
    half_width, half_height = (math.ceil(side * SHORTEST / min(width, height) / 2) for side in (width, height))
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    larger = (
        max(0, math.floor(x - half_width)),
        max(0, math.floor(y - half_height)),
        min(size[0], math.ceil(x + half_width)),
        min(size[1], math.ceil(y + half_height)),
    )
    is_enough = min(larger[2] - larger[0], larger[3] - larger[1]) > SHORTEST
    return larger if is_enough else box


INTERFACE = Qwen3VL()
