"""The items that studies ask for: which there must be, making them where they are not, reading a study's own, and their raw rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.errors import DataError
from generator import items
from generator.items import Item
from generator.journal import Row
from generator.study import Study


def wanted(studies: Iterable[Study]) -> dict[str, items.Asked]:
    """The items that the studies need together: of each task its one source, and as many items as the study that asks for most."""
    asked: dict[str, items.Asked] = {}
    for each in studies:
        for task, source in each.tasks.items():
            mine: items.Asked = {"source": source.source, "n": source.n, "seed": source.seed}
            other = asked.setdefault(task, mine)
            if (other["source"], other["seed"]) != (mine["source"], mine["seed"]):
                raise DataError(
                    f"studies.{each.name}.tasks.{task}: another study reads {task} from {other['source']} (seed {other['seed']}), "
                    f"not from {source.source} (seed {source.seed}); one warehouse holds one set of items: use a params file for each"
                )
            if other["n"] is not None and (mine["n"] is None or mine["n"] > other["n"]):
                asked[task] = mine
    return asked


def prepare(studies: Iterable[Study], data: Path, say: Callable[[str], None] | None = None) -> None:
    """Make `data/items` where it is not what the studies need."""
    needed = wanted(studies)
    if not items.prepared(needed, data):
        counts = items.prepare(needed, data)
        if say:
            say(f"made {', '.join(f'{count} items of {task}' for task, count in counts.items())} in {data / 'items'}")


def items_of(each: Study, data: Path) -> Iterator[Item]:
    """The items of a study in order: of each task those of its first n clusters."""
    for task, source in each.tasks.items():
        clusters: set[str] = set()
        for item in items.read(data, task):
            clusters.add(item.cluster_id)
            if source.n is not None and len(clusters) > source.n:
                break
            yield item


def item_row(item: Item) -> dict[str, Any]:
    """An item's row of `raw.item`."""
    return {**vars(item), **{name: json.dumps(getattr(item, name), ensure_ascii=False) for name in ("gold", "inputs", "annotation")}}


def image_rows(chosen: Iterable[Item], data: Path) -> Iterator[Row]:
    """The rows of `raw.image` for the images that these items show."""
    shown = {text for item in chosen for text in _leaves(item.inputs)}
    return (row for row in items.image_rows(data) if row["image_sha256"] in shown)


def _leaves(value: Any) -> Iterator[str]:
    """The texts in an item's inputs, those of nested objects included."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value
