"""One study's calls as answers per item: latest attempts, a film's poster answer copied to its summaries, what each arm said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from tests.independent.calls import Row, genre_set, read_call
from tests.independent.sums import Scored


class Cell(NamedTuple):
    model_id: str
    thinking: bool
    task: str


class Request(NamedTuple):
    model_id: str
    thinking: bool
    task: str
    item_id: str
    arm: str
    template: str
    replicate: int

    @property
    def cell(self) -> Cell:
        return Cell(self.model_id, self.thinking, self.task)


class Study:
    """Everything that the views ask of the rows, which are in the ingest form: one dict a call."""

    def __init__(self, rows: Iterable[Row], replicate: int = 0, policy: str = "relevant") -> None:
        self.rows = [{"thinking": False, "attempt": 1, "replicate": 0, **row} for row in rows]
        self.replicate, self.policy = replicate, policy
        self.items = {row["item_id"]: row["item"] for row in self.rows}

    def gold(self, task: str, item_id: str) -> str:
        gold = self.items[item_id]["gold"]
        return str(genre_set(gold) if task == "mmimdb" else gold)

    def cluster(self, item_id: str) -> str:
        return str(self.items[item_id]["cluster_id"])

    def n_clusters(self, item_ids: Iterable[str]) -> int:
        return len({self.cluster(item_id) for item_id in item_ids})

    def size(self, item_ids: Sequence[str]) -> Row:
        return {"n_items": len(item_ids), "n_clusters": self.n_clusters(item_ids)}

    def evidence(self, item_id: str) -> str | None:
        """The set that holds the annotated camera; None where that is not exactly one."""
        note = self.items[item_id].get("annotation") or {}
        held = [name for name in ("A", "B") if note.get("golden_view") in (note.get(f"set_{name.lower()}") or [])]
        return held[0] if len(held) == 1 else None

    @cached_property
    def calls(self) -> Mapping[Request, Row]:
        """The latest attempt of each request, read."""
        latest: dict[Request, Row] = {}
        for row in self.rows:
            request = Request(*(row[name] for name in Request._fields))
            if request not in latest or row["attempt"] > latest[request]["attempt"]:
                latest[request] = row
        return {request: {**row, **read_call(row, self._offered(request.item_id))} for request, row in latest.items()}

    def _offered(self, item_id: str) -> Sequence[str]:
        return tuple((self.items[item_id].get("annotation") or {}).get("options") or "ABCD")

    @cached_property
    def answers(self) -> Mapping[Request, Row]:
        """The same at row grain: a film's B answer stands for each of its summaries that the study asks this model and mode about."""
        summaries: dict[tuple[Cell, str], set[str]] = defaultdict(set)
        for request in self.calls:
            if request.task == "mmimdb" and request.arm not in ("B", "title"):
                summaries[request.cell, self.cluster(request.item_id)].add(request.item_id)
        rows = {}
        for request, row in self.calls.items():
            copied = summaries[request.cell, request.item_id] if request.task == "mmimdb" and request.arm == "B" else set()
            for item_id in sorted(copied) or [request.item_id]:
                rows[request._replace(item_id=item_id)] = row
        return rows

    @cached_property
    def _asked(self) -> Mapping[tuple[Cell, str, str], list[str]]:
        asked: dict[tuple[Cell, str, str], list[str]] = defaultdict(list)
        for request in self.answers:
            if request.replicate == self.replicate:
                asked[request.cell, request.arm, request.template].append(request.item_id)
        return dict(asked)

    def asked(self, cell: Cell, arm: str, template: str) -> list[str]:
        """The items that the study asks of one arm and template at the headline replicate."""
        return self._asked.get((cell, arm, template), [])

    @property
    def templates(self) -> list[tuple[Cell, str, str]]:
        return sorted(self._asked)

    @property
    def cells(self) -> list[Cell]:
        return sorted({cell for cell, _, _ in self._asked})

    def conditions(self, *arms: str) -> list[tuple[Cell, str]]:
        """The cells and arms that the study asks a self-report of."""
        return [(cell, arm) for cell in self.cells for arm in arms if self.asked(cell, arm, "assess")]

    def field(self, cell: Cell, item_id: str, arm: str, template: str, name: str = "answer", replicate: int | None = None) -> str | None:
        """What one call said, where the field policy lets it count."""
        row = self.answers.get(Request(*cell, item_id, arm, template, self.replicate if replicate is None else replicate), {})
        return row.get(name) if self.policy == "relevant" or row.get("outcome") == "usable" else None

    @cached_property
    def scored(self) -> Mapping[tuple[Cell, str, str, int], dict[str, Scored]]:
        """Cell, arm, template, replicate -> item -> (gold, answer or None) of every attempted row, whatever the policy."""
        found: dict[tuple[Cell, str, str, int], dict[str, Scored]] = defaultdict(dict)
        for request, row in self.answers.items():
            gold = self.gold(request.task, request.item_id)
            found[request.cell, request.arm, request.template, request.replicate][request.item_id] = (gold, row["answer"])
        return found

    def headline(self, cell: Cell, arm: str, template: str) -> dict[str, Scored]:
        return self.scored.get((cell, arm, template, self.replicate), {})
