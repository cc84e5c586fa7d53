"""What a view, or one of its columns, is computed from, down to the raw tables.

A column's lineage follows values: what only filters or joins rows is seen in the lineage of the view, not of the column.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp
from sqlglot.lineage import lineage

from analysis.catalog import RAW, Catalog
from analysis.errors import UsageError
from analysis.session import Session, empty_warehouse, on

FORMATS = ("text", "mermaid", "json")


@dataclass(frozen=True)
class Graph:
    """Addresses (`schema.view`, or `schema.view.column`) and, for each, the addresses that it is computed from."""

    root: str
    sources: Mapping[str, Sequence[str]]

    @property
    def edges(self) -> Iterator[tuple[str, str]]:
        """Every (source, what is computed from it)."""
        return ((source, node) for node, sources in self.sources.items() for source in sources)


def trace(catalog: Catalog, address: str) -> Graph:
    """The graph below `schema.view` or `schema.view.column`; UsageError where there is no such view or column."""
    parts = address.split(".")
    if len(parts) != 3:
        catalog.require(address)
        return Graph(address, {name: sorted(catalog[name].reads) for name in reversed(catalog.closure([address]))})
    view, column = ".".join(parts[:2]).lower(), parts[2].lower()
    catalog.require(view)
    return _columns(_Schema(catalog), view, column)


def _columns(schema: _Schema, view: str, column: str) -> Graph:
    known = schema.columns(view)
    if column not in known:
        raise UsageError(f"{view} has no column {column!r}: it has {', '.join(known)}")
    sources: dict[str, list[str]] = {}
    todo = [(view, column)]
    while todo:
        view, column = todo.pop()
        if f"{view}.{column}" in sources:
            continue
        below = schema.below(view, column)
        sources[f"{view}.{column}"] = [".".join(place) for place in below]
        todo += [place for place in reversed(below) if not place[0].startswith(f"{RAW}.")]
    return Graph(next(iter(sources)), sources)


class _Schema:
    """The columns of every view and raw table, as an empty warehouse binds them."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    @cached_property
    def _session(self) -> Session:
        return on(empty_warehouse(self.catalog), catalog=self.catalog)

    def columns(self, name: str) -> dict[str, str]:
        """The columns of a view or raw table and their types."""
        if not name.startswith(f"{RAW}."):
            self._session.need(name)
        return {row[0].lower(): row[1] for row in self._session.connection.execute(f"DESCRIBE FROM {name}").fetchall()}

    def below(self, view: str, column: str) -> list[tuple[str, str]]:
        """The columns of other views and raw tables that one column of a view takes its values from."""
        shape: dict[str, dict[str, dict[str, str]]] = {}
        for read in self.catalog[view].reads:
            schema, _, name = read.partition(".")
            shape.setdefault(schema, {})[name] = self.columns(read)
        node = lineage(column, self.catalog[view].tree.copy(), shape, dialect="duckdb")
        found = {
            (f"{leaf.expression.db}.{leaf.expression.name}".lower(), leaf.name.rpartition(".")[2].strip('"').lower())
            for leaf in node.walk()
            if isinstance(leaf.expression, exp.Table) and leaf.expression.db
        }
        return sorted(found)


def render(graph: Graph, format: str) -> str:  # noqa: A002 - the option's name
    """The graph as an indented text, a Mermaid flowchart or JSON (`root`, `edges` of `from` and `to`)."""
    if format == "text":
        return "\n".join(_indented(graph, graph.root, 0, set())) + "\n"
    if format == "mermaid":
        return "\n".join(["flowchart LR", *(f'    {_id(a)}["{a}"] --> {_id(b)}["{b}"]' for a, b in graph.edges)]) + "\n"
    if format == "json":
        return json.dumps({"root": graph.root, "edges": [{"from": a, "to": b} for a, b in graph.edges]}, indent=1) + "\n"
    raise UsageError(f"--format {format}: lineage is written as {', '.join(FORMATS)}")


def _id(address: str) -> str:
    return address.replace(".", "__")


def _indented(graph: Graph, node: str, depth: int, shown: set[str]) -> Iterator[str]:
    again = node in shown and graph.sources.get(node)
    yield "  " * depth + node + (" (above)" if again else "")
    if not again:
        shown.add(node)
        for source in graph.sources.get(node, ()):
            yield from _indented(graph, source, depth + 1, shown)
