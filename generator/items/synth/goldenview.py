"""GoldenViewVQA's twin: six-camera scenes in nuScenes' form whose answer is to be seen in exactly the annotated view.

Each image says in its JPEG comment (`generator.images.truth`) which camera it is and, where it shows the answer, its letter as `gold`;
the others have no `gold`. Where the annotation is NONE_OF_THE_ABOVE no view shows it. Cameras and question groups are as frequent as in
the public evaluation split.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image, ImageDraw

from generator.images import jpeg_bytes
from generator.items.goldenview import CAMERAS, LETTERS, NO_VIEW, TASK
from generator.items.synth.seeded import drawn, weighted

SIZE = (1600, 900)  # of nuScenes' images, in pixels
GOLDEN_VIEWS = {  # of the 55 public questions
    "CAM_FRONT": 38, "CAM_FRONT_LEFT": 8, NO_VIEW: 3, "CAM_FRONT_RIGHT": 2, "CAM_BACK_LEFT": 2, "CAM_BACK": 1, "CAM_BACK_RIGHT": 1,
}  # fmt: skip
GROUPS = {"causality": 27, "counterfactual": 15, "intent_prediction": 13}  # of the 55 public questions
QUESTIONS = {
    "causality": "Why would the ego vehicle slow down here?",
    "counterfactual": "What would the ego vehicle hit if it did not slow down?",
    "intent_prediction": "What is the ego vehicle about to give way to?",
}
CAUSES = {  # what an option says: its colour, and its width and height in pixels
    "a pedestrian in a red coat": ("crimson", 60, 190),
    "a cyclist in yellow": ("gold", 150, 150),
    "a blue delivery van": ("royalblue", 320, 220),
    "a white ambulance": ("white", 340, 240),
    "an orange barrier": ("darkorange", 420, 80),
    "a green tractor": ("forestgreen", 260, 230),
    "a purple bus": ("purple", 480, 300),
    "a pink toy ball": ("hotpink", 70, 70),
}


def write(folder: Path, n: int, seed: int) -> None:
    """Write n questions as `data/eval.jsonl` and their images as `samples/<camera>/….jpg`."""
    random = drawn(TASK, seed)
    for path in (folder / "data", *(folder / "samples" / camera for camera in CAMERAS)):
        path.mkdir(parents=True, exist_ok=True)
    with (folder / "data" / "eval.jsonl").open("w", encoding="utf-8") as lines:
        for place in range(n):
            record = _question(random, place)
            lines.write(json.dumps(record) + "\n")
            for camera in CAMERAS:
                is_golden = camera == record["golden_view"]
                view = _view(random, record["gold_answer_text"] if is_golden else None)
                answer = {"gold": record["gold_answer_id"]} if is_golden else {}
                (folder / record["views"][camera]).write_bytes(jpeg_bytes(view, {"task": TASK, "camera": camera, **answer}))


def _question(random: Random, place: int) -> dict[str, Any]:
    scene, group = f"{place + 1:04d}", weighted(random, GROUPS)
    options = dict(zip(LETTERS, random.sample(list(CAUSES), len(LETTERS)), strict=True))
    answer = random.choice(LETTERS)
    frame = random.randint(0, 39)
    return {
        "question_id": f"sfall_{scene}_{group}",
        "scene_name": f"scene-{scene}",
        "sample_token": f"{random.getrandbits(128):032x}",
        "frame_idx": f"f{frame:02d}",
        "time_s": str(frame / 2),
        "question_group": group,
        "question": QUESTIONS[group],
        "views": {camera: f"samples/{camera}/n000-{scene}__{camera}__{place * 10**6 + frame}.jpg" for camera in CAMERAS},
        "golden_view": weighted(random, GOLDEN_VIEWS),
        "options": options,
        "gold_answer_id": answer,
        "gold_answer_text": options[answer],
    }


def _view(random: Random, cause: str | None) -> Image.Image:
    """A road under the sky between houses, and on it the cause where the view shows it."""
    width, height = SIZE
    horizon = random.randint(380, 460)
    view = Image.new("RGB", SIZE, (150, 180, random.randint(200, 240)))
    draw = ImageDraw.Draw(view)
    draw.rectangle((0, horizon, width, height), fill=(90, 100, 80))
    for left in range(0, width, 200):
        grey = random.randint(110, 170)
        draw.rectangle((left, horizon - random.randint(40, 260), left + 180, horizon), fill=(grey, grey - 10, grey - 20))
    draw.polygon([(700, horizon), (900, horizon), (1500, height), (100, height)], fill=(70, 70, 75))
    draw.polygon([(797, horizon), (803, horizon), (815, height), (785, height)], fill="white")
    if cause is not None:
        colour, wide, high = CAUSES[cause]
        left, bottom = random.randint(350, 1250 - wide), random.randint(620, 820)
        box = (left, bottom - high, left + wide, bottom)
        draw.rounded_rectangle(box, radius=min(wide, high) // 4, fill=colour, outline="black", width=4)
    return view
