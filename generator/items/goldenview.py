"""GoldenViewVQA: driving questions over the six cameras of a nuScenes keyframe, with the camera that shows the answer.

Seed 000, B.3: the released evaluation split (`eval.jsonl`, 55 questions); its images are nuScenes' own (`samples/<camera>/…jpg`) and
are not redistributed with the questions. A question's six cameras are ranked by SHA-256 of `42:<question id>:<camera>`, and the first
three are Set A: neither the annotation nor the answer has a say. Within a set cameras stand in the rig's clockwise order. Gold is the
option's letter; `golden_view` may be NONE_OF_THE_ABOVE.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from analysis.errors import DataError
from generator.images import Store
from generator.items import table
from generator.items.item import Item

TASK = "goldenview"
CAMERAS = ("CAM_FRONT", "CAM_FRONT_RIGHT", "CAM_BACK_RIGHT", "CAM_BACK", "CAM_BACK_LEFT", "CAM_FRONT_LEFT")  # clockwise, seen from above
NO_VIEW = "NONE_OF_THE_ABOVE"
LETTERS = ("A", "B", "C", "D")
HUB = "GoldenViewVQA"

_KEPT = ("golden_view", "question_group", "scene_name", "sample_token", "frame_idx", "time_s", "gold_answer_text")


def load(source: Path, store: Store) -> Iterator[list[Item]]:
    """The item of each question. inputs: question, images (by camera). annotation: golden_view, set_a, set_b, options, and the scene.

    `source` holds `data/eval.jsonl` or `eval.jsonl`, and nuScenes' folder `samples` (a link will do) in itself or in `nuscenes/`.
    """
    path = _questions(source)
    roots = [source, source / "nuscenes", path.parent, path.parent / "nuscenes", path.parent.parent]
    root = next((root for root in roots if (root / "samples").is_dir()), source)
    origin = {"source": f"{HUB}/data/{path.name}", "source_sha256": table.digest(path)}
    lines: dict[str, tuple[int, object]] = {}
    for line, record in table.json_lines(path):
        where = f"{path}, line {line}"
        _check(record, where)
        question_id = str(record["question_id"])
        if question_id in lines:
            first, given = lines[question_id]
            raise DataError(f"{where}: the question id {record['question_id']!r} is that of line {first} ({given!r})")
        lines[question_id] = (line, record["question_id"])
        yield [_item(question_id, record, root, store, origin)]


def sets(question_id: str) -> tuple[list[str], list[str]]:
    """Set A and Set B of a question, each in clockwise order."""
    ranked = sorted(CAMERAS, key=lambda camera: hashlib.sha256(f"42:{question_id}:{camera}".encode()).hexdigest())
    return [camera for camera in CAMERAS if camera in ranked[:3]], [camera for camera in CAMERAS if camera in ranked[3:]]


def _item(question_id: str, record: dict[str, Any], root: Path, store: Store, origin: dict[str, str]) -> Item:
    name = f"{TASK}/{question_id}"
    set_a, set_b = sets(question_id)
    options = {letter: record["options"][letter] for letter in LETTERS}
    return Item(
        item_id=name,
        task=TASK,
        cluster_id=name,
        gold=record["gold_answer_id"],
        inputs={
            "question": record["question"],
            "images": {camera: store.add(_view(root, record["views"][camera], name), f"{name} {camera}") for camera in CAMERAS},
        },
        annotation={"set_a": set_a, "set_b": set_b, "options": options, **{key: record.get(key) for key in _KEPT}},
        **origin,
    )


def _questions(source: Path) -> Path:
    if source.is_file():
        return source
    for path in (source / "data" / "eval.jsonl", source / "eval.jsonl"):
        if path.is_file():
            return path
    raise DataError(f"{source} has neither data/eval.jsonl nor eval.jsonl: give the folder of the {HUB} data set")


def _check(record: dict[str, Any], where: str) -> None:
    """DataError where a question lacks what it is asked by: the labels too, which only the evaluation split has."""
    if not isinstance(record.get("question_id"), str | int) or not str(record["question_id"]).strip():
        raise DataError(f"{where}: there is no question_id")
    for key in ("question", "golden_view", "gold_answer_id"):
        if not isinstance(record.get(key), str):
            raise DataError(f"{where}: there is no text {key}; `eval.jsonl` has it, the files without labels do not")
    for key, names in (("views", CAMERAS), ("options", LETTERS)):
        held = record.get(key)
        if not isinstance(held, dict) or set(held) != set(names) or not all(isinstance(text, str) for text in held.values()):
            raise DataError(f"{where}: {key} must have exactly the texts {', '.join(names)}")
    if record["golden_view"] not in (*CAMERAS, NO_VIEW):
        raise DataError(f"{where}: golden_view is {record['golden_view']!r}, not one of {', '.join((*CAMERAS, NO_VIEW))}")
    if record["gold_answer_id"] not in LETTERS:
        raise DataError(f"{where}: gold_answer_id is {record['gold_answer_id']!r}, not one of {', '.join(LETTERS)}")


def _view(root: Path, view: str, name: str) -> bytes:
    relative = PurePosixPath(view)
    if relative.is_absolute() or ".." in relative.parts:
        raise DataError(f"{name}: the view {view!r} leads out of the nuScenes folder")
    try:
        return (root / relative).read_bytes()
    except OSError as fault:
        raise DataError(
            f"{name}: {root / relative} cannot be read ({fault.strerror}); put or link nuScenes' folder `samples` (keyframes of trainval "
            f"blobs 01-03) into {root}"
        ) from None
