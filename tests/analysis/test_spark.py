"""Spark gives, for every view that is exported, the rows that DuckDB gives: counts exactly, rates and intervals to 1e-9."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import vlmaudit
from analysis import catalog, java_regex, session, spark, spark_run, spark_sql
from analysis.catalog import View
from tests.analysis.conftest import body
from tests.sql.literal import insert

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="needs Java 17 or newer, in which Spark runs")

STUDIES = """
studies:
  asked:
    protocol: modality
    models: [sim/copycat, sim/mixed]
    tasks:
      isobench/math_parity: {source: synth, n: 26}  # more than twelve clusters, so that weights are packed in several numbers
      isobench/graph_maxflow: {source: synth, n: 4}
      mmimdb: {source: synth, n: 3}
      goldenview: {source: synth, n: 5}
    thinking: [false]
    replicates: 2
    concurrency: 16
    seed: 0
  used:
    protocol: tool_use
    models: [sim/uses, sim/tool-mixture]
    tasks:
      vstar: {source: synth, n: 4}
    arms: [direct, tool, random_crop, blank]
    force_answer: [random_crop]
    replicates: 2
    probed: 2
    concurrency: 16
    seed: 0
"""
# Spark for few rows: compiling code for a query would take longer than interpreting it.
SMALL = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-Xss16m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.ui.showConsoleProgress": "false",
}
# What servers and people do to a body, in place of what the simulated model said.
BODIES = [
    body("ANSWER: even")[:-9],
    "<html>no</html>",
    "",
    None,
    body("<think>\nANSWER: odd\n</think>ANSWER: even\r\nTEXT_ALONE:  odd. \nIMAGE_ALONE: odd\nIMAGE_ALONE: Odd"),
    body("<think>never closed"),
    body("The answer is \\boxed{\\text{even}}. $5 & [a]\n**ANSWER:** `Even`"),
    body("ＡＮＳＷＥＲ：　ｅｖｅｎ – it’s “even”\u2028"),
    json.dumps({"error": {"message": "late", "code": 502}, "choices": [{"message": {"content": None}, "finish_reason": "error"}]}),
    json.dumps({"choices": [{"message": {"content": "x", "reasoning": "so", "nr": 1.5}, "finish_reason": "max_tokens"}]}, indent=1),
    json.dumps(
        {
            "choices": [
                {
                    "message": {
                        "content": [
                            {"type": "thinking", "thinking": [{"text": "a"}, {"text": "b"}]},
                            {"type": "text", "text": "ANSWER: "},
                            "even",
                        ]
                    }
                }
            ]
        }
    ),
    body("ANSWER: even").replace("even", "e\\ud83dn"),
    body("ANSWER: neither\n\nSUFFICIENCY: Sufficient").replace("neither", "\\u006eeither"),
]


@dataclass(frozen=True)
class Sides:
    """The same raw tables in both engines."""

    spark: Any
    duckdb: session.Session
    reported: list[str]


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Parquet: two small studies of simulated models, some bodies damaged."""
    place = tmp_path_factory.mktemp("studied")
    (place / "params.yaml").write_text(STUDIES)
    with chdir(place):
        for command in (["items"], ["generate"], ["rollout"]):
            assert vlmaudit.main(command) == 0
        with duckdb.connect("data/warehouse.duckdb") as connection:
            asked = (
                "SELECT completion_id FROM completion WHERE model_id = 'sim/mixed' AND protocol = 'modality' ORDER BY hash(completion_id)"
            )
            for (identity,), damaged in zip(connection.execute(asked).fetchall(), BODIES, strict=False):
                connection.execute("UPDATE completion SET response = ? WHERE completion_id = ?", [damaged, identity])
            _probe_openly(connection)
        assert vlmaudit.main(["export", "--raw", "parquet", "--out", "raw"]) == 0
    return place / "raw"


def _probe_openly(connection: duckdb.DuckDBPyConnection) -> None:
    """Turn the probes of one model into those of an open answer: the log-probability of each gold token, after the prompt's own."""
    entries = [None, {"9": {"logprob": -0.25}, "x y": {"logprob": 0}}, {"11": {"logprob": -1.5}}, {"12": {"logprob": -1e-3}}]
    response = json.dumps({"prompt_logprobs": entries})
    chosen = "SELECT rollout_id FROM completion WHERE model_id = 'sim/uses'"
    connection.execute(
        f"UPDATE probe SET options = '{{\"gold it’s\": [11, 12]}}', response = ? WHERE rollout_id IN ({chosen}) AND draw < 2", [response]
    )
    first = "(SELECT completion_id FROM completion ORDER BY completion_id LIMIT 1)"
    row = connection.execute(f"SELECT * FROM completion WHERE completion_id = {first}")
    names = [column[0] for column in row.description or []]
    insert(connection, "completion", [dict(zip(names, row.fetchall()[0], strict=True))])  # a duplicate, which audits show


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Spark, whose process ends with it."""
    found = spark_run.session(str(tmp_path_factory.mktemp("tables") / "tables"), "local[2]", **SMALL)
    context = found.sparkContext
    context.setLogLevel("OFF")
    gateway = context._gateway
    yield found
    found.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # which ends its process
    gateway.proc.wait()
    type(context)._gateway = type(context)._jvm = None


@pytest.fixture(scope="module")
def sides(running: Any, raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    folder = tmp_path_factory.mktemp("spark")
    settings = {"stat.resamples": "60", "stat.seed": "7", "stat.min_clusters": "5"}
    given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    assert vlmaudit.main(["export", "--engine", "spark", "--warehouse", str(raw), "--out", str(folder), *given]) == 0
    reported = spark_run.make(running, folder, raw)
    with session.open(raw, settings) as opened:
        yield Sides(running, opened, reported)


def rows(columns: list[str], found: list[Any]) -> list[tuple[Any, ...]]:
    """Rows of plain values, in an order that neither an engine nor the last digits of a number decide."""
    plain = [tuple(float(value) if isinstance(value, Decimal) else value for value in row) for row in found]
    return sorted(plain, key=lambda row: [f"{value:.6g}" if isinstance(value, float) else str(value) for value in row])


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or abs(one - other) <= 1e-9 * max(1.0, abs(one))
    return type(one) is type(other) and one == other


@needs_java
def test_every_exported_view_is_the_same_in_spark(sides: Sides) -> None:
    assert set(sides.reported) >= set(spark.targets(sides.duckdb.catalog))
    empty, differ = set(), {}
    for name in spark.targets(sides.duckdb.catalog):
        columns, expected = sides.duckdb.fetch(f"SELECT * FROM {name}")
        frame = sides.spark.table(name)
        assert frame.columns == columns, name
        ours, theirs = rows(columns, expected), rows(columns, frame.collect())
        if len(ours) != len(theirs):
            differ[name] = f"{len(ours)} rows in DuckDB, {len(theirs)} in Spark"
        elif wrong := [
            (column, a, b)
            for one, other in zip(ours, theirs, strict=True)
            for column, a, b in zip(columns, one, other, strict=True)
            if not same(a, b)
        ]:
            differ[name] = f"{len(wrong)} values, first {wrong[0]}"
        if not ours:
            empty.add(name)
    assert differ == {}
    assert {name for name in empty if not name.startswith("quality.")} <= {"tooluse.verdict", "tooluse.open_interval"}


@needs_java
def test_the_weights_of_the_bootstrap_are_the_same_whole_numbers(sides: Sides) -> None:
    expected = sorted(sides.duckdb.fetch("SELECT * FROM stat.weight")[1])
    assert sorted(tuple(row) for row in sides.spark.table("stat.weight").collect()) == expected
    assert len(expected) == 60 * 5  # resamples × tasks


# One row of literals: expressions in which the engines mean different things by the same words.
TEXT = "'ab\\u0009c. Even;\\r\\nodd ſ É_1 $5 \\\\n {x} [y] & ^ -'"
EXPRESSIONS = [
    "list_slice([1, 2, 3], 2, 9)", "list_slice([1, 2, 3], 0, 2)", "[1, 2, 3][3:2]", "[1, 2][3]", "[1, 2][n]", "range(n, 4)", "range(4, n)",
    "list_position(['a'], 'b')", "list_distinct([1, NULL, 1])", "list_contains([NULL, 1], 2)", "list_sum([]::DOUBLE[])",
    "list_concat(NULL, [1])", "list_append(NULL::INTEGER[], n)", "list_count([1, NULL])", "list_sort([2, NULL, 1])",
    "string_split('a.b|c', '.')", "string_split('a|', '|')", "1::BIGINT << (n + 40)", "(x / 0) > 1e9", "(n - 3) // 2", "1.5 * n / 7",
    "CAST(x AS BIGINT)", "CAST(x + 1 AS BIGINT)", "CAST(n * 1000000000000000001 AS BIGINT)", "CAST(n > 1 AS INTEGER)",
    "round(-x)", "least(NULL, n)", "concat_ws('|', n, NULL, TRUE)", "chr(8199)",
    "regexp_replace('aXbXc', 'X', '\\0-')", "regexp_replace('a$b', '\\$', '$1 \\0', 'g')", "regexp_replace('abc', '(b)', '<\\1>2', 'g')",
    "regexp_matches('even' || chr(10), 'even$')", "regexp_full_match('a' || chr(10), 'a.')", "regexp_matches('a' || chr(13), 'a.')",
    "regexp_matches(t, '\\bÉ')", "regexp_matches(t, '(?i)S É')", "regexp_matches(t, '[[&^]x]?')", "regexp_extract(t, '(?i)(EVEN)[;,]', 1)",
    "regexp_replace(t, '[\\s\\p{Z}.]+', '_', 'g')", "regexp_extract('k{ab}', '\\{([^{}]{1,2})', 1)", "regexp_extract(t, '(z)?b', 1)",
    "json_extract_string(j, '$.a.\"b c\"')", "json_extract_string(j, ['$.s', '$.l[1]', '$.z'])", "json_extract_string(j, '$.l[*]')",
    "json_extract_string(j, '$.o[*].t')", "json_extract_string(j, '$.\"' || 'd.e' || '\"[0]')", "json_extract(j, '$.s')",
    "json_extract(j, '$.l[*]')", "json_extract(j, '$.nil')", "json_type(j, '$.nil')", "json_type(j, '$.s')", "json_type(j, '$.l')",
    "json_type(j, '$.none')", "json_keys(j)", "json_keys(j, '$.l')", "json_keys(j, '$.none')", "json_valid('{]')", "json_valid(NULL)",
    "TRY(json_extract_string('{\"a\":1,', '$.a'))", "trim('.a.', '.')", "translate('[a]', '[]', '')", "strpos('abc', 'c')",
    "n IS DISTINCT FROM NULL",
]  # fmt: skip
DOCUMENT = {"a": {"b c": 1}, "s": "t", "l": ["x", 2, None], "o": [{"t": 1}, {"u": 1}, {"t": None}], "d.e": [7], "nil": None}
AGGREGATES = [
    "list(b ORDER BY a)", "list(b ORDER BY a) FILTER (WHERE a > 9)", "list(b ORDER BY a) FILTER (WHERE a > 1)", "min(a, 2)", "max(a, 2)",
    "arg_max(b, a)", "arg_max(b, a) FILTER (WHERE a < 4)", "median(a)", "bool_or(a > 2)", "count(DISTINCT b)", "count_if(b IS NULL)",
]  # fmt: skip


def both(running: Any, query: str) -> tuple[list[Any], list[Any]]:
    (statement,) = spark_sql.carry(View("x.y", query, ""))
    with duckdb.connect() as connection:
        ours = connection.execute(query).fetchall()
    return ours, [tuple(row) for row in running.sql(statement.query).collect()]


@needs_java
def test_what_the_engines_mean_by_the_same_words_is_carried(running: Any) -> None:
    document = json.dumps(DOCUMENT).replace("'", "''")
    source = f"(SELECT 2 AS n, 1.5::DOUBLE AS x, '{document}' AS j, {TEXT} AS t)"
    columns = ", ".join(f"{expression} AS c{place}" for place, expression in enumerate(EXPRESSIONS))
    (ours,), (theirs,) = both(running, f"SELECT {columns} FROM {source}")
    assert [(expression, a, b) for expression, a, b in zip(EXPRESSIONS, ours, theirs, strict=True) if a != b] == []
    source = "(VALUES (3, 'x'), (1, NULL), (2, 'z'), (4, NULL)) AS given (a, b)"
    columns = ", ".join(f"{expression} AS c{place}" for place, expression in enumerate(AGGREGATES))
    (ours,), (theirs,) = both(running, f"SELECT {columns} FROM {source}")
    assert [(expression, a, b) for expression, a, b in zip(AGGREGATES, ours, theirs, strict=True) if a != b] == []
    windows = "count(*) FILTER (WHERE b IS NULL) OVER (ORDER BY a) AS c, row_number() OVER (ORDER BY b, a) * 3000000000 AS d"
    ours, theirs = both(running, f"SELECT a, {windows} FROM {source} ORDER BY a")
    assert ours == theirs


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("SELECT list_zip(a, b) AS c FROM x.z", r"no rule for list_zip\(\)"),
        ("SELECT regexp_matches(a, b) AS c FROM x.z", "must be constant text"),
        ("SELECT regexp_matches(a, '(?m)^b') AS c FROM x.z", r"flag \(\?m\)"),
        ("SELECT list(a ORDER BY b DESC) AS c FROM x.z", "ascending"),
        ("SELECT chr(a) AS c FROM x.z", "256"),
        ("SELECT TRY(a / b) AS c FROM x.z", "TRY"),
    ],
)
def test_what_cannot_be_carried_is_named(query: str, fault: str) -> None:
    with pytest.raises(spark_sql.DataError, match=rf"sql/x/y\.sql cannot be carried to Spark: .*{fault}"):
        spark_sql.carry(View("x.y", query, ""))


def test_ctes_that_are_computed_once_become_tables_in_the_order_they_read_each_other() -> None:
    query = """
        WITH a AS (SELECT 1 AS n), b AS MATERIALIZED (SELECT n FROM a)
        SELECT n FROM (WITH a AS (SELECT n + 1 AS n FROM b), c AS MATERIALIZED (SELECT n FROM a) SELECT n FROM c UNION ALL SELECT n FROM b)
    """
    made = spark_sql.carry(View("x.y", query, ""))
    assert [(each.name, each.kept) for each in made] == [("x.y__1_b", True), ("x.y__2_c", True), ("x.y", False)]
    assert "`x`.`y__1_b` AS `b`" in made[1].query
    assert "MATERIALIZED" not in "".join(each.query for each in made)


def test_a_pattern_is_written_for_java() -> None:
    assert java_regex.pattern(r"a.$") == r"(?d)a.\z"
    assert java_regex.pattern("[[&x]{") == r"(?d)[\[\&x]\{"
    assert java_regex.pattern("(?i:a){2,3}") == "(?d)(?iu:a){2,3}"
    assert java_regex.whole("a|b") == r"(?d)\A(?:a|b)\z"
    assert java_regex.first("b|c") == r"(?d)(?s:\A(.*?))(b|c)"
    assert java_regex.replacement(r"$\12\\", shift=2) == r"\$$3\2\\"


def test_the_folder_is_replaced_and_the_rest_of_it_kept(raw: Path, tmp_path: Path) -> None:
    (tmp_path / "999_old.sql").write_text("x")
    (tmp_path / "mine.txt").write_text("x")
    with session.open(raw, {"study": "asked"}) as opened:
        names = spark.write(opened, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*names, "mine.txt"}
    assert "('study', 'asked')" in next(tmp_path.glob("*_stat.parameter.sql")).read_text()
    assert catalog.load().keys() >= {name[4:].removesuffix(".sql") for name in names if name[0].isdigit() and name != "000_raw.sql"}
