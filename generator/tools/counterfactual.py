"""What is returned in place of a real crop (seed 001, A.3): a random crop of the original, noise, or black."""

from __future__ import annotations

import random

from PIL import Image

from generator.tools.interface import Box


def random_box(size: tuple[int, int], width: int, height: int, seed: int) -> Box:
    """A region of that width and height at a position drawn uniformly from all that fit into an image of `size`; all in pixels."""
    across, down = size
    width, height = min(width, across), min(height, down)
    drawn = random.Random(f"random_crop:{seed}")  # noqa: S311 - positions, not secrets
    left, top = drawn.randint(0, across - width), drawn.randint(0, down - height)
    return left, top, left + width, top + height


def random_crop(image: Image.Image, width: int, height: int, seed: int) -> Image.Image:
    """The region of `random_box`: as wide and high as asked, less only where the image itself is smaller."""
    return image.crop(random_box(image.size, width, height, seed))


def noise(size: tuple[int, int], seed: int) -> Image.Image:
    """An RGB image whose every channel of every pixel is drawn uniformly and independently from 0 to 255."""
    drawn = random.Random(f"noise:{seed}")  # noqa: S311 - pixels, not secrets
    return Image.frombytes("RGB", size, drawn.randbytes(3 * size[0] * size[1]))


def blank(size: tuple[int, int]) -> Image.Image:
    """A black RGB image."""
    return Image.new("RGB", size)
