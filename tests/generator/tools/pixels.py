"""Pictures whose every pixel says where it is, and the reading of them back: a reference that knows nothing of how crops are made."""

import json
from collections.abc import Sequence

import numpy
from numpy.typing import NDArray
from PIL import Image

from generator import tools

Pixels = NDArray[numpy.uint8]


def located(width: int, height: int) -> Image.Image:
    """Red and green hold the low 8 bits of column and row, blue the high ones: no two pixels of up to 4096 x 4096 are alike."""
    x, y = numpy.meshgrid(numpy.arange(width), numpy.arange(height))
    return Image.fromarray(numpy.stack([x & 255, y & 255, (x >> 8) | (y >> 8) << 4], axis=-1).astype(numpy.uint8))


def box_of(crop: Image.Image) -> list[int]:
    """Where a crop of a located picture was taken from: x1, y1, x2, y2. Fails where it is no crop of one."""
    pixels = numpy.asarray(crop).astype(int)
    x, y = pixels[..., 0] | (pixels[..., 2] & 15) << 8, pixels[..., 1] | (pixels[..., 2] >> 4) << 8
    left, top = int(x[0, 0]), int(y[0, 0])
    assert (x == left + numpy.arange(crop.width)).all()
    assert (top + numpy.arange(crop.height) == y.T).all()
    return [left, top, left + crop.width, top + crop.height]


def written(name: str, box: object, **other: object) -> str:
    """A turn in which the model of an interface asks for a box of the original."""
    match name:
        case "mini_o3":
            tag, call = "grounding", {"bbox_2d": box, "source": "original_image", **other}
        case "pixel_reasoner":
            tag, call = "tool_call", {"name": "crop_image_normalized", "arguments": {"bbox_2d": box, "target_image": 1, **other}}
        case "qwen3_vl":
            tag, call = "tool_call", {"name": "image_zoom_in_tool", "arguments": {"label": "it", "bbox_2d": box, "img_idx": 0, **other}}
        case _:
            tag, call = "tool_call", {"name": "image_zoom_in_tool", "arguments": {"bbox_2d": box, "label": "it", **other}}
    return f"<think>look</think><{tag}>{json.dumps(call)}</{tag}>"


def seen(name: str, images: Sequence[Image.Image], box: object, **other: object) -> tools.Observation:
    """What the one call of `written` returns when these images have been shown, each but the first being no part of it."""
    tool = tools.interface(name)
    (call,) = tool.calls(written(name, box, **other))
    return tool.execute(call, [tools.original(images[0]), *(tools.Shown(image, None) for image in images[1:])])
