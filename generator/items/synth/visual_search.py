"""V*'s twin: scenes of 2,000 pixels with one small tag whose colour is asked.

Many tags lie about, in all the colours that are asked for. All have a dithered edge that is purple from afar: the target's is made of
magenta and black squares, the others' of red and blue ones. Reduced, all edges are the same purple, so that the whole image at the size
of other tasks does not tell which tag is meant; at full size only the target's has magenta in it.

So what a crop shows can be read from its pixels alone: `seen`. The PNG of a scene, and no crop of it, also says the answer and where the
target is (`generator.images.truth`), for simulated users that know before they look.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image, ImageChops, ImageDraw

from generator.images import png_bytes
from generator.items.choice import LETTERS
from generator.items.synth.seeded import drawn
from generator.items.vstar import QUESTIONS, TASK

SIDE = 2000  # pixels, of a scene
EDGE, CELL = 4, 2  # pixels: the edge's width, and the squares it is made of
TAG = 20  # pixels, a tag with its edge
OTHERS = 36  # tags beside the target
COLOURS = {
    "red": (220, 30, 30),
    "green": (30, 150, 60),
    "blue": (40, 70, 220),
    "yellow": (240, 210, 40),
    "orange": (240, 130, 20),
    "white": (250, 250, 250),
    "brown": (120, 70, 30),
    "grey": (130, 130, 130),
}
MAGENTA, BLACK, RED, BLUE = (255, 0, 255), (0, 0, 0), (255, 0, 0), (0, 0, 255)
QUESTION = "What is the colour of the tag whose edge is magenta and black?"
INSTRUCTION = "Answer with the option's letter from the given choices directly."

ACUITY = 16  # pixels: a tag that is smaller on both sides cannot be made out
NEAR = 25  # of 255, in each channel: how far a colour may be from its name's


def write(folder: Path, n: int, seed: int) -> None:
    """Write n questions as `test_questions.jsonl`, with `direct_attributes/sa_<place>.png` and its JSON file beside it."""
    random = drawn(TASK, seed)
    (folder / "direct_attributes").mkdir(parents=True, exist_ok=True)
    with (folder / QUESTIONS).open("w", encoding="utf-8") as lines:
        for place in range(n):
            image = f"direct_attributes/sa_{place}.png"
            offered = random.sample(list(COLOURS), len(LETTERS))
            label = random.choice(LETTERS)
            colour = offered[LETTERS.index(label)]
            scene, (x, y) = _scene(random, colour)
            wrong = [option for option in offered if option != colour]
            annotation = {"target_object": ["tag"], "bbox": [[x, y, TAG, TAG]], "question": QUESTION, "options": [colour, *wrong]}
            said = {"task": TASK, "gold": label, "target_box": [x, y, x + TAG, y + TAG]}
            (folder / image).write_bytes(png_bytes(scene, said))
            (folder / image).with_suffix(".json").write_text(json.dumps(annotation), encoding="utf-8")
            lines.write(json.dumps(_question(place, image, label, offered)) + "\n")


def seen(image: Image.Image) -> str | None:
    """The colour of the target as an image's pixels show it, at whatever scale; None where it is not in the image or too small in it.

    A target that is cut off is seen as long as its middle is there.
    """
    red, green, blue = image.convert("RGB").split()
    bright, dark = (lambda level: 255 * (level > 190)), (lambda level: 255 * (level < 90))
    magenta = ImageChops.darker(ImageChops.darker(red.point(bright), blue.point(bright)), green.point(dark))
    box = magenta.getbbox()
    if box is None or max(box[2] - box[0], box[3] - box[1]) < ACUITY:
        return None
    x, y = (box[0] + box[2]) // 2, (box[1] + box[3]) // 2
    middle = image.convert("RGB").crop((x - 1, y - 1, x + 2, y + 2)).tobytes()
    is_near = {name: all(abs(level - colour[place % 3]) <= NEAR for place, level in enumerate(middle)) for name, colour in COLOURS.items()}
    return next((name for name, near in is_near.items() if near), None)


def _question(place: int, image: str, label: str, offered: list[str]) -> dict[str, Any]:
    options = [f"({letter}) {colour}" for letter, colour in zip(LETTERS, offered, strict=True)]
    text = "\n".join([QUESTION, *options, INSTRUCTION])
    return {"image": image, "text": text, "category": "direct_attributes", "question_id": str(place), "label": label}


def _scene(random: Random, colour: str) -> tuple[Image.Image, tuple[int, int]]:
    """A field of muted blocks with tags on it, and where the target's upper left corner is."""
    scene = Image.new("RGB", (SIDE, SIDE), (120, 128, 112))
    draw = ImageDraw.Draw(scene)
    for _ in range(60):
        x, y = random.randrange(SIDE), random.randrange(SIDE)
        level = random.randint(80, 170)
        draw.rectangle(
            (x, y, x + random.randint(60, 500), y + random.randint(60, 500)), fill=(level, level - 10, level - random.randint(0, 40))
        )
    places = _places(random, OTHERS + 1)
    for place in places[1:]:
        scene.paste(_tag(COLOURS[random.choice(list(COLOURS))], RED, BLUE), place)
    scene.paste(_tag(COLOURS[colour], MAGENTA, BLACK), places[0])
    return scene, places[0]


def _places(random: Random, n: int) -> list[tuple[int, int]]:
    """Corners of n tags, no two of which come near each other."""
    cells = random.sample(range((SIDE // 100) ** 2), n)
    return [(100 * (cell % 20) + random.randint(5, 75), 100 * (cell // 20) + random.randint(5, 75)) for cell in cells]


def _tag(inside: tuple[int, int, int], one: tuple[int, int, int], other: tuple[int, int, int]) -> Image.Image:
    """A square of one colour with an edge of two, in a pattern like a chessboard's."""
    tag = Image.new("RGB", (TAG, TAG), one)
    draw = ImageDraw.Draw(tag)
    for x in range(0, TAG, CELL):
        for y in range(0, TAG, CELL):
            if (x + y) // CELL % 2:
                draw.rectangle((x, y, x + CELL - 1, y + CELL - 1), fill=other)
    draw.rectangle((EDGE, EDGE, TAG - EDGE - 1, TAG - EDGE - 1), fill=inside)
    return tag
