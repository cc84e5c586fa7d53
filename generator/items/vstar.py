"""V* Bench (hub `craigwu/vstar_bench`): questions about a small object in a large photograph, in multiple choice.

Seed 001, A.2: all 191 questions of `test_questions.jsonl` (115 of an object's attribute, 76 of two objects' positions), options in the
file's order. The sentence that asks for the option's letter stands inside `text` and is taken off. The boxes of the objects that are asked
about come from the JSON file beside each image, where there is one: mirrors drop them. They are drawn by hand and part of no score.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.errors import DataError
from generator.images import Store
from generator.items import choice, table
from generator.items.item import Item
from generator.items.table import file_bytes, inside

TASK = "vstar"
HUB = "craigwu/vstar_bench"
QUESTIONS = "test_questions.jsonl"


def load(source: Path, store: Store) -> Iterator[list[Item]]:
    """The item of each question. inputs: question, image (full size). annotation: options, category, target_object, target_box (all targets
    in one x1, y1, x2, y2, pixels of the upright image), target_boxes (one each); the last three None without the JSON file.
    """
    path = source if source.is_file() else source / QUESTIONS
    if not path.is_file():
        raise DataError(f"{source} has no {QUESTIONS}: give the folder of the {HUB} data set")
    origin = {"source": f"{HUB}/{QUESTIONS}", "source_sha256": table.digest(path)}
    seen: dict[str, tuple[int, object]] = {}
    for line, record in table.json_lines(path):
        where = f"{path}, line {line}"
        question_id = _checked(record, where)
        if question_id in seen:
            first, given = seen[question_id]
            raise DataError(f"{where}: the question id {record['question_id']!r} is that of line {first} ({given!r})")
        seen[question_id] = (line, record["question_id"])
        yield [_item(question_id, record, path.parent, store, origin)]


def _item(question_id: str, record: dict[str, Any], folder: Path, store: Store, origin: dict[str, str]) -> Item:
    name = f"{TASK}/{question_id}"
    question, lines = choice.split(record["text"])
    options = choice.lettered(lines, name)
    image = inside(folder, record["image"], name)
    return Item(
        item_id=name,
        task=TASK,
        cluster_id=name,
        gold=choice.checked(options, record["label"], name),
        inputs={"question": question, "image": store.add(file_bytes(image, name), name, longest=None)},
        annotation={"options": options, "category": record.get("category"), **_targets(image.with_suffix(".json"))},
        **origin,
    )


def _checked(record: dict[str, Any], where: str) -> str:
    """The question id as text; DataError where a question lacks what it is asked by."""
    if type(record.get("question_id")) not in (str, int) or not str(record["question_id"]).strip():
        raise DataError(f"{where}: there is no question_id")
    for key in ("image", "text", "label"):
        if not isinstance(record.get(key), str):
            raise DataError(f"{where}: there is no text {key}; old revisions of {HUB} lack labels: fetch the newest")
    return str(record["question_id"]).strip()


def _targets(path: Path) -> dict[str, Any]:
    """The names and boxes of what is asked about, from the file's [x, y, width, height]."""
    if not path.is_file():
        return {"target_object": None, "target_box": None, "target_boxes": None}
    record = table.json_file(path)
    given = record.get("bbox") if isinstance(record, dict) else None
    if not isinstance(given, list) or not given or not all(_is_box(box) for box in given):
        raise DataError(f"{path}: bbox is no list of [x, y, width, height]")
    boxes = [[x, y, x + width, y + height] for x, y, width, height in given]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return {
        "target_object": record.get("target_object"),
        "target_box": [min(lefts), min(tops), max(rights), max(bottoms)],
        "target_boxes": boxes,
    }


def _is_box(box: object) -> bool:
    return isinstance(box, list) and len(box) == 4 and all(type(number) in (int, float) for number in box)
