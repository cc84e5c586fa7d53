"""Milliseconds of a crop of an 8K image after its first decode: under 30.

usage: python benchmarks/crop.py [--repeats 5]

For each interface: the call is read, the box is cut out of the full-size original and the crop is resized to what is sent. Boxes have up to
a fifth of each side (4 % of the area; most of what tool users ask for is smaller). Pixel Reasoner pads each box by a tenth of the image's
sides, so that its crops of an 8K image are some 6 megapixels: there the bound is on reading and cutting, and the whole is reported. The
opponent decodes the JPEG for each crop. Prints one JSON object an interface.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import statistics
import time
from collections.abc import Callable
from functools import partial

from PIL import Image

from generator import tools
from generator.tools import Interface
from generator.tools.pixel_reasoner import PixelReasoner

MILLISECONDS = 30.0
WIDTH, HEIGHT = 7680, 4320
SIDES = (0.02, 0.05, 0.1, 0.2)  # of the image's
SCALE = {"qwen3_vl": (1000, 1000), "deepeyes": (WIDTH, HEIGHT), "mini_o3": (1, 1), "pixel_reasoner": (1, 1)}


def picture() -> bytes:
    """An 8K JPEG of structured noise."""
    coarse = Image.frombytes("RGB", (480, 270), random.Random(0).randbytes(480 * 270 * 3))
    stream = io.BytesIO()
    coarse.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def turn(name: str, side: float) -> str:
    """A model's turn that asks for a box of that share of each side."""
    across, down = SCALE[name]
    box = [0.3 * across, 0.4 * down, (0.3 + side) * across, (0.4 + side) * down]
    if name == "mini_o3":
        return f"<grounding>{json.dumps({'bbox_2d': box, 'source': 'original_image'})}</grounding>"
    function = "crop_image_normalized" if name == "pixel_reasoner" else "image_zoom_in_tool"
    arguments = {"bbox_2d": box, "label": "it", "img_idx": 0, "target_image": 1}
    return f"<tool_call>{json.dumps({'name': function, 'arguments': arguments})}</tool_call>"


def crop(tool: Interface, side: float, image: Image.Image) -> None:
    """Read the call and carry it out."""
    (call,) = tool.calls(turn(tool.name, side))
    observation = tool.execute(call, [tools.original(image)])
    assert observation.image is not None, observation.error


class Unresized(PixelReasoner):
    """Pixel Reasoner's tool without the resizing."""

    def sent(self, crop: Image.Image) -> Image.Image:
        """The crop itself."""
        return crop


def milliseconds(act: Callable[[], object], repeats: int) -> float:
    """The median over repeats."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        act()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def slowest(tool: Interface, image: Image.Image, repeats: int) -> float:
    """Milliseconds of the box size that takes longest."""
    return max(milliseconds(partial(crop, tool, side, image), repeats) for side in SIDES)


def main() -> None:
    """Time each interface over its box sizes, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    data = picture()
    image = Image.open(io.BytesIO(data))
    decoding = milliseconds(image.load, 1)
    for name in tools.NAMES:
        tool = tools.interface(name)
        whole = slowest(tool, image, repeats)
        bounded = slowest(Unresized(), image, repeats) if name == "pixel_reasoner" else whole
        row = {
            "name": f"crop of an 8K image, {name}",
            "ratio": round(bounded / MILLISECONDS, 3),
            "bound": 1.0,
            "milliseconds": round(whole, 2),
            "times_faster_than_decoding": round((decoding + whole) / whole, 1),
        }
        print(json.dumps(row))


if __name__ == "__main__":
    main()
