"""A row as a line of JSON, and the journal: what was received and is not merged into the warehouse yet."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from analysis import catalog
from analysis.errors import DataError

Row = Mapping[str, Any]
Record = tuple[str, Row]  # a raw table's name and one row of it

to_json = json.JSONEncoder(ensure_ascii=False).encode


class Journal:
    """Records in the order they arrived, one line of JSON each.

    A line is written by one system call, so a killed process loses none that was appended; once `sync` has returned, a power failure
    loses none either. One thread may append while another syncs, or takes what is there to merge it.
    """

    def __init__(self, warehouse: Path) -> None:
        self.path = warehouse.with_name(f"{warehouse.name}.journal")
        self.taken = warehouse.with_name(f"{warehouse.name}.journal.merging")
        self._file: int | None = None
        self._lock = threading.Lock()

    def append(self, records: Iterable[Record]) -> None:
        """Write records by one system call: afterwards all are in the journal, or DataError is raised and none is."""
        lines = b"".join(to_json({"table": table, "row": encode(table, row)}).encode() + b"\n" for table, row in records)
        with self._lock:
            if self._file is None:
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            end = os.fstat(self._file).st_size
            try:
                written, reason = os.write(self._file, lines), "the disk is full"
            except OSError as fault:
                written, reason = 0, str(fault.strerror)
            if written < len(lines):
                os.ftruncate(self._file, end)
                raise DataError(f"{self.path} cannot be written ({reason}): make room and run again; what was received before is kept")

    def sync(self) -> None:
        """Return once all that was appended before this call is on the disk."""
        with self._lock:
            file = os.dup(self._file) if self._file is not None else None
        if file is not None:
            os.fsync(file)  # outside the lock: appending goes on meanwhile
            os.close(file)

    def take(self) -> Iterator[Path]:
        """The files to merge, oldest first, set aside so that appending goes on in a new one; the caller removes each once merged."""
        if self.taken.exists():  # left by a merge that was interrupted
            yield self.taken
        with self._lock:
            if self._file is not None:
                os.fsync(self._file)
                os.close(self._file)
                self._file = None
            if not self.path.exists():
                return
            os.replace(self.path, self.taken)
        yield self.taken

    def close(self) -> None:
        """Stop appending; what is in the file is merged by the next writer."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None


def read(path: Path) -> Iterator[Record]:
    """The encoded records of a journal file; a last line that was cut short is none. Raises DataError naming a damaged line."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                record = json.loads(line)
                yield record["table"], record["row"]
            except (ValueError, KeyError, TypeError):
                raise DataError(f"{path} line {number} is damaged: move that line elsewhere, then run again to merge the others") from None


def encode(table: str, row: Row) -> dict[str, Any]:
    """A row as JSON carries it without loss: bytes in base64, times and JSON as text, the body in the column that can hold it.

    Raises DataError naming a column that does not exist, or a number or half a surrogate pair where text belongs.
    """
    types = columns_of(table)
    encoded: dict[str, Any] = {}
    for name, value in row.items():
        if name not in types:
            raise DataError(f"raw.{table} has no column {name!r}: it has {', '.join(types)}")
        if value is None:
            continue
        if (table, name) == ("completion", "response"):
            encoded |= _body(value)
        else:
            encoded[name] = _value(f"raw.{table}.{name}", types[name], value)
    return encoded


def _body(body: bytes | str) -> dict[str, str]:
    """A response body verbatim: as text where it is valid UTF-8 (NUL included), else as bytes."""
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    try:
        return {"response": data.decode()}
    except UnicodeDecodeError:
        return {"response_bytes": base64.b64encode(data).decode()}


def _value(column: str, kind: str, value: Any) -> Any:
    if kind == "BLOB":
        return base64.b64encode(value).decode()
    if kind == "JSON":
        return _json_text(value)
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).replace(tzinfo=None).isoformat(sep=" ")
    if kind == "VARCHAR" and not isinstance(value, str):
        raise DataError(f'{column} is text, not {value!r}: write it in quotes, so that 1 and "1" cannot be mixed up')
    if kind == "VARCHAR" and not _is_unicode(value):
        raise DataError(f"{column} {value!r} holds half a surrogate pair, which is no text")
    return value


def _json_text(value: Any) -> str:
    """JSON that DuckDB accepts: half a surrogate pair, which it refuses, becomes `?`. (A body is no JSON column and stays as it came.)"""
    text = value if isinstance(value, str) else to_json(value)
    if "\\ud" in text or "\\uD" in text:
        try:
            text = to_json(json.loads(text))
        except ValueError:
            return text  # no JSON: DuckDB says where
    return text if _is_unicode(text) else text.encode("utf-8", "replace").decode()


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        return bool(text.encode())
    except UnicodeEncodeError:
        return False


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    connection = duckdb.connect()
    try:
        connection.execute(catalog.load().raw_schema)
        found: dict[str, dict[str, str]] = {}
        for table, name, kind in connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index"
        ).fetchall():
            found.setdefault(table, {})[name] = kind
        return found
    finally:
        connection.close()


def columns_of(table: str) -> Mapping[str, str]:
    """The columns of a raw table with their types, in the order of `sql/raw`; DataError where there is no such table."""
    if table not in _tables():
        raise DataError(f"there is no raw table {table!r}: there are {', '.join(_tables())}")
    return _tables()[table]
