"""HR-Bench (hub `DreamMr/HR-Bench`): questions about 4K and 8K images, each asked four times with its options rotated.

Seed 001, A.2: all 800 rows of each version. The rotations of a question share its cluster, `hrbench/4k/<index of the first>`: they are one
question about one image. Read from `hr_bench_4k.parquet` or `.tsv`; an image cell of at most 64 characters is the index of the row that
holds the image (VLMEvalKit's rule).

The file is read twice: first the texts, to find which rows ask the same question, then the images, one a question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from analysis.errors import DataError
from generator.images import Store
from generator.items import choice, encoded, table
from generator.items.item import Item

HUB = "DreamMr/HR-Bench"
TASKS = ("hrbench/4k", "hrbench/8k")
COLUMNS = ("index", "question", "answer", "category", *choice.LETTERS, "cycle_category", "image")
LONGEST_REFERENCE = 64  # characters


@dataclass
class Rotation:
    """A row without its image. `image` is the digest of the cell that holds it."""

    index: str
    question: str
    options: dict[str, str]
    gold: str
    category: str | None
    cycle_category: str | None
    image: str


def loader(task: str) -> Callable[[Path, Store], Iterator[list[Item]]]:
    """How a version is loaded: the items of each question. inputs: question, image (full size). annotation: options, category and
    cycle_category, the data set's own.
    """
    return partial(_load, task)


def _load(task: str, source: Path, store: Store) -> Iterator[list[Item]]:
    path = _file(task, source)
    origin = {"source": f"{HUB}/{path.name}", "source_sha256": table.digest(path)}
    questions: dict[str, list[list[Rotation]]] = {}
    for rotations in _questions(task, path):
        questions.setdefault(rotations[0].image, []).append(rotations)
    for row in encoded.rows(path, ("image",)):
        if not questions:
            return
        for rotations in questions.pop(encoded.digest(row["image"]), []):
            cluster = f"{task}/{rotations[0].index}"
            image = store.add(encoded.picture(row["image"], cluster), cluster, longest=None)
            yield [_item(task, cluster, rotation, image, origin) for rotation in rotations]


def _item(task: str, cluster: str, rotation: Rotation, image: str, origin: dict[str, str]) -> Item:
    return Item(
        item_id=f"{task}/{rotation.index}",
        task=task,
        cluster_id=cluster,
        gold=rotation.gold,
        inputs={"question": rotation.question, "image": image},
        annotation={"options": rotation.options, "category": rotation.category, "cycle_category": rotation.cycle_category},
        **origin,
    )


def _questions(task: str, path: Path) -> list[list[Rotation]]:
    """The rotations of each question, which share its text, its options and its image; in the order of the file."""
    rotations, references = _read(task, path)
    for index, reference in references.items():
        if reference not in rotations or reference in references:
            raise DataError(f"{task}/{index}: its image is that of row {reference!r}, which has none")
        rotations[index].image = rotations[reference].image
    grouped: dict[tuple[str, str, tuple[str, ...]], list[Rotation]] = {}
    for rotation in rotations.values():
        key = (rotation.image, rotation.question, tuple(sorted(rotation.options.values())))
        grouped.setdefault(key, []).append(rotation)
    return list(grouped.values())


def _read(task: str, path: Path) -> tuple[dict[str, Rotation], dict[str, str]]:
    """All rows by index, and the row that each reference names."""
    rotations: dict[str, Rotation] = {}
    references: dict[str, str] = {}
    for place, row in enumerate(encoded.rows(path, COLUMNS)):
        index = encoded.text(row, "index", f"{path}, row {place}")
        name = f"{task}/{index}"
        if index in rotations:
            raise DataError(f"{path}, row {place}: the index {index} occurs twice")
        options = {letter: encoded.text(row, letter, name) for letter in choice.LETTERS}
        cell = encoded.text(row, "image", name)
        if len(cell) <= LONGEST_REFERENCE:
            references[index] = cell
        question, gold = encoded.text(row, "question", name), choice.checked(options, row["answer"], name)
        rotations[index] = Rotation(
            index, question, options, gold, row["category"], _plain(row["cycle_category"]), encoded.digest(row["image"])
        )
    return rotations, references


def _plain(value: object) -> str | None:
    return None if value is None else str(value)


def _file(task: str, source: Path) -> Path:
    version = task.partition("/")[2]
    for path in (source, *(source / f"hr_bench_{version}{suffix}" for suffix in (".parquet", ".tsv"))):
        if path.is_file():
            return path
    raise DataError(f"{source} has neither hr_bench_{version}.parquet nor .tsv: give the folder of the {HUB} data set")
