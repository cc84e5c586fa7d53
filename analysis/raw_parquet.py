"""The raw tables as partitioned Parquet: what another engine or another machine reads in place of the warehouse's DuckDB file.

A folder of one folder a table, and in those that are large one folder a value of what people filter on, in Hive's form:
`completion/model_id=org%2Fname/task=vstar/data_0.parquet`. Names of values are percent-encoded; the values are text, whatever they look
like. Files of several such folders may be put together as long as no row is in two of them.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from analysis.catalog import RAW
from analysis.errors import DataError
from analysis.syntax import literal

if TYPE_CHECKING:
    from analysis.session import Session

PARTITIONS: Mapping[str, tuple[str, ...]] = {"completion": ("model_id", "task"), "grid": ("study",), "item": ("task",)}


def write(session: Session, out: Path) -> list[str]:
    """Write every raw table of a session into a folder, in place of what an earlier call wrote there; the paths, relative to `out`.

    The folder appears whole or not at all. Raises DataError where it holds anything else, or cannot be written.
    """
    from analysis.session import tables

    names = list(tables(session.connection))
    if out.exists() and not _is_ours(out, names):
        raise DataError(f"{out} holds other things than raw tables: name a folder of their own with --out")
    partial, former = (out.with_name(f".{out.name}.{os.getpid()}.{what}") for what in ("partial", "former"))
    try:
        for name in names:
            _copy(session.connection, name, partial / name)
        if out.exists():
            out.rename(former)
        partial.rename(out)
    except OSError as fault:
        raise DataError(f"cannot write {out}: {fault.strerror}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(former, ignore_errors=True)
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*.parquet"))


def _is_ours(out: Path, names: Sequence[str]) -> bool:
    return out.is_dir() and all(entry.is_dir() and entry.name in names for entry in out.iterdir())


def _copy(connection: duckdb.DuckDBPyConnection, name: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    parts = f", PARTITION_BY ({', '.join(PARTITIONS[name])})" if name in PARTITIONS else ", PER_THREAD_OUTPUT"
    connection.execute(f'COPY {RAW}."{name}" TO {literal(str(folder))} (FORMAT parquet, COMPRESSION zstd, OVERWRITE_OR_IGNORE{parts})')


def attach(connection: duckdb.DuckDBPyConnection, folder: Path, alias: str, raw_schema: str) -> None:
    """Make a database `alias` whose tables are views over a folder of Parquet; a table that has no file is empty.

    Columns have the types and the order of the raw schema. Once external access is taken away, the connection may still read this folder,
    and no other. Raises DataError where the folder holds no raw tables, or a table lacks a column.
    """
    place = folder.resolve()
    connection.execute(f"ATTACH ':memory:' AS {alias}")
    (before,) = connection.execute("SELECT current_database()").fetchall()[0]
    connection.execute(f"USE {alias}")
    connection.execute(raw_schema)
    connection.execute(f'USE "{before}"')
    columns = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = ? ORDER BY table_name, column_index"
    declared: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(columns, [alias]).fetchall():
        declared.setdefault(table, {})[column] = kind
    found = [table for table in declared if any((place / table).rglob("*.parquet"))]
    if missing := sorted({"completion", "grid"} - set(found)):
        said = f"it holds no Parquet files of the raw table {' or '.join(missing)}; `vlmaudit export --raw parquet` writes such a folder"
        raise DataError(f"{folder} cannot be read as a warehouse: {said}")
    for table in found:
        _view(connection, place / table, f'{alias}."{table}"', declared[table])
    connection.execute(f"SET allowed_directories = [{literal(str(place))}]")


def _view(connection: duckdb.DuckDBPyConnection, folder: Path, name: str, columns: Mapping[str, str]) -> None:
    files = literal(f"{glob.escape(str(folder))}/**/*.parquet")
    kinds = ", ".join(f"'{column}': VARCHAR" for column in PARTITIONS.get(folder.name, ()))
    parts = f"hive_partitioning = true, hive_types_autocast = false, hive_types = {{{kinds}}}" if kinds else "hive_partitioning = false"
    read = f"read_parquet({files}, union_by_name = true, {parts})"
    there = {row[0] for row in connection.execute(f"DESCRIBE FROM {read}").fetchall()}
    if absent := sorted(columns.keys() - there):
        raise DataError(f"{folder} lacks the column {', '.join(absent)}: export it again with `vlmaudit export --raw parquet`")
    chosen = ", ".join(f'CAST("{column}" AS {kind}) AS "{column}"' for column, kind in columns.items())
    connection.execute(f"DROP TABLE {name}")
    connection.execute(f"CREATE VIEW {name} AS SELECT {chosen} FROM {read}")
