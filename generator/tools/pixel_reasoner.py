"""Pixel Reasoner's crop: boxes as fractions of the image's width and height, of any image of the conversation (`target_image`, from 1).

Facts from `openrlhf/trainer/ppo_utils/experience_maker.py` of TIGER-AI-Lab/Pixel-Reasoner: the box is padded by a tenth of the image's
width and height on every side and clamped, both sides of the crop must be over 28 pixels, it is resized to multiples of 28 with 256 * 28²
to 5120 * 28² pixels (bicubic), and comes back in a user message that tells its size. The final answer stands in `\\boxed{}`.

[decided] The frame is 0 to 1, always: the release reads a box with a number of 1 or more as pixels. `select_frames`, for videos, is not
offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from PIL import Image

from generator.tools.crop import Budget, CropTool, Region, Size, clamped, image_number, resized, whole
from generator.tools.interface import Box, Message, Observation, Part, ToolError, decoding_of

PADDING = 0.1  # of the image's width and height, on every side
SHORTEST = 28  # pixels: both sides of a crop must be longer


class PixelReasoner(CropTool):
    """See the module."""

    name = "pixel_reasoner"
    frame = "0-1"
    decoding = decoding_of(name)
    function = "crop_image_normalized"
    description = "Zoom in on an image by cropping a region of it."
    parameters: ClassVar = {
        "bbox_2d": {
            "type": "array",
            "items": {"type": "number"},
            "description": "The region as [x1, y1, x2, y2], top left corner first, each within [0.0,1.0] of the image.",
        },
        "target_image": {"type": "number", "description": "Which image to crop, counted from 1; 1 is the original image."},
    }
    required = ("bbox_2d", "target_image")
    reminder = (
        "Look at the image before you answer. Where details matter, use the tool to look closer; where they do not, answer at once. "
        "Reason step by step and put the final answer within \\boxed{}."
    )
    budget = Budget(factor=28, fewest=256 * 28**2, most=5120 * 28**2)

    def first_image(self, original: Image.Image) -> Image.Image:
        """The original within the same budget as its crops."""
        return resized(original, self.budget.fitted(original.size), self.resampling)

    def source(self, given: Mapping[str, Any], n_shown: int) -> int:
        """`target_image`, from 1."""
        return image_number(given, "target_image", 1, n_shown)

    def pixels(self, asked: Region, size: Size) -> Box:
        """Fractions of the image, padded and clamped."""
        width, height = size
        clamped((asked[0] * width, asked[1] * height, asked[2] * width, asked[3] * height), size)  # outside stays outside, padding or not
        x1, y1, x2, y2 = asked[0] - PADDING, asked[1] - PADDING, asked[2] + PADDING, asked[3] + PADDING
        box = whole(clamped((x1 * width, y1 * height, x2 * width, y2 * height), size))
        if min(box[2] - box[0], box[3] - box[1]) <= SHORTEST:
            raise ToolError("too_small", f"both sides of the crop must be longer than {SHORTEST} pixels")
        return box

    def observation_messages(self, observations: Sequence[Observation], turn: int, n_shown: int) -> list[Message]:
        """One user message for all calls of the turn."""
        parts: list[Part] = []
        for observation in observations:
            if (image := observation.image) is None:
                parts.append(f"\nExecution error:\n{observation.error}\n")
            else:
                parts += [f"\nHere is the cropped image (Image Size: {image.width}x{image.height}):", image]
        return [Message("user", tuple(parts))]


INTERFACE = PixelReasoner()
