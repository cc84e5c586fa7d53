"""Calls to a model as literal rows, and the views over many of them in one query."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from analysis.session import Session, on
from tests.sql.literal import empty_warehouse

Row = dict[str, Any]


def body(content: Any, finish: str | None = "stop", choice: Mapping[str, Any] | None = None, **message: Any) -> str:
    """A chat-completion body; keywords are further fields of the message, `choice` of the choice."""
    said = {"role": "assistant", "content": content, **message}
    return json.dumps({"id": "gen-1", "choices": [{"index": 0, "message": said, "finish_reason": finish, **(choice or {})}]})


def call(
    key: str, response: str | None, task: str = "isobench/math_parity", arm: str = "A", template: str = "plain", **columns: Any
) -> Row:
    """A row of raw.completion whose completion and request are named `key`."""
    identity = {"completion_id": key, "request_key": key, "attempt": 1, "protocol": "modality", "model_id": "m", "thinking": False}
    asked = {"task": task, "item_id": f"{task}/0", "arm": arm, "template": template, "replicate": 0}
    return {**identity, **asked, "http_status": 200, "response": response, **columns}


def session(
    completions: Iterable[Row], items: Iterable[Row] = (), grid: Iterable[Row] = (), settings: Mapping[str, str] | None = None
) -> Session:
    """A session over these raw rows; the grid asks for every call that is there, where it is not given."""
    connection = empty_warehouse()
    completions, grid = list(completions), list(grid)
    asked = ("request_key", "protocol", "model_id", "thinking", "task", "item_id", "arm", "template", "replicate")
    if not grid:
        boundary = {"study": "s", "grid_id": "0001-a", "created_at": "2026-01-01"}
        grid = list({row["request_key"]: {**boundary, **{name: row[name] for name in asked}} for row in completions}.values())
    with TemporaryDirectory() as folder:
        for table, rows in (("completion", completions), ("item", list(items)), ("grid", grid)):
            if rows:
                _load(connection, table, rows, Path(folder))
    return on(connection, settings)


def _load(connection: Any, table: str, rows: list[Row], folder: Path) -> None:
    path = folder / f"{table}.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    types = dict(connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE raw.{table})").fetchall())
    present = {name: types[name] for name in types if any(name in row for row in rows)}
    columns = ", ".join(f"'{name}': '{'VARCHAR' if kind == 'BLOB' else kind}'" for name, kind in present.items())
    names = ", ".join(f'"{name}"' for name in present)
    connection.execute(
        f"INSERT INTO raw.{table} ({names}) SELECT {names} FROM read_json('{path}', format='newline_delimited', "
        f"columns={{{columns}}}, maximum_object_size=100000000)"
    )


def fields(reading: Session, view: str = "parse.field") -> dict[tuple[str, str], Row]:
    """The rows of a parse view by completion and label."""
    return {(row["completion_id"], row["label"]): row for row in reading.rows(f"SELECT * FROM {view}")}
