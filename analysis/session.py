"""A DuckDB connection on which the raw tables and the needed views can be read.

`open()` makes an in-memory database with the warehouse (its DuckDB file, or its tables as a folder of Parquet) attached read-only as
`raw`; `on()` does the same on a connection that already has it attached (the writer's own, while it writes). Views are created in
dependency order; one that several others read (header `-- cache:`) is computed once, into a table of the in-memory database, or taken
from the cache on disk. Nothing is stored in the warehouse.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from analysis.catalog import RAW, Catalog, load
from analysis.errors import DataError, LockedError, UsageError
from analysis.syntax import literal

if TYPE_CHECKING:
    import polars

    from analysis.cache import Cache

WAREHOUSE = Path("data/warehouse.duckdb")
FETCHED_AT_ONCE = 16_384
ROW_GROUP = 16_384  # rows that one thread reads at a time: DuckDB must be told at every attach, or one thread reads a small study alone
MEMORY, MEMORY_LIMIT = "VLMAUDIT_MEMORY", "3GB"  # what does not fit spills to disk: a study of a million completions runs on a laptop
WAIT_S = 5.0  # how long a reader waits for a writer's merge, which takes milliseconds


class Session:
    """A connection with `raw` attached, on which views are created when first asked for."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, catalog: Catalog, settings: Mapping[str, str], cache: Cache | None = None
    ) -> None:
        self.connection = connection
        self.catalog = catalog
        self.cache = cache
        self._created: set[str] = set()
        self._schemas: set[str] = set()
        self._create("stat.parameter", as_table=True)
        self.parameters = self._override(settings)

    def _override(self, settings: Mapping[str, str]) -> dict[str, str | None]:
        known, units = {}, {}
        for name, value, unit in self.connection.execute("SELECT name, value, unit FROM stat.parameter ORDER BY name").fetchall():
            known[name], units[name] = value, unit
        for name, value in settings.items():
            if name not in known:
                raise UsageError(f"there is no parameter {name!r}: `vlmaudit show stat.parameter` lists them")
            if wanted := unmet(value, units[name]):
                raise UsageError(f"--set {name}={value}: {name} takes {wanted}")
            self.connection.execute("UPDATE stat.parameter SET value = ? WHERE name = ?", [value, name])
        return {**known, **settings}

    def _create(self, name: str, as_table: bool) -> None:
        schema, _, view = name.partition(".")
        if schema not in self._schemas:
            self.connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
            self._schemas.add(schema)
        kind = "TABLE" if as_table else "VIEW"
        try:
            self.connection.execute(f'CREATE {kind} "{schema}"."{view}" AS {self.catalog[name].text}')
        except duckdb.InterruptException:
            raise
        except duckdb.Error as fault:
            raise DataError(f"sql/{schema}/{view}.sql cannot be computed: {one_line(fault)}") from None
        self._created.add(name)

    def need(self, *names: str) -> None:
        """Create these views and all that they read, where that has not been done."""
        for name in names:
            self.catalog.require(name)
        self.catalog.closure(names)
        for name in names:
            self._provide(name)

    def _provide(self, name: str) -> None:
        """Create one view after all that it reads, or take it, without them, from the cache."""
        if name in self._created:
            return
        kept = self.catalog[name].cache is not None
        if kept and self.cache and self.cache.restore(self, name):
            self._created.add(name)
            return
        for read in sorted(self.catalog.dependencies(name)):
            self._provide(read)
        self._create(name, as_table=kept)
        if kept and self.cache:
            self.cache.keep(self, name)

    def mentioned(self, query: str) -> list[str]:
        """The views whose names stand in a query's text."""
        found = {f"{schema}.{name}".lower() for schema, name in re.findall(r'"?(\w+)"?\s*\.\s*"?(\w+)"?', query)}
        return sorted(found & self.catalog.keys())

    def query(self, sql: str, parameters: Any = None) -> polars.DataFrame:
        """Run one query, creating the views it mentions first. Columns keep DuckDB's types; JSON columns are text."""
        import polars  # here, not above: importing it costs more than most commands that need no frame

        self.need(*self.mentioned(sql))
        relation = self.connection.sql(sql, params=parameters)
        if (names := distinct(relation.columns)) != relation.columns:
            columns = (f'#{place} AS "{name.replace(chr(34), chr(34) * 2)}"' for place, name in enumerate(names, 1))
            relation = relation.project(", ".join(columns))
        for name, kind in zip(relation.columns, relation.types, strict=True):
            if re.search(r"\b(INTERVAL|UNION)\b", str(kind)):
                raise UsageError(f"the column {name!r} is of type {kind}, which a data frame cannot hold: cast it to VARCHAR")
        return polars.DataFrame(relation)  # over Arrow's C stream; `.pl()` would need pyarrow

    def fetch(self, sql: str, parameters: Any = None) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The same as column names and rows of plain Python values."""
        self.need(*self.mentioned(sql))
        result = self.connection.execute(sql, parameters)
        names = distinct([column[0] for column in result.description or []])
        # by parts, because one long fetch cannot be interrupted
        return names, [row for part in iter(lambda: result.fetchmany(FETCHED_AT_ONCE), []) for row in part]

    def rows(self, sql: str, parameters: Any = None) -> list[dict[str, Any]]:
        """The same as a list of dicts of plain Python values."""
        names, rows = self.fetch(sql, parameters)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def studies(self) -> list[str]:
        """The studies of the warehouse, by name."""
        return [row[0] for row in self.connection.execute(f"SELECT DISTINCT study FROM {RAW}.grid ORDER BY study").fetchall()]

    def shown(self) -> list[str]:
        """The studies that this session's views read, by name."""
        return [row[0] for row in self.fetch("SELECT study FROM arm.study ORDER BY study")[1]]


def distinct(names: Sequence[str]) -> list[str]:
    """Column names, each once: of several that are the same the later ones are numbered, as DuckDB numbers those of a subquery."""
    found: list[str] = []
    for name in names:
        numbered = [name, *(f"{name}_{place}" for place in range(1, len(names)))]
        found.append(next(each for each in numbered if each not in found))
    return found


def unmet(value: str, unit: str) -> str | None:
    """What a parameter of that unit takes, where the value is none of it."""
    if "|" in unit:
        words = unit.split("|")
        return None if value in words else f"one of {', '.join(words)}"
    if unit == "fraction":
        return None if _number(value) is not None and 0 < float(value) < 1 else "a fraction between 0 and 1"
    if unit in {"name", "text"}:
        return None if value else "a name"
    if unit in {"integer", "resamples", "clusters", "calls"}:
        return None if re.fullmatch(r"\d{1,9}", value) else "a whole number of at most nine digits"
    return None if _number(value) is not None else "a number"


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def on(connection: duckdb.DuckDBPyConnection, settings: Mapping[str, str] | None = None, catalog: Catalog | None = None) -> Session:
    """A session on an in-memory connection to which the warehouse is already attached as `raw`."""
    return Session(connection, catalog or load(), settings or {})


@contextmanager
def open(warehouse: Path = WAREHOUSE, settings: Mapping[str, str] | None = None, catalog: Catalog | None = None) -> Iterator[Session]:
    """Open a warehouse (its DuckDB file, or a folder of its tables as Parquet) read-only in a fresh in-memory database.

    Raises DataError where the file is missing or is no warehouse, LockedError where a writer holds it for longer than a merge takes.
    """
    from analysis import kept
    from analysis.cache import Cache

    place = kept.folder()
    cache = Cache(place, warehouse) if place else None
    connection = connect()
    try:
        known = catalog or load()
        attach(connection, warehouse, raw_schema=known.raw_schema)
        if missing := sorted({"completion", "grid"} - set(tables(connection))):
            raise DataError(f"{warehouse} is no warehouse: it has no table {' or '.join(missing)}; `vlmaudit doctor` says more")
        yield Session(connection, known, settings or {}, cache)
    finally:
        if cache:
            cache.close()
        if not isinstance(sys.exception(), KeyboardInterrupt):  # a query that Ctrl-C has not ended yet would hold us up
            connection.close()


def connect() -> duckdb.DuckDBPyConnection:
    """A fresh in-memory database. What is too much for its memory it spills into a folder of its own, which is gone at the end.

    UsageError where VLMAUDIT_MEMORY is no size.
    """
    folder = Path(tempfile.gettempdir()) / f"vlmaudit-{os.getpid()}-{secrets.token_hex(4)}"
    limit = os.environ.get(MEMORY) or MEMORY_LIMIT
    if not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", limit):
        raise UsageError(f"{MEMORY}={limit}: it takes a size such as 8GB")
    return duckdb.connect(config={"python_enable_replacements": False, "memory_limit": limit, "temp_directory": str(folder)})


def empty_warehouse(catalog: Catalog | None = None) -> duckdb.DuckDBPyConnection:
    """An in-memory database with empty raw tables attached as `raw`: enough to bind views and to read parameters."""
    connection = duckdb.connect(config={"python_enable_replacements": False})
    connection.execute(f"ATTACH ':memory:' AS {RAW}")
    connection.execute(f"USE {RAW}")
    connection.execute((catalog or load()).raw_schema)
    connection.execute("USE memory")
    return connection


def defaults(catalog: Catalog | None = None) -> Mapping[str, str | None]:
    """The parameters of the analysis and their values, where none is set."""
    return on(empty_warehouse(catalog), catalog=catalog).parameters


def attach(connection: duckdb.DuckDBPyConnection, warehouse: Path, alias: str = RAW, raw_schema: str | None = None) -> None:
    """Attach a warehouse read-only, waiting a little for a writer that is merging: its DuckDB file, or its tables as a folder of Parquet.

    `raw_schema` (by default this installation's) says which columns the tables of a folder have.
    """
    if not warehouse.exists():
        raise DataError(f"no warehouse at {warehouse}: `vlmaudit generate` or `vlmaudit ingest` makes one")
    if warehouse.is_dir():
        from analysis import raw_parquet

        try:
            raw_parquet.attach(connection, warehouse, alias, raw_schema or load().raw_schema)
        except duckdb.Error as fault:
            raise DataError(f"{warehouse} cannot be read as a warehouse: {one_line(fault)}") from None
        return
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            connection.execute(f"ATTACH {literal(str(warehouse))} AS {alias} (READ_ONLY, ROW_GROUP_SIZE {ROW_GROUP})")
            return
        except duckdb.IOException as fault:
            if "could not set lock" not in str(fault).lower():
                raise _unreadable(warehouse, fault) from None
            if time.monotonic() > deadline:
                raise LockedError(f"{warehouse} is held by another process ({holder(fault)}): wait for it to end, or stop it") from None
            time.sleep(0.02)
        except duckdb.Error as fault:
            raise _unreadable(warehouse, fault) from None


def _unreadable(warehouse: Path, fault: duckdb.Error) -> DataError:
    is_foreign_log = "wal" in str(fault).lower()  # which no writer can mend: the file was put in another's place
    if warehouse.with_name(f"{warehouse.name}.undo").exists() and not is_foreign_log:  # see generator/undo.py
        return DataError(
            f"a writer of {warehouse} was killed: nothing is lost, and the next writing command mends it (`vlmaudit generate`)"
        )
    return DataError(f"{warehouse} cannot be read as a warehouse: {one_line(fault)}; `vlmaudit doctor` says more")


def first_line(fault: BaseException) -> str:
    """The first line of a fault's message, or the fault's kind where it has none."""
    return str(fault).strip().splitlines()[0] if str(fault).strip() else type(fault).__name__


def one_line(fault: BaseException) -> str:
    """DuckDB's message without the query it repeats: what is wrong, and what it proposes instead."""
    if isinstance(fault, duckdb.OutOfMemoryException):
        return f"it needs more than {os.environ.get(MEMORY) or MEMORY_LIMIT} of memory: allow more with {MEMORY}=8GB"
    said = str(fault).split("\nLINE ")[0].split()
    return " ".join(said) or type(fault).__name__


def holder(fault: BaseException) -> str:
    """The process that DuckDB's message names as holding the lock."""
    found = re.search(r"held in (.*?)\s*\(PID (\d+)\)", str(fault))
    return f"{Path(found[1]).name}, PID {found[2]}" if found else one_line(fault)


def tables(connection: duckdb.DuckDBPyConnection) -> Iterable[str]:
    """The raw tables of the attached warehouse."""
    found = f"SELECT table_name FROM information_schema.tables WHERE table_catalog = '{RAW}' ORDER BY table_name"
    return [row[0] for row in connection.execute(found).fetchall()]
