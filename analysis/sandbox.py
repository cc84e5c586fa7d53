"""What `vlmaudit sql` lets a query do: read. One SELECT, or EXPLAIN of one, on a connection that can no longer reach anything else.

Two walls, each enough by itself for what it covers. `check` reads DuckDB's own syntax tree, so a write hidden in a CTE and a function
that reads a file, a setting or a pointer are refused by name; `lock` takes the file system, the network and the settings away from
the connection, so what no list foresaw fails too.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import duckdb

from analysis.errors import UsageError
from analysis.session import one_line

T = TypeVar("T")
STOPPING_S = 5.0  # a query that has not ended by then is left to end with the process

# Table functions that compute from their arguments or describe the views; every other one reads files, settings or memory, or writes.
TABLE_FUNCTIONS = frozenset(
    {"unnest", "range", "generate_series", "repeat", "repeat_row", "json_each", "json_tree", "histogram", "histogram_values", "summary"}
    | {"duckdb_columns", "duckdb_tables", "duckdb_views", "duckdb_schemas", "duckdb_types", "duckdb_functions", "duckdb_keywords"}
    | {"pragma_table_info", "pragma_version"}
)
# Scalar functions that leave a trace or reach out of the query.
FORBIDDEN_FUNCTIONS = frozenset({"getenv", "current_setting", "write_log", "nextval", "setval", "currval", "setseed", "sleep_ms"})
# Views of DuckDB's own catalogue that show settings, and settings repeat environment variables (a proxy, the home directory).
FORBIDDEN_TABLES = frozenset({"duckdb_settings", "pg_settings", "duckdb_logs", "duckdb_secrets"})
READING_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})

# The options in parentheses are plain words, so that nothing (a comment, a string, the query itself) can pass for them.
_GAP = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_EXPLAIN = re.compile(
    rf"{_GAP}explain\b{_GAP}(?P<how>analyze\b|\(\s*(?:analyze|format)\b[\w\s,]*\))?(?P<what>.*)", re.IGNORECASE | re.DOTALL
)


def check(query: str) -> str:
    """The query as it may be run: itself, or EXPLAIN rebuilt around the SELECT that was checked.

    Raises UsageError for anything but one SELECT (or EXPLAIN of one), and for functions and tables that see more than the warehouse.
    """
    with duckdb.connect(config={"python_enable_replacements": False}) as parser:
        if explained := _EXPLAIN.fullmatch(query):
            _check_select(parser, explained["what"])
            return f"EXPLAIN {explained['how'] or ''} {explained['what']}"
        _check_select(parser, query)
        return query


def _check_select(parser: duckdb.DuckDBPyConnection, query: str) -> None:
    try:
        statements = parser.extract_statements(query)
    except duckdb.Error as fault:
        raise UsageError(one_line(fault)) from None
    if len(statements) != 1:
        raise UsageError(f"`sql` takes exactly one SELECT; this holds {len(statements) or 'no'} statements")
    kind = statements[0].type.name
    if kind != "SELECT":
        hint = "; list the pivoted values with IN (…), or use sum(x) FILTER (WHERE …)" if kind == "MULTI" else ""
        raise UsageError(f"`sql` takes exactly one SELECT, or EXPLAIN of one, not {kind}{hint}")
    try:
        tree = parser.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchall()[0][0]
        error = parser.execute("SELECT json_extract_string(?, ['$.error', '$.error_message'])", [tree]).fetchall()[0][0]
        found = parser.execute(_MENTIONED, [tree]).fetchall()
    except duckdb.Error as fault:
        raise UsageError(one_line(fault)) from None
    if error[0] != "false":
        raise UsageError(f"`sql` takes exactly one SELECT, or EXPLAIN of one: {error[1]}")
    for what, name in found:
        if what == "node" and name.upper() not in READING_NODES:
            raise UsageError(f"`sql` only reads: {name.removesuffix('_QUERY_NODE').removesuffix('_NODE')} inside a SELECT is refused")
        if what == "table function" and name.lower() not in TABLE_FUNCTIONS:
            raise UsageError(f"`sql` reads views and raw tables only: the table function {name}() is refused")
        if what == "function" and name.lower() in FORBIDDEN_FUNCTIONS:
            raise UsageError(f"`sql` reads views and raw tables only: the function {name}() is refused")
        if what == "table" and name.lower() in FORBIDDEN_TABLES:
            raise UsageError(f"`sql` reads views and raw tables only: {name} is refused")


# In the tree a table function is a function under the key `function` of its table reference.
_MENTIONED = """
    SELECT DISTINCT
        CASE
            WHEN key = 'type' THEN 'node'
            WHEN key = 'table_name' THEN 'table'
            WHEN path LIKE '%.function' THEN 'table function'
            ELSE 'function'
        END AS what,
        json_extract_string(atom, '$') AS name
    FROM json_tree(?::JSON)
    WHERE key IN ('table_name', 'function_name')
        OR (key = 'type' AND json_extract_string(atom, '$') LIKE '%\\_NODE' ESCAPE '\\')
    ORDER BY ALL
"""


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Take files, network, extensions and settings away from a connection, for good. Views it needs must exist by now."""
    for setting in ("http_proxy", "http_proxy_username", "http_proxy_password", "secret_directory", "home_directory"):
        connection.execute(f"SET {setting} = ''")  # they may repeat environment variables
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def interruptible(work: Callable[[], T], *connections: duckdb.DuckDBPyConnection) -> T:
    """Do `work`, which uses the connections, on a thread of its own, so that Ctrl-C ends a long query at once (KeyboardInterrupt)."""
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["value"] = work()
        except BaseException as fault:  # noqa: BLE001 - carried to the caller's thread and raised there
            outcome["fault"] = fault

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
    except KeyboardInterrupt:
        _stop(thread, connections)
        raise
    if "fault" in outcome:
        raise outcome["fault"]
    value: T = outcome["value"]
    return value


def _stop(thread: threading.Thread, connections: Iterable[duckdb.DuckDBPyConnection]) -> None:
    """End the queries that a thread runs, however often Ctrl-C is pressed meanwhile."""
    deadline = time.monotonic() + STOPPING_S
    while thread.is_alive() and time.monotonic() < deadline:
        with suppress(KeyboardInterrupt):
            for connection in connections:
                connection.interrupt()
            thread.join(0.1)
