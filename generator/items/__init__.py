"""Items of the data sets: read from their public forms, kept in `data/items/` and `data/images/`, and read back from there.

    data/items/<task, / as _>.parquet   one row per item, the columns of `raw.item` (JSON as text)
    data/items/images.parquet           one row per sent image, the columns of `raw.image`
    data/images/<image_sha256>.png|jpg  exactly the bytes that are sent

`prepare` makes these folders hold exactly what is asked: it builds the new state beside them and moves it in only when every source has
been read, so a source that fails leaves the old state. The same sources and seeds give the same bytes.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import polars

from analysis.errors import DataError, UsageError
from generator.images import Store
from generator.items import goldenview, hrbench, isobench, mme_realworld, mmimdb, table, visualprobe, vstar
from generator.items.item import Item
from generator.items.synth import goldenview as synth_goldenview
from generator.items.synth import isobench as synth_isobench
from generator.items.synth import mmimdb as synth_mmimdb
from generator.items.synth import visual_search

__all__ = ["TASKS", "Asked", "Item", "image_rows", "load", "prepare", "prepared", "read"]

SYNTH = "synth"

Progress = Callable[[str, int], None]  # the task, and how many of its items are done


class Asked(TypedDict, total=False):
    """What a study asks of one task: `source` (a path, or `synth`), how many clusters (`n`; as many as the paper), a `seed` for synth."""

    source: str
    n: int | None
    seed: int


class Dataset(NamedTuple):
    """How a task is read, one list of items a cluster; how `synth` writes n clusters in that form, if it does; how many the paper has."""

    load: Callable[[Path, Store], Iterator[list[Item]]]
    synthesise: Callable[[Path, int, int], None] | None
    usual: int


_DATASETS = {
    mmimdb.TASK: Dataset(mmimdb.load, synth_mmimdb.write, 300),
    isobench.PARITY: Dataset(isobench.load_parity, synth_isobench.write_parity, 384),
    isobench.MAXFLOW: Dataset(isobench.load_maxflow, synth_isobench.write_maxflow, 128),
    goldenview.TASK: Dataset(goldenview.load, synth_goldenview.write, 55),
    vstar.TASK: Dataset(vstar.load, visual_search.write, 191),
    **{task: Dataset(hrbench.loader(task), None, 200) for task in hrbench.TASKS},
    **{task: Dataset(visualprobe.loader(task), None, size) for task, size in visualprobe.SIZES.items()},
    mme_realworld.TASK: Dataset(mme_realworld.load, None, 1919),
}
TASKS = tuple(_DATASETS)

_IMAGES = "images.parquet"
_ASKED = "vlmaudit.asked"  # the key in a parquet file's metadata that says what it was made for
_JSON = ("gold", "inputs", "annotation")
_ITEM_SCHEMA = {field.name: polars.String for field in dataclasses.fields(Item)}
_IMAGE_SCHEMA = {
    "image_sha256": polars.String,
    "source_sha256": polars.String,
    "width": polars.Int64,
    "height": polars.Int64,
    "mode": polars.String,
    "format": polars.String,
    "n_bytes": polars.Int64,
    "changes": polars.String,
}


def load(task: str, source: str, store: Store, n: int | None = None, seed: int = 0) -> Iterator[Item]:
    """The items of the first `n` clusters of a source (problems, films, questions), in its order; their images go to `store`.

    `source` is a path to the public data set, or `synth` for n clusters drawn with `seed`. Without n: as many as the paper has, or as
    there are. DataError where the source is missing or malformed or holds fewer than n.
    """
    if task not in _DATASETS:
        raise UsageError(f"there is no task {task!r}; there are {', '.join(TASKS)}")
    dataset = _DATASETS[task]
    if n is not None and n < 1:
        raise DataError(f"{task}: n is {n}; it must be at least 1")
    if source == SYNTH:
        if dataset.synthesise is None:
            raise DataError(f"{task}: there is no synthetic twin of it; give the folder of the public data set (vstar has a twin)")
        with tempfile.TemporaryDirectory(prefix="vlmaudit-synth-") as folder:
            dataset.synthesise(Path(folder), n or dataset.usual, seed)
            for item in _first(task, dataset, Path(folder), store, n):
                yield dataclasses.replace(item, source=SYNTH)
    elif Path(source).exists():
        yield from _first(task, dataset, Path(source), store, n)
    else:
        raise DataError(f"{task}: its source {source} does not exist; give the folder of the public data set, or {SYNTH}")


def prepare(wanted: Mapping[str, Asked], data: Path, progress: Progress | None = None) -> dict[str, int]:
    """Make `data/items` and `data/images` hold exactly the items of these tasks; return how many items each has.

    All or nothing: what was there stays until every source has been read. DataError, UsageError as `load`.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".items-", dir=data) as folder:
            counts = _build(wanted, Path(folder), progress or (lambda task, done: None))
            _install(Path(folder), data)
    except OSError as fault:
        raise DataError(f"items cannot be written to {data}: {fault.filename or ''} {fault.strerror or fault}") from None
    return counts


def prepared(wanted: Mapping[str, Asked], data: Path) -> bool:
    """Whether `data/items` was made for exactly this. Sources that have changed since are not looked at: `items` rereads them."""
    made = {path: table.parquet_note(path, _ASKED) for path in (data / "items").glob("*.parquet")}
    images = made.pop(data / "items" / _IMAGES, None)
    return images is not None and made == {_file(data / "items", task): _stamp(task, asked) for task, asked in wanted.items()}


def read(data: Path, task: str) -> Iterator[Item]:
    """The items of a task as `prepare` left them; DataError where it did not."""
    path = _file(data / "items", task)
    if not path.is_file():
        raise DataError(f"{path} does not exist: run `vlmaudit items`")
    for row in table.parquet(path, _ITEM_SCHEMA).iter_rows(named=True):
        yield Item(**{**row, **{name: json.loads(row[name]) for name in _JSON}})


def image_rows(data: Path) -> list[dict[str, Any]]:
    """The rows of `raw.image` for every image that `prepare` stored, by image_sha256."""
    path = data / "items" / _IMAGES
    if not path.is_file():
        raise DataError(f"{path} does not exist: run `vlmaudit items`")
    return table.parquet(path, _IMAGE_SCHEMA).to_dicts()


def _first(task: str, dataset: Dataset, folder: Path, store: Store, n: int | None) -> Iterator[Item]:
    found = 0
    for cluster in islice(dataset.load(folder, store), n or dataset.usual):
        found += 1
        yield from cluster
    if not found:
        raise DataError(f"{task}: {folder} holds no item")
    if n is not None and found < n:
        raise DataError(f"{task}: {folder} holds {found}, fewer than the n of {n} that is asked for")


def _build(wanted: Mapping[str, Asked], folder: Path, progress: Progress) -> dict[str, int]:
    store = Store(folder / "images")
    (folder / "items").mkdir()
    counts = {}
    for task, asked in wanted.items():
        rows = []
        for item in load(task, asked.get("source", SYNTH), store, asked.get("n"), asked.get("seed", 0)):
            rows.append(_row(item))
            progress(task, len(rows))
        _write(_file(folder / "items", task), rows, _ITEM_SCHEMA, _stamp(task, asked))
        counts[task] = len(rows)
    images = sorted(store.rows.values(), key=lambda row: str(row["image_sha256"]))
    _write(folder / "items" / _IMAGES, images, _IMAGE_SCHEMA, "")
    return counts


def _install(staging: Path, data: Path) -> None:
    """Move the new state in, file by file: images first and stale files last, so that at no moment an item lacks its image."""
    parts = {"images": ("*.png", "*.jpg"), "items": ("*.parquet",)}
    names = {part: sorted(path.name for path in (staging / part).iterdir()) for part in parts}
    for part in parts:
        (data / part).mkdir(exist_ok=True)
        for name in names[part]:
            new, old = staging / part / name, data / part / name
            # What has not changed is left alone: it may be a link into DVC's cache, which replacing would turn into a second copy.
            if not (old.is_file() and old.read_bytes() == new.read_bytes()):
                new.replace(old)
    for part, ours in parts.items():
        for stale in {path.name for pattern in ours for path in (data / part).glob(pattern)} - set(names[part]):
            (data / part / stale).unlink()


def _row(item: Item) -> dict[str, str | None]:
    row = dataclasses.asdict(item)
    return {**row, **{name: json.dumps(row[name], ensure_ascii=False) for name in _JSON}}


def _stamp(task: str, asked: Asked) -> str:
    return json.dumps({"task": task, "source": asked.get("source", SYNTH), "n": asked.get("n"), "seed": asked.get("seed", 0)})


def _write(path: Path, rows: list[dict[str, Any]], schema: Mapping[str, Any], stamp: str) -> None:
    polars.DataFrame(rows, schema=schema, orient="row").write_parquet(path, metadata={_ASKED: stamp})


def _file(folder: Path, task: str) -> Path:
    return folder / f"{task.replace('/', '_')}.parquet"
