"""IsoBench (hub `isobench/IsoBench`): math_parity and graph_maxflow, from the hub's parquet files.

Seed 000, B.2: both tasks in full (384 and 128 items of the one public split, `validation`); the text of a function is its `latex`, not
its `code`; the text of a graph is its adjacency matrix as the file has it. Labels are recomputed exactly, and stand beside the file's in
`annotation.recomputed_gold`: of the public set five parity labels are wrong, and `f(x) = 0` is both even and odd (`["even", "odd"]`).
Where the code is no rational function in x, what it would be is unknown: null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars

from analysis.errors import DataError
from generator.images import Store
from generator.items import rational, table
from generator.items.item import Item

PARITY = "isobench/math_parity"
MAXFLOW = "isobench/graph_maxflow"
PARITIES = ("even", "odd", "neither")
HUB = "isobench/IsoBench"

_IMAGE = polars.Struct({"bytes": polars.Binary, "path": polars.String})
_PARITY_COLUMNS = {"image": _IMAGE, "latex": polars.String, "code": polars.String, "label": polars.String, "id": polars.String}
_MAXFLOW_COLUMNS = {
    "image": _IMAGE,
    "source_node": polars.Int64,
    "source_node_color": polars.String,
    "sink_node": polars.Int64,
    "sink_node_color": polars.String,
    "adjacency_matrix": polars.String,
    "label": polars.Int64,
    "id": polars.String,
}

Row = dict[str, Any]


def load_parity(source: Path, store: Store) -> Iterator[list[Item]]:
    """The items of math_parity. inputs: text (LaTeX), code, image."""
    for name, row, origin in _rows(PARITY, source, _PARITY_COLUMNS):
        if row["label"] not in PARITIES:
            raise DataError(f"{name}: the label {row['label']!r} is none of {', '.join(PARITIES)}")
        item = Item(
            item_id=name,
            task=PARITY,
            cluster_id=name,
            gold=row["label"],
            inputs={"text": row["latex"], "code": row["code"], "image": store.add(row["image"]["bytes"], name)},
            annotation={"id": row["id"], "recomputed_gold": parity(row["code"], name)},
            **origin,
        )
        yield [item]


def load_maxflow(source: Path, store: Store) -> Iterator[list[Item]]:
    """The items of graph_maxflow. inputs: text (the matrix, verbatim), image, and how source and sink are numbered and coloured."""
    terminals = ("source_node", "sink_node", "source_node_color", "sink_node_color")
    for name, row, origin in _rows(MAXFLOW, source, _MAXFLOW_COLUMNS):
        text = row["adjacency_matrix"]
        flow = max_flow(capacities(text, name), row["source_node"], row["sink_node"], name)
        item = Item(
            item_id=name,
            task=MAXFLOW,
            cluster_id=name,
            gold=row["label"],
            inputs={"text": text, "image": store.add(row["image"]["bytes"], name), **{key: row[key] for key in terminals}},
            annotation={"id": row["id"], "recomputed_gold": flow},
            **origin,
        )
        yield [item]


def parity(code: str, name: str) -> str | list[str] | None:
    """`even`, `odd` or `neither`, both for the zero function, None where `f(x) = <expression>` is no rational function in x.

    DataError names `name` where the code is nothing of that form.
    """
    form = re.fullmatch(r"\s*f\(x\)\s*=(.*)", code, flags=re.DOTALL)
    try:
        if not form:
            raise SyntaxError("no `f(x) = …`")
        held = rational.symmetries(rational.read(form[1]))
    except rational.NotRationalError:
        return None
    except SyntaxError as fault:
        raise DataError(f"{name}: the code {code[:80]!r} is no function of x ({fault.msg})") from None
    return held if len(held) > 1 else (held or ["neither"])[0]


def capacities(text: str, name: str) -> list[list[int]]:
    """The square matrix of an adjacency text: entry (i, j) is the capacity of the edge i → j, 0 where there is none."""
    matrix = table.parse(text, f"{name}: the adjacency matrix")
    square = isinstance(matrix, list) and all(isinstance(row, list) and len(row) == len(matrix) for row in matrix)
    if not square or not all(type(entry) is int and entry >= 0 for row in matrix for entry in row):
        raise DataError(f"{name}: the adjacency matrix is no square of whole capacities from 0")
    return list(matrix)


def max_flow(matrix: list[list[int]], source: int, sink: int, name: str) -> int:
    """The largest flow from source to sink, nodes counted from 0; DataError names `name` where they are no two nodes of the graph."""
    import networkx  # type: ignore[import-untyped]  # here, not above: only these 128 items need it

    if source == sink or not {source, sink} <= set(range(len(matrix))):
        raise DataError(f"{name}: source {source} and sink {sink} are no two nodes of a graph of {len(matrix)}")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(matrix)))
    graph.add_edges_from(
        (i, j, {"capacity": capacity}) for i, row in enumerate(matrix) for j, capacity in enumerate(row) if capacity and i != j
    )
    return int(networkx.maximum_flow_value(graph, source, sink))


def _rows(task: str, source: Path, columns: dict[str, Any]) -> Iterator[tuple[str, Row, dict[str, str]]]:
    """Item id, row and origin of each row, numbered from 0 over the files in order; every cell is there and every id occurs once."""
    seen: dict[str, str] = {}
    place = 0
    for path in _files(task, source):
        origin = {"source": f"{HUB}/{task.partition('/')[2]}/{path.name}", "source_sha256": table.digest(path)}
        for row in table.parquet(path, columns).iter_rows(named=True):
            name = f"{task}/{place}"
            place += 1
            if empty := [key for key in columns if row[key] is None] + ([] if row["image"] and row["image"]["bytes"] else ["image"]):
                raise DataError(f"{name}: {', '.join(dict.fromkeys(empty))} is missing in {path}")
            if (first := seen.setdefault(row["id"], name)) != name:
                raise DataError(f"{path}: {first} and {name} have the same id {row['id']!r}")
            yield name, row, origin


def _files(task: str, source: Path) -> list[Path]:
    """The parquet files of the task: `source` is one, or the folder of the data set, or that of the one task."""
    config = task.partition("/")[2]
    if source.is_file():
        return [source]
    for folder in (source / config, source):
        for pattern in ("validation-*.parquet", "validation/*.parquet"):
            if files := sorted(folder.glob(pattern)):
                return table.all_shards(files)
    raise DataError(f"{source} has no {config}/validation-00000-of-00001.parquet: give the folder of the {HUB} data set")
