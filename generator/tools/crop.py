"""What the crop-and-zoom tools share: reading a box, turning it into whole pixels, cropping, resizing, and replacing what is returned."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from PIL import Image

from generator.tools import counterfactual, grammar
from generator.tools.interface import Box, Call, Decoding, Frame, Kind, Malformed, Message, Observation, Shown, ToolError

Size = tuple[int, int]  # width and height in pixels
Region = tuple[float, float, float, float]  # x1, y1, x2, y2, in whichever frame

CORNERS = ("x1", "y1", "x2", "y2")
SYSTEM = """You are a helpful assistant.

# Tools

You may call one or more functions to help with the question. Their signatures are given within <tools></tools> tags:
<tools>
%s
</tools>

For each call return a JSON object with the function's name and its arguments within <tool_call></tool_call> tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>"""


class Budget(NamedTuple):
    """How a family's own code resizes what it sends: sides in multiples of `factor`, and as many pixels as lie between the two bounds."""

    factor: int
    fewest: int
    most: int

    def fitted(self, size: Size) -> Size:
        """The nearest size within the budget, aspect kept as far as whole multiples allow."""
        width, height = (max(self.factor, round(side / self.factor) * self.factor) for side in size)
        if self.fewest <= width * height <= self.most:
            return width, height
        too_many = width * height > self.most
        scale = math.sqrt((self.most if too_many else self.fewest) / math.prod(size))
        whole = math.floor if too_many else math.ceil
        width, height = (max(self.factor, whole(side * scale / self.factor) * self.factor) for side in size)
        return width, height


class CropTool:
    """A crop-and-zoom tool. A subclass declares its names, its words, its frame and its budget, and says how it differs."""

    name: ClassVar[str]
    frame: ClassVar[Frame]
    decoding: ClassVar[Decoding]
    stop: ClassVar[tuple[str, ...]] = ()
    tag: ClassVar[str] = "tool_call"
    function: ClassVar[str | None]  # the only tool that is offered; None where a call names none
    description: ClassVar[str]  # of that tool
    parameters: ClassVar[Mapping[str, Mapping[str, object]]]  # its arguments, each as JSON Schema says it
    required: ClassVar[Sequence[str]]  # those that a call must have
    reminder: ClassVar[str]  # how to answer, at the end of the first user message
    budget: ClassVar[Budget]
    resampling: ClassVar[Image.Resampling] = Image.Resampling.BICUBIC
    most_aspect: ClassVar[float] = 200  # the longer side over the shorter: beyond it the families' image processors refuse a picture

    def system_prompt(self) -> str:
        """The system message that offers the tool, in the form that the families of Qwen were trained on."""
        return SYSTEM % self.signature()

    def signature(self) -> str:
        """The tool as JSON Schema."""
        properties = {"type": "object", "properties": self.parameters, "required": self.required}
        function = {"name": self.function, "description": self.description, "parameters": properties}
        return json.dumps({"type": "function", "function": function})

    def first_image(self, original: Image.Image) -> Image.Image:
        """The original itself: the server's own processor resizes it."""
        return original

    def user_message(self, question: str, options: Mapping[str, str], image: Image.Image) -> Message:
        """The image, then the question with its options and what the family is reminded of."""
        return Message("user", (image, f"{question_text(question, options)}\n\n{self.reminder}"))

    def calls(self, text: str) -> list[Call | Malformed]:
        """The calls of a turn, in order."""
        return grammar.calls(text, self.tag)

    def execute(self, call: Call | Malformed, shown: Sequence[Shown]) -> Observation:
        """Crop what a call asks for; `error` says why where that cannot be done."""
        if isinstance(call, Malformed):
            return Observation(error=call.reason)
        source = None
        try:
            given = self.arguments(call.requested)
            source = self.source(given, len(shown))
            box = self.pixels(region(given.get("bbox_2d")), shown[source].image.size)
            return self._returned(box, source, shown)
        except ToolError as fault:
            return Observation(error=str(fault), source=source)

    def replaced(self, observation: Observation, shown: Sequence[Shown], kind: Kind, seed: int) -> Observation:
        """The counterfactual of a crop (seed 001, A.3). A random crop has the crop's width and height, lies anywhere in the original
        [decided: the paper's input image I, whichever image was cropped], and is resized as every crop; noise and blank have the
        size of the image that was sent.
        """
        if observation.shown is None or observation.executed is None:
            return observation
        crop = observation.shown.image
        if kind == "random_crop":
            image = shown[0].image
            box = counterfactual.random_box(image.size, *crop.size, seed)
            executed = {**observation.executed, "shown_bbox_2d": list(box)}
            return replace(observation, executed=executed, shown=Shown(cut(image, box), box))
        size = self.sent_size(crop.size)
        image = counterfactual.noise(size, seed) if kind == "noise" else counterfactual.blank(size)
        return replace(observation, shown=Shown(image, None), send=lambda image: image)

    def arguments(self, requested: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call; ToolError where it calls another tool or has none."""
        if requested.get("name") != self.function:
            raise ToolError("unknown_tool", f"there is no tool {_brief(requested.get('name'))}, only {self.function}")
        try:
            return grammar.arguments(requested)
        except (ValueError, RecursionError):
            raise ToolError("malformed", "`arguments` must be a JSON object") from None

    def source(self, given: Mapping[str, Any], n_shown: int) -> int:
        """Which of the images shown is to be cropped, from 0: the original, unless the family can name others."""
        return 0

    def pixels(self, asked: Region, size: Size) -> Box:
        """A region of the family's frame as whole pixels inside an image of `size`; ToolError where there is none."""
        raise NotImplementedError

    def sent_size(self, size: Size) -> Size:
        """The size in which a crop of that size is sent."""
        return self.budget.fitted(size)

    def sent(self, crop: Image.Image) -> Image.Image:
        """A crop as it is sent."""
        return resized(crop, self.sent_size(crop.size), self.resampling)

    def _returned(self, box: Box, source: int, shown: Sequence[Shown]) -> Observation:
        width, height = box[2] - box[0], box[3] - box[1]
        if max(width, height) > self.most_aspect * min(width, height):
            raise ToolError("too_narrow", f"the crop would be {width} x {height} pixels, which is too narrow to be shown")
        image, place = shown[source].image, shown[source].place
        crop = cut(image, box)
        within = None if place is None else (box[0] + place[0], box[1] + place[1], box[2] + place[0], box[3] + place[1])
        executed = {
            "bbox_2d": list(box),
            "source": source,
            "source_size": list(image.size),
            "original_bbox_2d": None if within is None else list(within),
        }
        return Observation(executed, Shown(crop, within), source=source, send=self.sent)


def region(given: object) -> Region:
    """Four finite numbers whose first corner is above and left of the second; ToolError says what is wrong with anything else."""
    if not isinstance(given, list) or len(given) != 4:
        raise ToolError("not_a_box", f"bbox_2d must be a list of four numbers, not {_brief(given)}")
    for corner, number in zip(CORNERS, given, strict=True):
        if type(number) not in (int, float):
            raise ToolError("not_a_number", f"{corner} of bbox_2d must be a number, not {_brief(number)}")
    try:
        x1, y1, x2, y2 = (float(number) for number in given)
    except OverflowError:
        raise ToolError("outside", "bbox_2d lies outside the image") from None
    if x1 == x2 or y1 == y2:
        raise ToolError("zero_area", f"bbox_2d {_brief(given)} has no area")
    if x1 > x2 or y1 > y2:
        raise ToolError("swapped", f"the first corner of bbox_2d {_brief(given)} must be above and left of the second")
    return x1, y1, x2, y2


def clamped(asked: Region, size: Size) -> Region:
    """The part of a region, in pixels, that lies inside the image; ToolError where none does."""
    width, height = size
    x1, y1, x2, y2 = asked
    if x1 >= width or y1 >= height or x2 <= 0 or y2 <= 0:
        raise ToolError("outside", f"bbox_2d lies outside the image, which is {width} x {height} pixels")
    return max(x1, 0), max(y1, 0), min(x2, width), min(y2, height)


def whole(asked: Region) -> Box:
    """Whole pixels, each corner to the nearest as Pillow's `crop` has it; ToolError where they hold none."""
    x1, y1, x2, y2 = (round(number) for number in asked)
    if x1 >= x2 or y1 >= y2:
        raise ToolError("zero_area", "bbox_2d is smaller than a pixel")
    return x1, y1, x2, y2


def image_number(given: Mapping[str, Any], key: str, first: int, n_shown: int) -> int:
    """The place, from 0, of the image that an argument numbers from `first`; ToolError where there is no such image."""
    number: Any = given.get(key)
    if type(number) not in (int, float) or number not in range(first, first + n_shown):
        raise ToolError("no_image", f"{key} must be a whole number from {first} to {first + n_shown - 1}, not {_brief(number)}")
    return int(number) - first


def cut(image: Image.Image, box: Box) -> Image.Image:
    """The pixels of a box, and nothing else of what the image's file said: Pillow would hand it down."""
    crop = image.crop(box)
    crop.info = {}
    return crop


def resized(image: Image.Image, size: Size, resampling: Image.Resampling) -> Image.Image:
    """The image at that size; the very same object where it has it."""
    return image if image.size == size else image.resize(size, resampling)


def question_text(question: str, options: Mapping[str, str]) -> str:
    """A question and its options, a line each."""
    return "\n".join([question, *(f"({letter}) {text}" for letter, text in options.items())])


def _brief(value: object) -> str:
    return shown if len(shown := repr(value)) <= 80 else f"{shown[:77]}..."
