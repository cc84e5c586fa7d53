"""What a view's file must hold and may not use, so that it can be read alone and carried to another engine.

The forbidden constructs are those that sqlglot carries to Spark or ClickHouse wrongly, or not at all, and what analysis/spark_sql.py has
no rule for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sqlglot
from sqlglot import exp

from analysis import spark_sql
from analysis.catalog import ERROR, RAW, WARNING, View
from analysis.errors import DataError

FUNCTIONS = {
    "list_dot_product": "no other engine has",
    "from_json": "reads a structure that Spark declares otherwise",
    "from_json_strict": "reads a structure that Spark declares otherwise",
    "regexp_extract_all": "is not ClickHouse's",
    "split_part": "is not ClickHouse's",
}


def _is_series(node: exp.Expr) -> bool:
    return isinstance(node, exp.Table) and isinstance(node.this, exp.GenerateSeries)


def _is_from_the_end(node: exp.Expr) -> bool:
    return isinstance(node, exp.Bracket) and any(isinstance(place, exp.Neg) for place in node.expressions)


LIST_ORDER = "ORDER BY inside list(), which Spark drops in silence"
CONSTRUCTS: dict[str, Callable[[exp.Expr], bool]] = {
    "range() as a table: unnest(range(…)) is carried": _is_series,
    "a place counted from the end, [-1]": _is_from_the_end,
    LIST_ORDER: lambda node: isinstance(node, (exp.ArrayAgg, exp.GroupConcat)) and isinstance(node.this, exp.Order),
    "percentile_cont or quantile_cont, which Spark approximates": lambda node: isinstance(node, (exp.PercentileCont, exp.Quantile)),
    "PIVOT or UNPIVOT, which ClickHouse drops in silence: sum(x) FILTER is carried": lambda node: isinstance(node, exp.Pivot),
    "UNION BY NAME": lambda node: isinstance(node, exp.SetOperation) and bool(node.args.get("by_name")),
    "ASOF JOIN": lambda node: isinstance(node, exp.Join) and node.args.get("method") == "ASOF",
    "COLUMNS(…)": lambda node: isinstance(node, exp.Columns),
}

# The bootstrap's weights are ordered lists that are multiplied: measured, nothing that is carried comes near.
BOOTSTRAP = frozenset({"list_dot_product", LIST_ORDER})


def faults(view: View) -> Iterator[str]:
    """What is wrong with a view's file; DataError where it is no single SELECT."""
    for key in ("grain", "columns"):
        if not view.header.get(key):
            yield f"the header lacks `-- {key}:`"
    if view.severity not in {ERROR, WARNING}:
        yield f"the header's severity is {view.severity!r}: error or warning"
    read = {name.removeprefix(f"{RAW}.") for name in view.reads if name.startswith(f"{RAW}.")}
    if undeclared := sorted(read - view.scans.keys()):
        yield f"the header's `-- scans:` lacks {', '.join(undeclared)}"
    if unread := sorted(view.scans.keys() - read):
        yield f"the header's `-- scans:` names {', '.join(unread)}, which the query does not read"
    allowed = BOOTSTRAP if view.name.startswith("stat.") or "over" in view.header else frozenset()
    for node in view.tree.walk():
        yield from (f"uses {what}" for what, forbidden in CONSTRUCTS.items() if forbidden(node) and what not in allowed)
        if (name := _function(node)) in FUNCTIONS.keys() - allowed:
            yield f"uses {name}(), which {FUNCTIONS[name]}"
    try:
        spark_sql.carry(view)
    except DataError as fault:
        yield str(fault).partition(".sql ")[2]
    if _mentions_len(view.text):
        yield "uses len(), which no other engine has: array_length of a list, length of a text"


def _function(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_names()[0].lower() if isinstance(node, exp.Func) else ""


def _mentions_len(text: str) -> bool:
    tokens = sqlglot.tokenize(text, read="duckdb")
    return any(a.text.lower() == "len" and b.text == "(" for a, b in zip(tokens, tokens[1:], strict=False))
