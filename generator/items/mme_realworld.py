"""MME-RealWorld-Lite: questions about large everyday images, in multiple choice with five options, the last that none applies.

Seed 001, A.2: all 1,919 questions. Three packagings are read: the hub's `yifanzhang114/MME-RealWorld-Lite` with its
`data/MME-RealWorld-Lite.json` and `data/imgs/`, its `-lmms-eval` twin (`data/train-*.parquet`, images as base64 text) and VLMEvalKit's
`mme_realworld_lite.tsv`. Their ids differ (`Question_id` against `index`): a study keeps to one packaging.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from analysis.errors import DataError
from generator.images import Store
from generator.items import choice, encoded, table
from generator.items.item import Item
from generator.items.table import file_bytes, inside

TASK = "mme_realworld_lite"
HUB = "yifanzhang114/MME-RealWorld-Lite"
JSON, TSV, PARQUET = "MME-RealWorld-Lite.json", "mme_realworld_lite.tsv", "train-*.parquet"
OPTIONS = "multi-choice options"
COLUMNS = ("index", "question", OPTIONS, "answer", "category", "l2-category")


def load(source: Path, store: Store) -> Iterator[list[Item]]:
    """The item of each question. inputs: question, image (full size). annotation: options, category, subtask."""
    seen: dict[str, object] = {}
    for path in _files(source):
        origin = {"source": f"{HUB}/{path.name}", "source_sha256": table.digest(path)}
        rows = _listed(path, store) if path.suffix == ".json" else _tabled(path, store)
        for given, name, item in rows:
            if name in seen:
                raise DataError(f"{path}: the id {given!r} occurs before as {seen[name]!r}")
            seen[name] = given
            yield [Item(item_id=name, task=TASK, cluster_id=name, **{**item, **origin})]


Read = tuple[object, str, dict[str, Any]]  # the id as given, the item's, and its other fields


def _listed(path: Path, store: Store) -> Iterator[Read]:
    """The questions of the JSON list, their images in `imgs/` beside it."""
    records = table.json_file(path)
    if not isinstance(records, list):
        raise DataError(f"{path} is no list of questions")
    for place, record in enumerate(records):
        where = f"{path}, question {place}"
        if not isinstance(record, dict):
            raise DataError(f"{where} is no JSON object")
        name = f"{TASK}/{encoded.text(record, 'Question_id', where)}"
        image = _image(path.parent, encoded.text(record, "Image", name), name)
        lines = record.get("Answer choices")
        item = _fields(record.get("Text"), lines, record.get("Ground truth"), name)
        item["annotation"] |= {"category": record.get("Category"), "subtask": record.get("Subtask"), "capability": record.get("Task")}
        item["inputs"]["image"] = store.add(file_bytes(image, name), name, longest=None)
        yield record["Question_id"], name, item


def _tabled(path: Path, store: Store) -> Iterator[Read]:
    """The rows of a TSV or of one parquet file; several questions may share an image, which is then normalised once."""
    column = "bytes" if path.suffix == ".parquet" else "image"
    known: dict[str, str] = {}
    for place, row in enumerate(encoded.rows(path, (*COLUMNS, column))):
        name = f"{TASK}/{encoded.text(row, 'index', f'{path}, row {place}')}"
        item = _fields(row["question"], row[OPTIONS], row["answer"], name)
        item["annotation"] |= {"category": row["category"], "subtask": row["l2-category"]}
        cell = encoded.digest(row[column])
        if cell not in known:
            known[cell] = store.add(encoded.picture(row[column], name), name, longest=None)
        item["inputs"]["image"] = known[cell]
        yield row["index"], name, item


def _fields(question: object, lines: object, gold: object, name: str) -> dict[str, Any]:
    if not isinstance(question, str) or not question.strip():
        raise DataError(f"{name}: there is no question")
    options = choice.lettered(_lines(lines, name), name)
    return {
        "gold": choice.checked(options, gold, name),
        "inputs": {"question": choice.split(question)[0]},
        "annotation": {"options": options},
    }


def _lines(given: object, name: str) -> Iterable[object]:
    """The option lines; a TSV holds a list of Python's as text, which is read as a literal."""
    if isinstance(given, str):
        try:
            given = ast.literal_eval(given)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            given = None
    if not isinstance(given, list):
        raise DataError(f"{name}: the options are no list of lines like `(A) red`")
    return given


def _image(folder: Path, given: str, name: str) -> Path:
    """The file in `imgs/`, whether or not its path says so."""
    direct = inside(folder, given, name)
    return direct if direct.is_file() else inside(folder / "imgs", given, name)


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    for folder in (source, source / "data"):
        for pattern in (JSON, PARQUET, TSV):
            if files := sorted(folder.glob(pattern)):
                return table.all_shards(files)
    raise DataError(f"{source} has none of data/{JSON}, data/{PARQUET}, {TSV}: give the folder of the {HUB} data set")
