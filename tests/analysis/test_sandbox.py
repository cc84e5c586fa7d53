"""`vlmaudit sql` reads and does nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from analysis import sandbox, session
from analysis.errors import UsageError
from tests.analysis.conftest import ENVIRONMENT, PROGRAM

READS = [
    "SELECT 1",
    "SELECT 1;",
    "-- why\nSELECT 1 -- what",
    "FROM arm.request SELECT count(*)",
    "VALUES (1), (2)",
    "TABLE stat.parameter",
    "DESCRIBE arm.request",
    "SUMMARIZE stat.parameter",
    "WITH asked AS (SELECT * FROM raw.grid) SELECT count(*) FROM asked UNION ALL SELECT count(*) FROM raw.item",
    "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
    "SELECT item_id, value FROM raw.item, json_each(gold)",
    "SELECT * FROM unnest([1, 2]), range(3)",
    "SELECT * FROM duckdb_views()",
    "SELECT * FROM (PIVOT stat.parameter ON unit IN ('name') USING count(*))",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT count(*) FROM arm.request",
    "/* plan */ explain (format json) SELECT 1",
    "EXPLAIN (SELECT 1)",
    "EXPLAIN /* how */ ANALYZE (SELECT 1) UNION (SELECT 2)",
]

REFUSED = {
    "two statements": "SELECT 1; SELECT 2",
    "no statement": " -- nothing",
    "a statement behind what passes for options": "EXPLAIN (SELECT 1 /*) SELECT 1 -- */ ); CREATE TABLE x AS SELECT 1",
    "a query that passes for options": "EXPLAIN ANALYZE (SELECT * FROM duckdb_settings() /*) SELECT 1 -- */ )",
    "create": "CREATE TABLE x AS SELECT 1",
    "create view": "CREATE VIEW x AS SELECT 1",
    "create or replace": "CREATE OR REPLACE TABLE raw.item AS SELECT 1",
    "insert": "INSERT INTO raw.run VALUES ('x')",
    "update": "UPDATE raw.item SET task = 'x'",
    "delete": "DELETE FROM raw.item",
    "merge": "MERGE INTO stat.parameter USING stat.parameter AS p ON true WHEN MATCHED THEN DELETE",
    "drop": "DROP VIEW arm.request",
    "alter": "ALTER TABLE raw.item ADD COLUMN x INT",
    "insert in a CTE": "WITH x AS (INSERT INTO stat.parameter VALUES ('a', 'b', 'c', 'd') RETURNING *) SELECT * FROM x",
    "delete in a CTE": "WITH x AS (DELETE FROM stat.parameter RETURNING *) SELECT * FROM x",
    "update in a CTE": "WITH x AS (UPDATE stat.parameter SET value = '1' RETURNING *) SELECT * FROM x",
    "delete in a CTE of a subquery": "SELECT (WITH x AS (DELETE FROM stat.parameter RETURNING 1) SELECT count(*) FROM x)",
    "copy": "COPY raw.item TO '{tmp}/out.csv'",
    "copy a query": "COPY (SELECT 1) TO '{tmp}/out.parquet'",
    "export": "EXPORT DATABASE '{tmp}/out'",
    "attach": "ATTACH '{tmp}/other.duckdb'",
    "detach": "DETACH raw",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "pragma": "PRAGMA database_list",
    "set": "SET enable_external_access = true",
    "reset": "RESET lock_configuration",
    "use": "USE raw",
    "call": "CALL pragma_version()",
    "prepare": "PREPARE p AS SELECT 1",
    "begin": "BEGIN",
    "vacuum": "VACUUM",
    "checkpoint": "CHECKPOINT",
    "explain create": "EXPLAIN CREATE TABLE x AS SELECT 1",
    "explain analyze create": "EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1",
    "explain analyze insert": "EXPLAIN (ANALYZE) INSERT INTO raw.run VALUES ('x')",
    "explain analyze copy": "EXPLAIN ANALYZE COPY raw.item TO '{tmp}/out.csv'",
    "explain analyze a delete in a CTE": "EXPLAIN ANALYZE WITH x AS (DELETE FROM stat.parameter RETURNING *) SELECT * FROM x",
    "explain and another": "EXPLAIN SELECT 1; CREATE TABLE x (i INT)",
    "explain explain": "EXPLAIN ANALYZE EXPLAIN ANALYZE CREATE TABLE x (i INT)",
    "quoted path": "SELECT * FROM '{tmp}/secret.csv'",
    "doubly quoted path": 'SELECT * FROM "{tmp}/secret.csv"',
    "read_csv": "SELECT * FROM read_csv('{tmp}/secret.csv')",
    "read_csv in capitals": "SELECT * FROM READ_CSV('{tmp}/secret.csv')",
    "read_csv in a subquery": "SELECT (SELECT min(a) FROM read_csv('{tmp}/secret.csv'))",
    "read_csv described": "FROM (DESCRIBE FROM read_csv('{tmp}/secret.csv'))",
    "read_text": "SELECT content FROM read_text('{tmp}/secret.csv')",
    "read_blob": "SELECT content FROM read_blob('{tmp}/secret.csv')",
    "read_json": "SELECT * FROM read_json('{tmp}/secret.csv')",
    "read_parquet": "SELECT * FROM read_parquet('{tmp}/secret.parquet')",
    "parquet_metadata": "SELECT * FROM parquet_metadata('{tmp}/secret.parquet')",
    "sniff_csv": "SELECT * FROM sniff_csv('{tmp}/secret.csv')",
    "glob": "SELECT * FROM glob('{tmp}/*')",
    "read_duckdb": "SELECT * FROM read_duckdb('{tmp}/warehouse.duckdb')",
    "the network": "SELECT * FROM read_text('http://127.0.0.1:9/x')",
    "query": "SELECT * FROM query('SELECT 1')",
    "query_table": "SELECT * FROM query_table('arm.request')",
    "serialised sql": "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "a pointer": "SELECT * FROM arrow_scan(1, 2, 3)",
    "logging": "SELECT * FROM enable_logging()",
    "profiling": "SELECT * FROM enable_profiling()",
    "checkpoint as a function": "SELECT * FROM force_checkpoint()",
    "grammar extension": "SELECT * FROM add_grammar_extension('x')",
    "external resource": "SELECT * FROM create_external_resource('x')",
    "secrets": "SELECT * FROM duckdb_secrets()",
    "settings": "SELECT * FROM duckdb_settings()",
    "settings through pg_catalog": "SELECT * FROM pg_catalog.pg_settings",
    "getenv": "SELECT getenv('HOME')",
    "current_setting": "SELECT current_setting('http_proxy')",
    "write_log": "SELECT write_log('x')",
    "nextval": "SELECT nextval('x')",
    "a python variable": "SELECT * FROM warehouse",
    "no such view": "SELECT * FROM modality.nothing",
    "no such column": "SELECT nothing FROM arm.request",
    "nonsense": "SELEC 1",
}


def ask(warehouse: Path, query: str) -> list[tuple[object, ...]]:
    checked = sandbox.check(query)
    with session.open(warehouse) as reading:
        reading.need(*reading.mentioned(checked))
        sandbox.lock(reading.connection)
        return reading.fetch(checked)[1]


@pytest.mark.parametrize("query", READS)
def test_a_query_that_only_reads_is_answered(warehouse: Path, query: str) -> None:
    assert ask(warehouse, query)


@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_is_refused_and_leaves_nothing_behind(warehouse: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.csv").write_text("a,b\nhush,2\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises((UsageError, duckdb.Error)) as refusal:
        ask(warehouse, REFUSED[name].format(tmp=tmp_path))
    assert "hush" not in str(refusal.value)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


LOCK_ALONE = [
    name for name in REFUSED if any(word in name for word in ("read_", "path", "glob", "network", "copy", "attach", "install", "set"))
]


@pytest.mark.parametrize("name", [name for name in LOCK_ALONE if "settings" not in name and name not in {"current_setting", "read_duckdb"}])
def test_the_lock_holds_by_itself_where_the_list_of_names_would_not(warehouse: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.csv").write_text("a,b\nhush,2\n")
    with session.open(warehouse) as reading:
        sandbox.lock(reading.connection)
        with pytest.raises(duckdb.Error):
            reading.connection.execute(REFUSED[name].format(tmp=tmp_path)).fetchall()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.csv", "warehouse.duckdb"]


def test_no_setting_repeats_an_environment_variable(warehouse: Path) -> None:
    program = f"""
from pathlib import Path
from analysis import sandbox, session
with session.open(Path({str(warehouse)!r})) as reading:
    sandbox.lock(reading.connection)
    print(reading.connection.execute("FROM duckdb_settings()").fetchall())
"""
    names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "HOME", "USER", "AWS_SECRET_ACCESS_KEY", "OPENROUTER_API_KEY", "XDG_CACHE_HOME"]
    planted = {name: f"/planted-{place}" for place, name in enumerate(names)}
    done = subprocess.run([sys.executable, "-c", program], env={**ENVIRONMENT, **planted}, capture_output=True, text=True, check=True)
    assert "allow_unsigned_extensions" in done.stdout
    assert "planted" not in done.stdout


def test_a_table_function_that_duckdb_adds_is_refused_until_it_is_read(warehouse: Path) -> None:
    with duckdb.connect() as connection:
        known = connection.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table'").fetchall()
    refused = 0
    for (name,) in known:
        if name not in sandbox.TABLE_FUNCTIONS:
            with pytest.raises(UsageError, match="refused"):
                sandbox.check(f'SELECT * FROM "{name}"(1)')
            refused += 1
    assert refused > 50


def _stopped_after(command: list[str], presses: int) -> tuple[int, str, float]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
    time.sleep(3)  # starting takes most of it; the query would take hours
    assert process.poll() is None
    sent = time.monotonic()
    for _ in range(presses):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    _, err = process.communicate(timeout=30)
    return process.returncode, err, time.monotonic() - sent


@pytest.mark.parametrize(("form", "presses"), [("csv", 1), ("parquet", 1), ("csv", 3)])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM range(10000000000) a, range(10000000000) b WHERE hash(a.range, b.range) = 1",
        "SELECT * FROM range(100000000000)",
    ],
    ids=["counting", "fetching"],
)
def test_a_long_query_ends_on_ctrl_c(warehouse: Path, query: str, form: str, presses: int) -> None:
    code, err, took = _stopped_after([*PROGRAM, "sql", query, "--warehouse", str(warehouse), "--format", form], presses)
    assert code == 130
    assert err.strip() == "error: stopped"
    assert took < 5
