"""What a view or a column is computed from."""

from __future__ import annotations

import json

import pytest

from analysis import lineage
from analysis.catalog import Catalog
from analysis.errors import UsageError

VIEWS = Catalog(
    {
        "stat.parameter": "SELECT 'study' AS name, 's' AS value, 'name' AS unit",
        "x.asked": """
            WITH newest AS (SELECT task, item FROM raw.grid WHERE arm = 'AB')
            SELECT newest.task AS label, item.gold FROM newest JOIN raw.item AS item ON newest.item = item.item
        """,
        "x.top": "SELECT label, count(gold) AS n, upper(label) || gold AS joined FROM x.asked GROUP BY ALL",
    },
    "CREATE TABLE grid (task VARCHAR, item VARCHAR, arm VARCHAR); CREATE TABLE item (item VARCHAR, gold VARCHAR);",
)


def test_a_view_is_followed_to_the_raw_tables() -> None:
    assert lineage.render(lineage.trace(VIEWS, "x.top"), "text") == "x.top\n  x.asked\n    raw.grid\n    raw.item\n"


def test_a_column_is_followed_through_views_and_ctes() -> None:
    assert lineage.render(lineage.trace(VIEWS, "x.top.n"), "text") == "x.top.n\n  x.asked.gold\n    raw.item.gold\n"
    joined = dict(lineage.trace(VIEWS, "x.top.joined").sources)
    assert joined["x.top.joined"] == ["x.asked.gold", "x.asked.label"]
    assert joined["x.asked.label"] == ["raw.grid.task"]


def test_mermaid_and_json_hold_the_same_edges() -> None:
    graph = lineage.trace(VIEWS, "x.top.n")
    assert lineage.render(graph, "mermaid").splitlines() == [
        "flowchart LR",
        '    x__asked__gold["x.asked.gold"] --> x__top__n["x.top.n"]',
        '    raw__item__gold["raw.item.gold"] --> x__asked__gold["x.asked.gold"]',
    ]
    assert json.loads(lineage.render(graph, "json")) == {
        "root": "x.top.n",
        "edges": [{"from": "x.asked.gold", "to": "x.top.n"}, {"from": "raw.item.gold", "to": "x.asked.gold"}],
    }


@pytest.mark.parametrize(
    ("address", "said"), [("x.tip", "did you mean x.top"), ("x.top.m", "it has label, n, joined"), ("x.tip.n", "no view"), ("x", "no view")]
)
def test_an_unknown_address_is_named(address: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        lineage.trace(VIEWS, address)


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(UsageError, match="text, mermaid, json"):
        lineage.render(lineage.trace(VIEWS, "x.top"), "svg")
