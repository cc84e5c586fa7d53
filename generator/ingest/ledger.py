"""What a file has said so far: each row once, and of each item one thing only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from generator.ingest.lines import Facts, Row, canonical
from generator.ingest.report import Unusable
from generator.ingest.source import members, scan
from generator.warehouse import KEYS

STORED = 0  # stands in the place of a line number for what the warehouse holds


@dataclass
class _Item:
    facts: dict[tuple[str, ...], tuple[str, int]] = field(default_factory=dict)
    """JSON text and the line that said it first, by path."""
    stored: bool = False


@dataclass
class Ledger:
    """Refuses what contradicts, or repeats, an earlier line or a stored item; the first always stays."""

    source: str
    _lines: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _items: dict[str, _Item] = field(default_factory=dict)
    _spelt: dict[tuple[str, str], tuple[bool, int]] = field(default_factory=dict)

    def admit(self, line: int, row: Row) -> None:
        """Take a row into account; Unusable, naming both lines, where it repeats or contradicts an earlier one."""
        self._check_spelling(line, row)
        said = {("task",): json.dumps(row.values["task"]), **row.item} if "item_id" in row.values else {}
        item = self._items.get(row.values.get("item_id", ""), _Item())
        _check_agreement(line, row, said, item)
        key = (row.table, *(row.values[name] for name in KEYS[row.table]))
        if first := self._lines.get(key):
            raise Unusable("repeated", f"line {first} holds the same {named(row)}")
        self._lines[key] = line
        for name, text, is_number in row.spelt:
            self._spelt.setdefault((name, text), (is_number, line))
        if said:
            item.facts |= {path: (text, line) for path, text in said.items() if path not in item.facts}
            self._items[row.values["item_id"]] = item

    def unknown_items(self, rows: Iterable[Row]) -> list[str]:
        """The items of these rows of which nothing was said yet."""
        return sorted({row.values["item_id"] for row in rows if "item_id" in row.values} - self._items.keys())

    def hold(self, stored: Mapping[str, Any]) -> None:
        """Take an item of the warehouse into account; nothing can be added to it."""
        facts: Facts = {(name,): json.dumps(stored[name]) for name in ("task", "cluster_id")}
        if stored["gold"] is not None:
            facts[("gold",)] = stored["gold"]
        for name in ("inputs", "annotation"):
            facts |= {(name, key): member.text for key, member in members(stored[name] or "{}").items()}
        self._items[stored["item_id"]] = _Item({path: (text, STORED) for path, text in facts.items()}, stored=True)

    def is_stored(self, item_id: str) -> bool:
        """Whether the warehouse holds the item."""
        return item_id in self._items and self._items[item_id].stored

    def new_items(self) -> Iterable[dict[str, Any]]:
        """Rows of raw.item for the items that the warehouse does not hold; the cluster of an item is itself where none is given."""
        for item_id, item in self._items.items():
            if not item.stored:
                yield _item_row(item_id, {path: text for path, (text, _) in item.facts.items()}, self.source)

    def _check_spelling(self, line: int, row: Row) -> None:
        for name, text, is_number in row.spelt:
            was_number, first = self._spelt.get((name, text), (is_number, line))
            if was_number != is_number:
                one, other = (text, f'"{text}"') if was_number else (f'"{text}"', text)
                raise Unusable("one id in two types", f"{name} is {one} on line {first} and {other} on line {line}")


def _check_agreement(line: int, row: Row, said: Facts, item: _Item) -> None:
    """Nothing is said twice in different words, and nothing of a stored item is said that could not be added to it any more."""
    for path, text in said.items():
        before, first = item.facts.get(path, ("null", STORED))
        is_new = path not in item.facts and not (item.stored and path in (("gold",), ("cluster_id",)))
        if not is_new and not _equal(before, text):
            where = f"on line {first}" if first else "in the warehouse"
            raise Unusable(
                "one item, two contents",
                f"item {row.values['item_id']!a} has {_cut('.'.join(path))} {_cut(before)} {where} and {_cut(text)} on line {line}",
            )


def named(row: Row) -> str:
    """A row in words: its key, or the condition that its key is a digest of."""
    names: Iterable[str] = KEYS[row.table]
    if row.table == "completion":
        names = ("model_id", "thinking", "task", "item_id", "arm", "template", "replicate", "attempt", "rollout_id", "turn")
    return f"{row.table} " + ", ".join(f"{name} {row.values[name]!a}" for name in names if name in row.values)


def _item_row(item_id: str, facts: Facts, source: str) -> dict[str, Any]:
    row: dict[str, Any] = {"item_id": item_id, "cluster_id": item_id, "source": source}
    nested: dict[str, list[str]] = {"inputs": [], "annotation": []}
    for path, text in facts.items():
        if len(path) == 2:
            nested[path[0]].append(f"{json.dumps(path[1])}: {text}")
        else:
            row[path[0]] = text if path[0] == "gold" else json.loads(text)
    return row | {name: f"{{{', '.join(parts)}}}" for name, parts in nested.items() if parts}


def _equal(one: str, other: str) -> bool:
    try:
        return one == other or canonical(scan(one, 0)[0]) == canonical(scan(other, 0)[0])
    except RecursionError:
        return False


def _cut(text: str) -> str:
    return ascii(text[:60])[1:-1] + ("…" if len(text) > 60 else "")
