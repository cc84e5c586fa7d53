"""The one file between generating and analysing: a journal that loses nothing, merged into a DuckDB file in short transactions.

`writer()` is the only way in. A finished response goes to the journal (durable at once) and is merged later, so that readers are
locked out for milliseconds. Rows are merged by their table's key: what is stored already is skipped, so that a merge may be repeated
after any interruption; with nothing new the file is not even opened for writing, and its bytes do not change.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from analysis import catalog, session
from analysis.errors import DataError, LockedError
from analysis.syntax import literal
from generator import undo
from generator.journal import Journal, Record, Row, columns_of, encode, read, to_json

__all__ = ["KEYS", "Writer", "columns_of", "completion_id", "create", "lock_holder", "make_private", "quoted", "writer"]

STORAGE_VERSION = "v1.4.0"  # older DuckDB releases can still open the file
KEYS: Mapping[str, tuple[str, ...]] = {
    "item": ("item_id",),
    "completion": ("completion_id",),
    "rollout": ("rollout_id",),
    "observation": ("rollout_id", "turn", "call_index", "draw"),
    "probe": ("rollout_id", "turn", "call_index", "stage", "draw", "attempt"),
    "image": ("image_sha256",),
    "run": ("run_id",),
}
FIRST_WINS = frozenset({"image", "run"})  # two sources may come to the same sent image: the row stored first stays
ORIGIN = frozenset({"run_id", "source", "source_sha256"})  # who wrote a row and what file it was read from: not what it says
CHUNK_BYTES = 64 << 20  # merged at once: bounds memory, and the time for which readers are locked out
MIN_OBJECT_BYTES = 16 << 20  # read_json's own default
MEMORY_LIMIT = "1GB"
LOCKED = "could not set lock"  # how DuckDB says that another process has the file open


def completion_id(request_key: str, attempt: int) -> str:
    """The id of one call: 32 hexadecimal digits of the digest of the request and the attempt (from 1)."""
    return hashlib.sha256(f"{request_key}|{attempt}".encode()).hexdigest()[:32]


def cell_columns() -> list[str]:
    """The columns of `raw.grid` that say what is asked for."""
    return [name for name in columns_of("grid") if name not in ("study", "grid_id", "created_at")]


def grid_digest(rows: Iterable[Row]) -> str:
    """12 hexadecimal digits over what a grid asks for (rows of `cell_columns`), in which order and repetition do not count."""
    lines = sorted({json.dumps(row, sort_keys=True) for row in rows})
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def create(path: Path) -> None:
    """Make an empty warehouse; the file appears whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    connection = duckdb.connect()
    try:
        connection.execute(f"ATTACH {quoted(new)} AS raw (STORAGE_VERSION '{STORAGE_VERSION}', ROW_GROUP_SIZE {session.ROW_GROUP})")
        connection.execute("USE raw")
        connection.execute(catalog.load().raw_schema)
        connection.execute("USE memory")
        connection.execute("CHECKPOINT raw")
        connection.execute("DETACH raw")
    finally:
        connection.close()
    os.replace(new, path)


def make_private(path: Path) -> None:
    """Replace a link into a cache, or a read-only file, by a copy: writing through it would corrupt what DVC keeps."""
    status = path.lstat()
    if not path.is_symlink() and status.st_nlink == 1 and status.st_mode & 0o200:
        return
    copy = path.with_name(f"{path.name}.copy")
    shutil.copyfile(path, copy)
    copy.chmod(0o644)
    os.replace(copy, path)


@contextmanager
def writer(path: Path) -> Iterator[Writer]:
    """Hold the warehouse as its one writer; what an earlier run left in the journal is merged first.

    The file is made when the first row is merged. Raises LockedError where another process writes, DataError where the folder
    cannot be written.
    """
    with _lock(path):
        opened = Writer(path)
        try:
            opened.recover()
            yield opened
        finally:
            opened.close()


class Writer:
    """Merges rows by key, appends grids, and keeps the journal of one warehouse."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = Journal(path)
        self.connection = duckdb.connect(config={"memory_limit": MEMORY_LIMIT, "python_enable_replacements": False})
        self.connection.execute("SET checkpoint_threshold = '1TB'")  # once at the end of each writing, and never twice: see undo

    def close(self) -> None:
        """Close the journal as it is: what is in it is merged by the next writer."""
        self.connection.close()
        self.journal.close()

    def merge(self, table: str, rows: Iterable[Row]) -> int:
        """Insert the rows whose key is not stored yet, in chunks of short transactions; returns how many were inserted.

        A row is a dict by column name; a column left out is NULL. A JSON column takes JSON text (str), or a dict or list to be
        written as such. `response` takes the body as received (bytes) or text; what is not valid UTF-8 goes to `response_bytes`.
        A row that is stored already is skipped. Raises DataError where the same key is stored with other content (run and source aside).
        """
        return self.merge_records((table, row) for row in rows)[table]

    def merge_records(self, records: Iterable[Record]) -> Counter[str]:
        """The same for rows of several tables; those of one chunk are committed together. Returns the rows inserted by table."""
        return self._merge_encoded((table, encode(table, row)) for table, row in records)

    def merge_journal(self) -> Counter[str]:
        """Merge what the journal holds so far, then drop it; records may be appended meanwhile, from another thread."""
        inserted: Counter[str] = Counter()
        for part in self.journal.take():
            inserted += self._merge_encoded(_with_response(read(part)))
            part.unlink()  # only now: a crash before this line repeats a merge that then finds nothing new
        return inserted

    def recover(self) -> None:
        """Mend the file where a writer was killed in the middle, and merge the rows that it left: in its journal, or committed but still in
        DuckDB's write-ahead log.
        """
        if pieces := undo.torn(self.path):
            make_private(self.path)
            undo.restore(self.path, pieces)
        undo.forget(self.path)
        if self.path.exists() and self.path.with_name(f"{self.path.name}.wal").exists():
            with self.writing():
                pass  # opening replays the log, closing writes it into the file
        self.merge_journal()

    def append_grid(self, study: str, cells: Iterable[Row]) -> bool:
        """Append what a study asks for as its newest grid, unless that asks for exactly the same requests; True if appended.

        A cell has every column of raw.grid but study, grid_id and created_at. grid_id is a running number and a digest of the cells.
        """
        rows = [{name: cell.get(name) for name in cell_columns()} for cell in cells]
        digest = grid_digest(rows)
        newest = self._newest_grid(study)
        if newest.endswith(f"-{digest}") or not rows:
            return False
        grid_id = f"{int(newest.partition('-')[0] or 0) + 1:04d}-{digest}"
        common = {"study": study, "grid_id": grid_id, "created_at": datetime.now(UTC)}
        chunk = _Chunk()  # one, however large: a part of a grid, left by a kill, would be taken for the whole
        for row in rows:
            chunk.add("grid", encode("grid", {**common, **row}))
        with chunk:
            self._merge_chunk(chunk)
        return True

    def _newest_grid(self, study: str) -> str:
        if not self.path.exists():
            return ""
        with self.reading() as connection:
            found = connection.execute("SELECT max(grid_id) FROM raw.grid WHERE study = ?", [study]).fetchone()
        return (found and found[0]) or ""

    def _merge_encoded(self, records: Iterable[Record]) -> Counter[str]:
        inserted: Counter[str] = Counter()
        for chunk in _chunks(records):
            with chunk:
                inserted += self._merge_chunk(chunk)
        return inserted

    def _merge_chunk(self, chunk: _Chunk) -> Counter[str]:
        for table in chunk.tables:
            self._stage(table, chunk)
        if self.path.exists():
            with self.reading():
                for table in chunk.tables:
                    self._drop_stored(table)
        counts = Counter({table: self._count(f"fresh_{table}") for table in chunk.tables})
        fresh = [table for table, count in counts.items() if count]
        if fresh:
            with self.writing() as connection:
                connection.execute("BEGIN")
                for table in fresh:
                    connection.execute(f"INSERT INTO raw.{table} BY NAME SELECT * FROM fresh_{table}")
                connection.execute("COMMIT")
        for table in chunk.tables:
            self.connection.execute(f"DROP TABLE fresh_{table}")
        return counts

    def _stage(self, table: str, chunk: _Chunk) -> None:
        """Read the chunk's rows of one table into the in-memory table fresh_<table>, typed as the warehouse has them."""
        types = columns_of(table)
        as_text = {"BLOB": "from_base64({0})", "JSON": "{0}::JSON"}
        read = ", ".join(f"\"{name}\": '{'VARCHAR' if kind in as_text else kind}'" for name, kind in types.items())
        select = ", ".join(f"{as_text.get(kind, '{0}').format(_name(name))} AS {_name(name)}" for name, kind in types.items())
        try:
            self.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE fresh_{table} AS SELECT {select} FROM read_json({quoted(chunk.files[table])}, "
                f"format = 'newline_delimited', maximum_object_size = {chunk.longest + MIN_OBJECT_BYTES}, columns = {{{read}}})"
            )
        except (duckdb.ConversionException, duckdb.InvalidInputException) as fault:
            raise DataError(f"a row for raw.{table} has a value of another type: {session.first_line(fault)}") from None

    def _drop_stored(self, table: str) -> None:
        """Leave in fresh_<table> only rows whose key is not stored; joins build on the fresh rows, so stored ones take no memory."""
        if table not in KEYS:  # grid
            return
        key = ", ".join(map(_name, KEYS[table]))
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE stored_key AS SELECT {key} FROM raw.{table} AS stored SEMI JOIN fresh_{table} USING ({key})"
        )
        if not self._count("stored_key"):
            return
        if table not in FIRST_WINS:
            self._refuse_other_content(table)
        self.connection.execute(f"DELETE FROM fresh_{table} WHERE ({key}) IN (SELECT ({key}) FROM stored_key)")

    def _refuse_other_content(self, table: str) -> None:
        key = ", ".join(map(_name, KEYS[table]))
        differs = " OR ".join(
            f"fresh.{_name(name)} IS DISTINCT FROM stored.{_name(name)}"
            for name in columns_of(table)
            if name not in KEYS[table] and name not in ORIGIN
        )
        source = ", fresh.source, stored.source" if table == "item" else ""
        found = self.connection.execute(
            f"SELECT {key}{source} FROM fresh_{table} AS fresh INNER JOIN raw.{table} AS stored USING ({key}) WHERE {differs} LIMIT 1"
        ).fetchone()
        if found:
            raise _other_content(table, dict(zip([*KEYS[table], "fresh", "stored"], found, strict=False)))

    def _count(self, table: str) -> int:
        found = self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(found[0]) if found else 0

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The warehouse attached read-only as `raw`."""
        session.attach(self.connection, self.path)
        try:
            yield self.connection
        finally:
            self.connection.execute("DETACH raw")

    @contextmanager
    def writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The warehouse, made where it is missing, attached for writing, for as short as can be.

        On the way out it is checkpointed, so that no `.wal` remains.
        """
        if self.path.exists():
            make_private(self.path)
        else:
            create(self.path)
        _attach_for_writing(self.connection, self.path)
        try:
            undo.save(self.path, undo.metadata(self.connection, "raw"))
            yield self.connection
            self.connection.execute("CHECKPOINT raw")
        except BaseException:
            with suppress(duckdb.Error):
                self.connection.execute("ROLLBACK")
            raise
        finally:
            self.connection.execute("DETACH raw")
        undo.forget(self.path)


def _with_response(records: Iterable[Record]) -> Iterator[Record]:
    """A run's row goes in with its first response: alone it would change the file although nothing was answered."""
    runs: dict[str, Row] = {}
    for table, row in records:
        if table == "run":
            runs[row["run_id"]] = row
            continue
        if row.get("run_id") in runs:
            yield "run", runs.pop(row["run_id"])
        yield table, row


class _Chunk:
    """Encoded rows in temporary files of JSON lines, one file a table, each key once."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="vlmaudit-")
        self._open: dict[str, Any] = {}
        self._seen: dict[tuple[str, ...], bytes] = {}
        self.files: dict[str, Path] = {}
        self.longest = 0
        self.size = 0

    def __enter__(self) -> _Chunk:
        for file in self._open.values():
            file.close()
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    @property
    def tables(self) -> list[str]:
        return list(self.files)

    def add(self, table: str, row: Row) -> None:
        line = to_json(row).encode() + b"\n"
        if self._repeats(table, row, line):
            return
        if table not in self._open:
            self.files[table] = Path(self._folder.name, f"{table}.jsonl")
            self._open[table] = self.files[table].open("wb")
        self._open[table].write(line)
        self.longest = max(self.longest, len(line))
        self.size += len(line)

    def _repeats(self, table: str, row: Row, line: bytes) -> bool:
        """Whether the chunk holds the row already; DataError where it holds its key with other content."""
        if table not in KEYS:
            return False
        key = (table, *(str(row.get(name)) for name in KEYS[table]))
        digest = hashlib.blake2b(line, digest_size=16).digest()
        if key not in self._seen:
            self._seen[key] = digest
            return False
        if self._seen[key] != digest and table not in FIRST_WINS:
            raise _other_content(table, {**row, "fresh": row.get("source"), "stored": row.get("source")})
        return True


def _chunks(records: Iterable[Record]) -> Iterator[_Chunk]:
    chunk = _Chunk()
    for table, row in records:
        chunk.add(table, row)
        if chunk.size >= CHUNK_BYTES:
            yield chunk
            chunk = _Chunk()
    if chunk.size:
        yield chunk


def _other_content(table: str, row: Row) -> DataError:
    named = ", ".join(f"{name} {row[name]!r}" for name in KEYS[table])
    if table == "item":
        return DataError(
            f"item {row['item_id']!r} has two contents: stored from {row['stored'] or 'an unnamed source'}, now from "
            f"{row['fresh'] or 'an unnamed source'}; give one of them another id, or use another warehouse"
        )
    return DataError(
        f"raw.{table} holds {named} already, with other content: nothing stored is ever replaced; a new answer is a higher attempt"
    )


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Be the only writer, by an advisory lock that ends with the process however it ends; the file tells others who holds it."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as fault:
        raise DataError(f"cannot write in {path.parent}: {fault.strerror}; make it writable, or choose another --warehouse") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockedError(f"{path} is being written by {lock_holder(path)}: wait for it to end, or stop it") from None
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()} {' '.join([Path(sys.argv[0]).name, *sys.argv[1:2]])}\n".encode(), 0)
        yield
    finally:
        os.close(file)


def lock_holder(path: Path) -> str:
    """Who wrote the lock file last: `PID 123 (vlmaudit generate)`."""
    try:
        pid, _, command = path.with_name(f"{path.name}.lock").read_text(encoding="utf-8", errors="replace").strip().partition(" ")
    except OSError:
        pid, command = "", ""
    return f"PID {pid} ({command})" if pid else "another process"


def _attach_for_writing(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Attach the warehouse read-write, waiting a little for readers, who hold it while they read."""
    deadline = time.monotonic() + session.WAIT_S
    while True:
        try:
            connection.execute(f"ATTACH {quoted(path)} AS raw (ROW_GROUP_SIZE {session.ROW_GROUP})")
            return
        except duckdb.Error as fault:
            if LOCKED not in str(fault).lower():
                raise DataError(f"{path} cannot be written: {session.first_line(fault)}; `vlmaudit doctor` says more") from None
            if time.monotonic() > deadline:
                raise LockedError(
                    f"{path} is being read by another process ({session.holder(fault)}): nothing is lost; run again when it has ended"
                ) from None
            time.sleep(0.02)


def quoted(path: Path) -> str:
    """A path as a SQL literal: ATTACH takes no parameter."""
    return literal(str(path))


def _name(column: str) -> str:
    return f'"{column}"'
