"""DeepEyes' zoom: boxes in absolute pixels of the original, which is the only image that can be cropped.

Facts from `eval/eval_vstar.py` and `visual_toolbox_v2.py` of Visual-Agent/DeepEyes: the original is sent as it is, the crop is resized to
multiples of 28 (bicubic), and the result comes back in a user message between `<tool_response>` tags, with the reminder of the first
message repeated after the image.

[decided] Boxes are pixels of the original at any size, as in the released evaluation; on images that the model's own processor scales
down (above 12.8 megapixels) the model's boxes are off by that scale there too. Where the evaluation crops beyond the border, boxes are
clamped as in the released training environment, whose limit on a crop's aspect applies too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from generator.tools.crop import Budget, CropTool, Region, Size, clamped, whole
from generator.tools.interface import Box, Message, Observation, Part, decoding_of

SYSTEM = """You are a helpful assistant.

# Tools
You may call one or more functions to help with the question. Their signatures are given within <tools></tools> tags:
<tools>
%s
</tools>

# How to call a tool
Return a JSON object with the function's name and its arguments within <tool_call></tool_call> tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>

For example:
<tool_call>
{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [10, 20, 100, 200], "label": "the apple on the desk"}}
</tool_call>"""


class DeepEyes(CropTool):
    """See the module."""

    name = "deepeyes"
    frame = "absolute"
    decoding = decoding_of(name)
    function = "image_zoom_in_tool"
    description = "Zoom in on a region of the image by cropping it."
    parameters: ClassVar = {
        "bbox_2d": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 4,
            "maxItems": 4,
            "description": "The region as [x1, y1, x2, y2] in pixels, top left corner first.",
        },
        "label": {"type": "string", "description": "What is in the region (optional)."},
    }
    required = ("bbox_2d",)
    reminder = (
        "Think first, call **image_zoom_in_tool** where you need it, then answer. Keep to this form: "
        "<think>...</think> <tool_call>...</tool_call> (if a tool is needed) <answer>...</answer>"
    )
    budget = Budget(factor=28, fewest=4 * 28**2, most=16384 * 28**2)
    most_aspect = 100

    def system_prompt(self) -> str:
        """The system message that offers the tool."""
        return SYSTEM % self.signature()

    def pixels(self, asked: Region, size: Size) -> Box:
        """Pixels already; clamped to the image."""
        return whole(clamped(asked, size))

    def observation_messages(self, observations: Sequence[Observation], turn: int, n_shown: int) -> list[Message]:
        """One user message for all calls of the turn; an error stands there without tags."""
        parts: list[Part] = []
        for observation in observations:
            if observation.image is None:
                parts.append(f"Error: {observation.error}")
            else:
                parts += ["<tool_response>", observation.image, self.reminder, "</tool_response>"]
        return [Message("user", tuple(parts))]


INTERFACE = DeepEyes()
