"""Literal rows in, literal rows out: run one view over small tables written down in a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import duckdb

from analysis.catalog import Catalog, load
from analysis.session import Session, on

Rows = Sequence[Mapping[str, Any]]


@cache
def _catalog() -> Catalog:
    return load()


def empty_warehouse() -> duckdb.DuckDBPyConnection:
    """An in-memory database with empty raw tables attached as `raw`."""
    connection = duckdb.connect()
    connection.execute("ATTACH ':memory:' AS raw")
    connection.execute("USE raw")
    connection.execute(_catalog().raw_schema)
    connection.execute("USE memory")
    return connection


def insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Rows) -> None:
    """Insert dicts by column name; a column that a row leaves out is NULL."""
    for row in rows:
        names = ", ".join(f'"{name}"' for name in row)
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' for _ in row)})", list(row.values()))


def run(view: str, given: Mapping[str, Rows], settings: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """The rows of `view` over the given tables.

    `given` maps a raw table (`raw.completion`) or a view that the tested one reads (`arm.answer`) to its literal rows; a given view
    takes the place of the file's, with the column types that the file's has. Raw tables not given are empty; NOT NULL columns of a
    raw table must be given.
    """
    connection = empty_warehouse()
    session = on(connection, settings, _catalog())
    replaced = [name for name in given if not name.startswith("raw.")]
    for name in replaced:
        _replace(session, name, given[name])
    for name in given:
        if name.startswith("raw."):
            insert(connection, name, given[name])
    return session.rows(f"SELECT * FROM {view}")


def _replace(session: Session, name: str, rows: Rows) -> None:
    schema = name.partition(".")[0]
    session.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    session.connection.execute(f"CREATE TABLE {name} ({', '.join(_columns(name))})")
    insert(session.connection, name, rows)
    session._created.add(name)


@cache
def _columns(name: str) -> tuple[str, ...]:
    """The columns of the file's own view, with their types: finding them binds all that it reads, so it is done once."""
    typed = on(empty_warehouse(), None, _catalog())
    typed.need(name)
    return tuple(f'"{column[0]}" {column[1]}' for column in typed.connection.execute(f"DESCRIBE SELECT * FROM {name}").fetchall())
