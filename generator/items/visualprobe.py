"""VisualProbe (hub `Mini-o3/VisualProbe_Easy`, `_Medium`, `_Hard`): open questions about small details of large images.

Seed 001, A.2: 141, 268 and 106 questions. Gold is the free text of `solution`; what exact match cannot read is a judge's. `problem` begins
with the mark `<image>`, which is taken off. Image paths name the level's folder, which is the source itself where it was downloaded alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from analysis.errors import DataError
from generator.images import Store
from generator.items import table
from generator.items.item import Item
from generator.items.table import file_bytes, inside

LEVELS = {"visualprobe/easy": "VisualProbe_Easy", "visualprobe/medium": "VisualProbe_Medium", "visualprobe/hard": "VisualProbe_Hard"}
TASKS = tuple(LEVELS)
SIZES = {"visualprobe/easy": 141, "visualprobe/medium": 268, "visualprobe/hard": 106}
QUESTIONS = "val.json"
MARK = "<image>"


def loader(task: str) -> Callable[[Path, Store], Iterator[list[Item]]]:
    """How a level is loaded: the item of each question. inputs: question, image (full size). annotation: data_source."""
    return partial(_load, task)


def _load(task: str, source: Path, store: Store) -> Iterator[list[Item]]:
    path = _file(task, source)
    origin = {"source": f"Mini-o3/{LEVELS[task]}/{QUESTIONS}", "source_sha256": table.digest(path)}
    records = table.json_file(path)
    if not isinstance(records, list):
        raise DataError(f"{path} is no list of questions")
    seen: dict[str, object] = {}
    for place, record in enumerate(records):
        _check(record, f"{path}, question {place}")
        doc_id = str(record["doc_id"]).strip()
        if doc_id in seen:
            raise DataError(f"{path}, question {place}: the doc_id {record['doc_id']!r} occurs before as {seen[doc_id]!r}")
        seen[doc_id] = record["doc_id"]
        yield [_item(task, doc_id, record, path.parent, store, origin)]


def _item(task: str, doc_id: str, record: dict[str, Any], folder: Path, store: Store, origin: dict[str, str]) -> Item:
    name = f"{task}/{doc_id}"
    image = _image(folder, record["images"][0], name)
    return Item(
        item_id=name,
        task=task,
        cluster_id=name,
        gold=str(record["solution"]).strip(),
        inputs={
            "question": record["problem"].replace(MARK, "", 1).strip(),
            "image": store.add(file_bytes(image, name), name, longest=None),
        },
        annotation={"data_source": record.get("data_source")},
        **origin,
    )


def _image(folder: Path, given: str, name: str) -> Path:
    """The image in the folder of the levels, or in the level's own."""
    level, _, rest = given.partition("/")
    among_levels = inside(folder.parent, given, name)
    alone = inside(folder, rest if level in LEVELS.values() else given, name)
    return among_levels if among_levels.is_file() and level == folder.name else alone


def _check(record: object, where: str) -> None:
    if not isinstance(record, dict):
        raise DataError(f"{where} is no JSON object")
    if type(record.get("doc_id")) not in (str, int) or not str(record["doc_id"]).strip():
        raise DataError(f"{where}: there is no doc_id")
    images = record.get("images")
    if not isinstance(images, list) or len(images) != 1 or not isinstance(images[0], str):
        raise DataError(f"{where}: images must name exactly one file")
    if not isinstance(record.get("problem"), str) or MARK not in record["problem"]:
        raise DataError(f"{where}: there is no problem with the mark {MARK}")
    if type(record.get("solution")) not in (str, int, float) or not str(record["solution"]).strip():
        raise DataError(f"{where}: there is no solution")


def _file(task: str, source: Path) -> Path:
    for path in (source, source / QUESTIONS, source / LEVELS[task] / QUESTIONS):
        if path.is_file():
            return path
    raise DataError(f"{source} has no {LEVELS[task]}/{QUESTIONS}: give the folder that holds the hub's Mini-o3/{LEVELS[task]}")
