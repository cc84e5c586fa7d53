"""Every view's file can be read alone and carried to another engine, and scans no more than it says."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis import catalog, lint, session
from analysis.catalog import Catalog, View

VIEWS = catalog.load()
HEAD = "-- grain: one row\n-- columns: a\n"


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_keeps_to_what_is_carried(name: str) -> None:
    assert list(lint.faults(VIEWS[name])) == []


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("SELECT list_dot_product(a, b) AS a FROM x.y", "list_dot_product"),
        ("SELECT from_json(a, '[]') AS a FROM x.y", "from_json"),
        ("SELECT regexp_extract_all(a, 'b') AS a FROM x.y", "regexp_extract_all"),
        ("SELECT split_part(a, 'b', 1) AS a FROM x.y", "split_part"),
        ("SELECT len(a) AS a FROM x.y", "len"),
        ("SELECT a[-1] AS a FROM x.y", r"\[-1\]"),
        ("SELECT range AS a FROM range(3)", "range"),
        ("SELECT list(a ORDER BY b) AS a FROM x.y", "ORDER BY"),
        ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) AS a FROM x.y", "percentile_cont"),
        ("SELECT quantile_cont(a, 0.5) AS a FROM x.y", "percentile_cont"),
        ("SELECT a FROM (PIVOT x.y ON b IN (1, 2))", "PIVOT"),
        ("SELECT a FROM x.y UNION BY NAME SELECT a FROM x.z", "BY NAME"),
        ("SELECT a FROM x.y ASOF JOIN x.z USING (a)", "ASOF"),
        ("SELECT columns('a') FROM x.y", "COLUMNS"),
        ("SELECT a FROM raw.item", "scans"),
    ],
)
def test_what_is_not_carried_is_found(query: str, fault: str) -> None:
    assert any(re.search(fault, found) for found in lint.faults(View("x.a", HEAD + query, "")))


def test_the_bootstrap_may_multiply_lists() -> None:
    assert not list(lint.faults(View("stat.a", HEAD + "SELECT list_dot_product(a, list(b ORDER BY c)) AS a FROM x.y", "")))


@pytest.mark.parametrize(("text", "fault"), [("SELECT 1", "grain"), ("-- grain: a row\nSELECT 1", "columns")])
def test_a_header_says_what_a_row_and_a_column_is(text: str, fault: str) -> None:
    assert any(fault in found for found in lint.faults(View("x.a", text, "")))


def test_a_declared_scan_must_be_one() -> None:
    assert any("item" in found for found in lint.faults(View("x.a", f"{HEAD}-- scans: item 1\nSELECT 1", "")))


@pytest.fixture(scope="module")
def opened(written: Path) -> Iterator[session.Session]:
    """A session in which every cached view stands as a table."""
    with session.open(written) as reading:
        reading.need(*(name for name, view in VIEWS.items() if view.cache))
        yield reading


def scans(node: Any, connection_tables: frozenset[str]) -> Counter[str]:
    """How often a plan in JSON scans each raw table."""
    if isinstance(node, list):
        return sum((scans(each, connection_tables) for each in node), Counter())
    said = str(node.get("extra_info", {}).get("Table", ""))
    here = Counter([said.rpartition(".")[2]]) if said.startswith("raw.") and said.rpartition(".")[2] in connection_tables else Counter()
    return here + scans(node.get("children", []), connection_tables)


@pytest.mark.parametrize("name", VIEWS)
def test_no_view_scans_a_raw_table_more_often_than_declared(opened: session.Session, name: str) -> None:
    view = VIEWS[name]
    opened.need(name)
    query = view.text if view.cache else f"SELECT * FROM {name}"
    plan = json.loads(opened.fetch(f"EXPLAIN (FORMAT JSON) {query}")[1][0][1])
    declared = VIEWS.cost(name, computed=[each for each, other in VIEWS.items() if other.cache])
    found = scans(plan, frozenset(session.tables(opened.connection)))
    assert {table: times for table, times in found.items() if times > declared.get(table, 0)} == {}


@pytest.mark.parametrize("name", VIEWS)
def test_binding_a_view_takes_under_three_tenths_of_a_second(opened: session.Session, name: str) -> None:
    opened.need(name)
    view = VIEWS[name]
    started = time.process_time()
    opened.connection.execute(f"DESCRIBE {view.text if view.cache else f'FROM {name}'}")
    assert time.process_time() - started < 0.3


def test_a_scan_in_a_plan_is_counted(opened: session.Session) -> None:
    plan = json.loads(
        opened.fetch("EXPLAIN (FORMAT JSON) SELECT count(*) FROM raw.grid a JOIN raw.grid b USING (request_key), raw.item")[1][0][1]
    )
    assert scans(plan, frozenset(session.tables(opened.connection))) == {"grid": 2, "item": 1}


def test_a_cached_view_costs_its_scans_once_and_another_at_each_mention() -> None:
    views = Catalog(
        {
            "x.kept": "-- cache: whole\n-- scans: item 1\nSELECT item_id FROM raw.item",
            "x.expanded": "-- scans: grid 2\nSELECT a.item_id FROM raw.grid AS a JOIN raw.grid AS b USING (item_id)",
            "x.top": "SELECT 1 FROM x.kept, x.kept AS k, x.expanded, x.expanded AS e",
        },
        "",
    )
    assert views.cost("x.top") == {"grid": 4, "item": 1}
    assert views.cost("x.top", computed=["x.kept"]) == {"grid": 4}
