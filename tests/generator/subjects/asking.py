"""Items made on the spot for all four tasks, asked of a subject by the real prompts."""

import base64
import json
from functools import cache, lru_cache
from typing import Any

from PIL import Image as Picture

from generator import images
from generator.items import Item
from generator.items.synth.mmimdb import CUES
from generator.prompts import Image, render, wordings
from generator.subjects.question import Question, read

CONDITIONS = [(task, arm, template) for task, wording in wordings().items() for arm, template in wording.conditions()]
TASKS = ("mmimdb", "isobench/math_parity", "isobench/graph_maxflow", "goldenview")
CAMERAS = ("CAM_FRONT", "CAM_FRONT_RIGHT", "CAM_BACK_RIGHT", "CAM_BACK", "CAM_BACK_LEFT", "CAM_FRONT_LEFT")
GOLD = {"mmimdb": ["Comedy", "War"], "isobench/math_parity": "even", "isobench/graph_maxflow": 6, "goldenview": "C"}


@cache
def blank() -> Picture.Image:
    return Picture.new("RGB", (2, 2))


def picture(task: str, n: object, **said: Any) -> bytes:
    return images.png_bytes(blank(), {"task": task, "n": n, **said})


@lru_cache(maxsize=8)
def item(task: str, n: int = 0) -> tuple[Item, dict[str, bytes]]:
    """An item whose content depends on n, and its images by name. Its truth is GOLD; on goldenview the first camera of Set A has it."""
    names = CAMERAS if task == "goldenview" else ("image",)
    shown = {name: picture(task, [n, name], **{"gold": GOLD[task]} if name == names[0] else {}) for name in names}
    inputs: dict[str, Any] = {"image": "image"}
    annotation: dict[str, Any] = {}
    if task == "mmimdb":
        inputs |= {"title": f"Film {n}", "plot": f"{CUES['Comedy']} Then nothing, {n} times. {CUES['War']}"}
    elif task == "isobench/math_parity":
        inputs |= {"text": rf"$$f(x) = \frac{{x^{{2}} + {n}}}{{x^{{4}} + 1.5}}$$"}
    elif task == "isobench/graph_maxflow":
        inputs |= {"text": f"[[0, 5, 1], [0, 0, {5 + n}], [0, 0, 0]]"}
        inputs |= {"source_node": 0, "sink_node": 2, "source_node_color": "red", "sink_node_color": "blue"}
    else:
        inputs = {"question": f"What is car {n} doing?", "images": {camera: camera for camera in CAMERAS}}
        annotation = {"set_a": list(CAMERAS[:3]), "set_b": list(CAMERAS[3:]), "options": {letter: f"option {letter}" for letter in "ABCD"}}
    return Item(f"{task}/{n}", task, f"{task}/{n}", GOLD[task], inputs, annotation, "test", "0" * 64), shown


def body(task: str, arm: str, template: str, n: int = 0, *, thinking: bool = False, seed: int = 0, **fields: Any) -> dict[str, Any]:
    asked, shown = item(task, n)
    prompt = render(task, arm, template, asked)
    parts = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(shown[part.image_sha256]).decode()}"}}
        if isinstance(part, Image)
        else {"type": "text", "text": part.text}
        for part in prompt.parts
    ]
    return {
        "model": "m",
        "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": parts}],
        "seed": seed,
        "chat_template_kwargs": {"enable_thinking": thinking},
        "repetition_detection": {"min_count": 4},
        **fields,
    }


def question(task: str, arm: str, template: str, n: int = 0, **fields: Any) -> Question:
    return read(body(task, arm, template, n, **fields))


def said(content: str | None) -> dict[str, str]:
    """The label lines of an answer, or the bare list of a plain genre prompt; empty where nothing was said. No rules, for sound replies."""
    lines = (content or "").rpartition("</think>")[2].strip().split("\n")
    found = dict(line.split(": ", 1) for line in lines if line.split(":")[0].isupper())
    if not found and lines[-1].startswith("["):
        found = {"ANSWER": json.dumps(json.loads(lines[-1]))}
    return found
