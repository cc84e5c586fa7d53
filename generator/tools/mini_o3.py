"""Mini-o3's grounding: boxes as fractions of the image's width and height, of the original or of an earlier observation.

Facts from `verl/trainer/constants.py` and `function_tools.py` of Mini-o3/Mini-o3: a call is JSON between `<grounding>` tags with the keys
`bbox_2d` and `source` (`original_image`, `observation_1`, ...); the closing tag ends the turn and is kept. Corners are cut to whole pixels
and to the last column and row. What is sent, the original too, has 40,000 to 2,000,000 pixels and no side under 28; crops are taken from
the image before it was resized, and resized by nearest neighbour, the original by Lanczos.

[decided] `observation_<i>` is the i-th image returned, which is also what the observation's turn calls it: after a call that failed the
two counts of the release (of turns, of images) part, and a name must say which image it means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

from generator.tools import grammar
from generator.tools.crop import CropTool, Region, Size, clamped, resized
from generator.tools.interface import Box, Call, Malformed, Message, Observation, Part, ToolError, decoding_of

FEWEST, MOST = 40_000, 2_000_000  # pixels of an image that is sent
SHORTEST = 28  # pixels, of its shorter side
ORIGINAL = "original_image"

SYSTEM = (
    "You are a helpful assistant. Answer the question from the image. Think within <think> and </think>. Where something is unclear, zoom "
    'in on a region of an image with <grounding>{"bbox_2d": [x0, y0, x1, y1], "source": "original_image"}</grounding>: (x0, y0) is the '
    "top left and (x1, y1) the bottom right corner of the region, with the image's width and height taken as 1.0; `source` is the image to "
    "zoom in on, either 'original_image' or 'observation_i'. Once the final answer is confirmed, put it within <answer> and </answer>."
)
GO_ON = (
    "Continue to think within <think> and </think>. If needed, zoom in again on the original image or on any observation with <grounding> "
    "and </grounding> as before. If the final answer is confirmed, put it within <answer> and </answer>."
)


class MiniO3(CropTool):
    """See the module."""

    name = "mini_o3"
    frame = "0-1"
    decoding = decoding_of(name)
    stop = ("</grounding>",)
    tag = "grounding"
    reminder = "Think step by step, and put the final answer within <answer> and </answer>."
    function = None
    resampling = Image.Resampling.NEAREST

    def system_prompt(self) -> str:
        """The system message that offers the tool."""
        return SYSTEM

    def first_image(self, original: Image.Image) -> Image.Image:
        """The original within the budget of pixels."""
        return resized(original, fitted(original.size), Image.Resampling.LANCZOS)

    def calls(self, text: str) -> list[Call | Malformed]:
        """The calls of a turn: the closing tag ends it even where the think block is still open."""
        return grammar.calls(text, self.tag, in_open_thought=True)

    def arguments(self, requested: dict[str, Any]) -> dict[str, Any]:
        """The call itself: it names no tool."""
        return requested

    def source(self, given: Mapping[str, Any], n_shown: int) -> int:
        """`original_image` is the first; `observation_<i>` the i-th after it."""
        named = given.get("source")
        if named == ORIGINAL:
            return 0
        number = re.fullmatch(r"observation_([0-9]{1,9})", named) if isinstance(named, str) else None
        if not number or not 0 <= int(number[1]) < n_shown:
            others = f" or observation_1 to observation_{n_shown - 1}" if n_shown > 1 else ""
            raise ToolError("no_image", f"`source` must be {ORIGINAL}{others}")
        return int(number[1])

    def pixels(self, asked: Region, size: Size) -> Box:
        """Fractions of the image, cut to whole pixels up to the last column and row."""
        width, height = size
        x1, y1, x2, y2 = clamped((asked[0] * width, asked[1] * height, asked[2] * width, asked[3] * height), size)
        box = min(int(x1), width - 1), min(int(y1), height - 1), min(int(x2), width - 1), min(int(y2), height - 1)
        if box[0] >= box[2] or box[1] >= box[3]:
            raise ToolError("zero_area", "bbox_2d is smaller than a pixel")
        return box

    def sent_size(self, size: Size) -> Size:
        """Within the budget of pixels."""
        return fitted(size)

    def observation_messages(self, observations: Sequence[Observation], turn: int, n_shown: int) -> list[Message]:
        """One user message: each image under its number, or what went wrong, then how to go on."""
        parts: list[Part] = []
        for observation in observations:
            if observation.image is None:
                parts.append(f"An ERROR occurred during grounding. Error information: {observation.error}.\n")
            else:
                parts += [f"After the above Action {turn - 1}, here is the zoomed-in image (Observation {n_shown}):\n", observation.image]
                n_shown += 1
        return [Message("user", (*parts, f"\n{GO_ON}"))]


def fitted(size: Size) -> Size:
    """The size within the budget, aspect kept; a side under 28 is raised to it."""
    pixels = math.prod(size)
    scale = math.sqrt(min(max(pixels, FEWEST), MOST) / pixels)
    width, height = (max(SHORTEST, int(side * scale)) if scale != 1 else max(SHORTEST, side) for side in size)
    return width, height


INTERFACE = MiniO3()
