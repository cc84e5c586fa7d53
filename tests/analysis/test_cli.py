"""The reading commands, from the words typed to what is written and the exit code."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import duckdb
import polars
import pytest

from tests.analysis.conftest import ENVIRONMENT, PROGRAM, Said, body, write_study
from tests.sql.literal import insert

Run = Callable[..., Said]


def one_error(said: Said, code: int, *words: str) -> None:
    """The command ended with that code, wrote nothing, and said why in one line that holds these words."""
    assert said.code == code
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("error: ")
    for word in words:
        assert word in said.err


def test_help_lists_every_command_and_imports_nothing_heavy() -> None:
    program = "import sys, vlmaudit; code = vlmaudit.main(['--help']); print(sorted(sys.modules)); sys.exit(code)"
    done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    for command in ("items", "generate", "ingest", "status", "doctor", "sql", "show", "table", "views", "lineage", "audit", "export"):
        assert f"\n  {command} " in done.stdout
    loaded = set(eval(done.stdout.splitlines()[-1]))
    assert not loaded & {
        "duckdb",
        "polars",
        "sqlglot",
        "httpx",
        "matplotlib",
        "numpy",
        "PIL",
        "rich.console",
        "tenacity",
        "yaml",
        "networkx",
    }


@pytest.mark.parametrize(
    "arguments", [["--bogus"], ["bogus"], ["sql"], ["show"], ["table"], ["table", "x"], ["show", "arm.request", "--format", "xml"]]
)
def test_a_wrong_call_is_a_usage_error(run: Run, arguments: list[str]) -> None:
    one_error(run(*arguments), 2)


def test_sql_answers_in_the_order_asked(run: Run) -> None:
    said = run("sql", "SELECT model_id, count(*) AS n FROM arm.request GROUP BY model_id ORDER BY model_id DESC", "--format", "csv")
    assert (said.code, said.out, said.err) == (0, "model_id,n\nmodel-b,18\nmodel-a,18\n", "")


def test_sql_shows_a_plan_as_a_plan(run: Run) -> None:
    said = run("sql", "EXPLAIN SELECT task, count(*) FROM raw.item GROUP BY task")
    assert said.code == 0
    assert "Table: raw.main.item" in said.out
    assert "physical_plan" in run("sql", "EXPLAIN SELECT task, count(*) FROM raw.item GROUP BY task", "--format", "json").out


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ("SELECT 1; SELECT 2", 2, ["exactly one SELECT", "2 statements"]),
        ("CREATE TABLE x (i INT)", 2, ["CREATE"]),
        ("SELEC 1", 2, ["syntax error"]),
        ("SELECT nothing FROM arm.request", 2, ["nothing"]),
        ("SELECT * FROM modality.nothing", 2, ["nothing"]),
        ("SELECT 'x'::INT", 3, ["Could not convert"]),
        ("SELECT error('one' || chr(10) || chr(27) || '[31mtwo')", 3, ["one \\x1b[31mtwo"]),
    ],
)
def test_a_query_that_fails_says_so_in_one_line(run: Run, query: str, code: int, words: list[str]) -> None:
    one_error(run("sql", query), code, *words)


def test_limit_shortens_the_format_table_only(run: Run) -> None:
    said = run("show", "arm.request", "--limit", "5")
    assert len(said.out.splitlines()) == 2 + 5
    assert said.err == "note: the first 5 rows; --limit 0 shows all\n"
    assert len(run("show", "arm.request", "--limit", "0").out.splitlines()) == 2 + 36
    assert len(json.loads(run("show", "arm.request", "--limit", "5", "--format", "json").out)) == 36
    assert len(run("show", "arm.request", "--limit", "36").err) == 0


def test_every_format_holds_the_same_rows(run: Run, tmp_path: Path) -> None:
    query = "SELECT arm, count(*) AS n, NULL AS gone FROM arm.request GROUP BY arm ORDER BY arm"
    rows = [("A", 12), ("AB", 12), ("B", 12)]
    assert [tuple(row.values()) for row in json.loads(run("sql", query, "--format", "json").out)] == [(arm, n, None) for arm, n in rows]
    assert list(csv.reader(io.StringIO(run("sql", query, "--format", "csv").out)))[1:] == [[arm, str(n), ""] for arm, n in rows]
    assert run("sql", query, "--format", "md").out.splitlines()[2:] == [f"| {arm} | {n} | — |" for arm, n in rows]
    assert [rf"{arm} & {n} & --- \\" in run("sql", query, "--format", "latex").out for arm, n in rows] == [True] * 3
    assert run("sql", query, "--format", "parquet", "--out", str(tmp_path / "x.parquet")).code == 0
    assert polars.read_parquet(tmp_path / "x.parquet").rows() == [(arm, n, None) for arm, n in rows]


def test_out_writes_a_file_whole_or_not_at_all(run: Run, tmp_path: Path) -> None:
    said = run("show", "arm.request", "--format", "csv", "--out", str(tmp_path / "x.csv"))
    assert (said.code, said.out) == (0, "")
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 37
    one_error(run("show", "arm.request", "--out", str(tmp_path / "no" / "x.csv")), 3, "cannot write", "x.csv")
    assert not [path for path in tmp_path.iterdir() if "partial" in path.name]


def test_columns_of_one_name_are_told_apart(run: Run, tmp_path: Path) -> None:
    query = "SELECT 1 AS a, 2 AS a, 3 AS a_1 ORDER BY 1"
    assert json.loads(run("sql", query, "--format", "json").out) == [{"a": 1, "a_1": 2, "a_1_1": 3}]
    assert run("sql", query, "--format", "csv").out == "a,a_1,a_1_1\n1,2,3\n"
    assert run("sql", query).out.split()[:3] == ["a", "a_1", "a_1_1"]
    assert run("sql", query, "--format", "parquet", "--out", str(tmp_path / "x.parquet")).code == 0
    assert polars.read_parquet(tmp_path / "x.parquet").to_dicts() == [{"a": 1, "a_1": 2, "a_1_1": 3}]


def test_a_pipe_is_written_to_and_stays_a_pipe(run: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run("sql", "SELECT 1 AS n", "--format", "csv", "--out", str(pipe)).code == 0
    assert os.read(reading, 100) == b"n\n1\n"
    os.close(reading)
    assert pipe.is_fifo()


def test_a_path_that_cannot_be_one_is_a_data_error(run: Run) -> None:
    one_error(run("sql", "SELECT 1", "--warehouse", "x" * 300), 3, "File name too long")


def test_no_command_is_a_call_for_help(run: Run) -> None:
    said = run()
    assert (said.code, said.err) == (0, "")
    assert "Commands:" in said.out


def test_parquet_is_not_written_to_a_terminal(run: Run) -> None:
    parent, child = pty.openpty()
    done = subprocess.run(
        [*PROGRAM, "show", "arm.request", "--format", "parquet"],
        stdout=child,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        text=True,
        check=False,
    )
    os.close(child)
    os.close(parent)
    assert done.returncode == 2
    assert "--out FILE" in done.stderr


def test_show_reads_views_and_raw_tables(run: Run) -> None:
    assert len(json.loads(run("show", "raw.completion", "--format", "json").out)) == 36
    one_error(run("show", "raw.completions"), 2, "no raw table 'completions'", "completion")
    one_error(run("show", "arm.reqest"), 2, "did you mean arm.request")
    one_error(run("show", "stat.parameter; DROP"), 2, "no view")


def test_show_gives_the_same_bytes_each_time(run: Run) -> None:
    assert run("show", "arm.answer", "--format", "csv").out == run("show", "arm.answer", "--format", "csv").out


def test_a_setting_is_read_and_a_wrong_one_refused(run: Run) -> None:
    said = run("sql", "SELECT value FROM stat.parameter WHERE name = 'parse.rules'", "--set", "parse.rules=lenient", "--format", "csv")
    assert said.out == "value\nlenient\n"
    one_error(run("show", "stat.parameter", "--set", "parse.rules"), 2, "NAME=VALUE")
    one_error(run("show", "stat.parameter", "--set", "parse.rule=strict"), 2, "no parameter 'parse.rule'")
    one_error(run("show", "stat.parameter", "--set", "study=second"), 2, "no study 'second'", "it holds first")


def test_the_study_shown_is_named_where_there_are_several(run: Run) -> None:
    assert run("sql", "SELECT DISTINCT study FROM arm.request").err == ""
    with duckdb.connect("data/warehouse.duckdb") as connection:
        write_study(connection, "second", datetime(2026, 2, 1), ["model-a"], 1)
    said = run("sql", "SELECT DISTINCT study FROM arm.request", "--format", "csv")
    assert said.out == "study\nsecond\n"
    assert said.err.startswith("note: study second")
    assert "first" in said.err
    chosen = run("sql", "SELECT DISTINCT study FROM arm.request", "--format", "csv", "--set", "study=first")
    assert (chosen.out, chosen.err) == ("study\nfirst\n", "")


def test_a_missing_warehouse_is_a_data_error(run: Run) -> None:
    one_error(run("show", "arm.request", "--warehouse", "elsewhere.duckdb"), 3, "no warehouse at elsewhere.duckdb")


def test_what_a_hostile_model_wrote_acts_nowhere(run: Run) -> None:
    hostile = "\x1b]0;owned\x07=cmd|' /C calc'!A0 <script>alert(1)</script> | $\\input{x}$ \u202e"
    with duckdb.connect("data/warehouse.duckdb") as connection:
        insert(connection, "run", [{"run_id": hostile, "command": body(hostile)}])
    for form in ("table", "csv", "md", "latex", "json"):
        said = run("sql", f'SELECT run_id, run_id AS "{hostile.replace(chr(34), "")}" FROM raw.run', "--format", form)
        assert said.code == 0
        assert not set("\x1b\x07\u202e") & set(said.out)
    assert "<script>" not in run("show", "raw.run", "--format", "md").out
    assert "\n'" not in run("show", "raw.run", "--format", "csv").out.replace("\n'=", "")
    one_error(run("sql", f"SELECT '{hostile.replace(chr(39), '')}'::INT"), 3, "\\x1b]0;owned")


def test_a_closed_pipe_ends_quietly(run: Run) -> None:
    command = shlex.join([*PROGRAM, "sql", "SELECT range FROM range(200000)", "--format", "csv"])
    done = subprocess.run(f"{command} | head -n 1", shell=True, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("range\n", "")


def test_a_terminal_that_lacks_a_character_gets_the_line_all_the_same(run: Run) -> None:
    done = subprocess.run(
        [*PROGRAM, "sql", "SELECT NULL AS a"], env={**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=True
    )
    assert "\\u2014" in done.stdout


def test_views_says_what_each_view_is(run: Run) -> None:
    rows = {row["view"]: row for row in json.loads(run("views", "--format", "json").out)}
    assert rows["arm.request"]["grain"].startswith("one row is one request")
    assert rows["arm.request"]["scans"] == "grid 2, item 1"
    assert rows["arm.request"]["parameters"] == "study"
    assert len(rows["arm.request"]["fingerprint"]) == 16


def test_views_says_what_is_kept(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLMAUDIT_CACHE", str(tmp_path / "kept"))
    for cached in (False, True):
        rows = {row["view"]: row for row in json.loads(run("views", "--format", "json").out)}
        assert rows["parse.field"]["cached"] is cached
        assert rows["arm.request"]["cached"] is None
        run("show", "parse.field")


def test_lineage_is_written_as_asked(run: Run) -> None:
    assert run("lineage", "arm.request.task").out == "arm.request.task\n  raw.grid.task\n"
    assert run("lineage", "arm.request", "--format", "mermaid").out.startswith("flowchart LR\n")
    one_error(run("lineage", "arm.request", "--format", "svg"), 2, "text, mermaid, json")
    one_error(run("lineage", "arm.request.nothing"), 2, "no column 'nothing'")
