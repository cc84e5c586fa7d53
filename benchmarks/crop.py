"""Milliseconds of a crop of an 8K image after its first decode: under 30.

usage: python benchmarks/crop.py [--repeats 9]

For each interface: the call is read, the box is cut out of the full-size original, the crop is resized and encoded as it is sent. Boxes
have up to a fifth of each side (4 % of the area; most of what tool users ask for is smaller). The opponent decodes the JPEG for each crop.
Prints one JSON object an interface.

Pixel Reasoner does not keep the bound. It pads each box by a tenth of the image's sides and resizes what it cuts to at most 4 megapixels:
of an 8K image those are 1.6 to 5.3 megapixels, which Pillow takes 25 to 85 ms to resize, whatever else is saved.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import time
from collections.abc import Callable
from functools import partial

from PIL import Image

from generator import tools
from generator.tools import Interface

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
    """Read the call, carry it out, and encode what it returns."""
    (call,) = tool.calls(turn(tool.name, side))
    observation = tool.execute(call, [tools.original(image)])
    assert observation.image is not None, observation.error
    tools.encoded(observation.image)


def milliseconds(act: Callable[[], object], repeats: int) -> float:
    """The least of the repeats: what else the machine does can only add to it."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        act()
        taken.append(1000 * (time.perf_counter() - start))
    return min(taken)


def slowest(tool: Interface, image: Image.Image, repeats: int) -> float:
    """Milliseconds of the box size that takes longest."""
    return max(milliseconds(partial(crop, tool, side, image), repeats) for side in SIDES)


def main() -> None:
    """Time each interface over its box sizes, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    data = picture()
    image = Image.open(io.BytesIO(data))
    decoding = milliseconds(image.load, 1)
    for name in tools.NAMES:
        tool = tools.interface(name)
        taken = slowest(tool, image, repeats)
        row = {
            "name": f"crop of an 8K image, {name}",
            "ratio": round(taken / MILLISECONDS, 3),
            "bound": 1.0,
            "milliseconds": round(taken, 2),
            "times_faster_than_decoding": round((decoding + taken) / taken, 1),
        }
        print(json.dumps(row))


if __name__ == "__main__":
    main()
