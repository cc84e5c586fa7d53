"""A view's query carried to Spark SQL (4.0 or newer, ANSI mode), so that it gives the same rows.

sqlglot's transpiler writes the text; before it does, the tree is rewritten from the leaves up where the engines mean different things by
the same words: lists, JSON, regular expressions, ordered and filtered aggregates, numbers. What cannot be carried is a DataError that
names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from sqlglot import exp, parse_one
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator

from analysis import java_regex
from analysis.catalog import View
from analysis.errors import DataError

# Spark's `row_number` and `array_size` are 32 bits wide, where DuckDB's are 64: a product of one would overflow.
RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)
WHOLE = (*RANKS, exp.Count, exp.CountIf, exp.Floor, exp.Ceil, exp.Round, exp.Window)  # whole by their form: a cast rounds nothing
PATH_MARK = "\x00"


class _Counted(DuckDB):
    """DuckDB, whose places in lists stay as written: sqlglot would move some and not others, by what it knows of types."""

    INDEX_OFFSET = 0


class _Nested(Spark):
    """Spark SQL that keeps CTEs where they stand: moved to the top, two of one name would become one."""

    class Generator(SparkGenerator):
        EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[set[type[exp.Expr]]] = set()


@dataclass(frozen=True)
class Statement:
    """One relation that Spark is to make: its `schema.name`, its query, and whether its rows are to be kept as a table."""

    name: str
    query: str
    kept: bool


def carry(view: View) -> list[Statement]:
    """The view as Spark makes it: first a table for each of its CTEs that say MATERIALIZED, which Spark would compute at each mention."""
    try:
        tree = cast(exp.Query, parse_one(view.text, dialect=_Counted))
        steps = list(_hoisted(tree, view.name))
        made = [(f"{view.name}__{number}_{name}", query, True) for number, (name, query) in enumerate(steps, 1)]
        return [
            Statement(name, _rewritten(query).sql(dialect=_Nested, identify=True, comments=False, pretty=True), kept)
            for name, query, kept in [*made, (view.name, tree, view.cache is not None)]
        ]
    except ValueError as fault:
        raise DataError(f"sql/{view.name.replace('.', '/')}.sql cannot be carried to Spark: {fault}") from None


def _hoisted(tree: exp.Query, view: str) -> Iterator[tuple[str, exp.Query]]:
    """Take the CTEs that say MATERIALIZED out of a query, each with the plain CTEs that it reads, and have their tables read instead."""
    schema, _, name = view.partition(".")
    number = 0
    while waiting := [each for each in tree.find_all(exp.CTE) if each.args.get("materialized")]:
        number += 1
        cte = next(each for each in waiting if not any(other is not each and _reads(each, other) for other in waiting))
        query = _with_what_it_reads(cte)
        yield cte.alias, query
        owner = cast(exp.Query, cte.find_ancestor(exp.Query))
        for read in list(owner.find_all(exp.Table)):
            if not read.db and read.name == cte.alias and _definition(read) is cte:
                read.set("this", exp.to_identifier(f"{name}__{number}_{cte.alias}"))
                read.set("db", exp.to_identifier(schema))
                if not read.alias:
                    read.set("alias", exp.TableAlias(this=exp.to_identifier(cte.alias)))
        _drop(cte)


def _reads(cte: exp.CTE, other: exp.CTE) -> bool:
    """Whether a CTE holds another, or reads it, through whatever it reads."""
    return _within(other, cte) or any(found is other or _within(other, found) for found in _needed(cte))


def _drop(cte: exp.CTE) -> None:
    clause = cte.parent
    cte.pop()
    if isinstance(clause, exp.With) and not clause.expressions:
        clause.pop()


def _definition(table: exp.Table) -> exp.CTE | None:
    """The CTE that an unqualified table name means: of the innermost query around it that defines one of that name before."""
    node: exp.Expr | None = table
    while node is not None:
        inside = node.find_ancestor(exp.CTE)
        for query in _queries_around(node, inside):
            for cte in query.ctes:
                if cte is inside:
                    break
                if cte.alias == table.name:
                    return cte
        node = inside
    return None


def _queries_around(node: exp.Expr, until: exp.Expr | None) -> Iterator[exp.Query]:
    """The queries that hold a node, from the inside out, up to those that hold `until`, which are the next CTE's siblings."""
    parent = node.parent
    while parent is not None and parent is not until:
        if isinstance(parent, exp.Query):
            yield parent
        parent = parent.parent
    if until is not None:
        owner = until.find_ancestor(exp.Query)
        if owner is not None:
            yield owner


def _needed(cte: exp.CTE) -> list[exp.CTE]:
    """The CTEs beside and around a CTE that it reads, each after what it reads itself."""
    found: list[exp.CTE] = []

    def visit(inside: exp.CTE) -> None:
        for table in inside.this.find_all(exp.Table):
            if table.db or (read := _definition(table)) is None or _within(read, inside) or any(read is each for each in found):
                continue
            visit(read)
            found.append(read)

    visit(cte)
    return found


def _with_what_it_reads(cte: exp.CTE) -> exp.Query:
    needed = _needed(cte)
    if len({each.alias for each in needed}) < len(needed):
        raise ValueError(f"the CTE {cte.alias} reads two others of one name")
    query: exp.Query = cte.this.copy()
    if needed:
        clause = query.args.get("with_") or exp.With(expressions=[])
        clause.set("expressions", [*(each.copy() for each in needed), *clause.expressions])
        query.set("with_", clause)
    return query


def _within(node: exp.Expr, other: exp.Expr) -> bool:
    parent = node.parent
    while parent is not None:
        if parent is other:
            return True
        parent = parent.parent
    return False


# --- the rewriting: from the leaves up, so that a rule sees arguments that are Spark's already


def _rewritten(query: exp.Query) -> exp.Query:
    root = exp.Paren(this=query)  # so that the query itself has a parent
    for node in reversed(list(query.walk(bfs=True))):
        for kind in type(node).__mro__:
            if rule := _RULES.get(kind):
                if (made := rule(node)) is not node:
                    node.replace(made)
                break
    return cast(exp.Query, root.this)


def _call(name: str, *arguments: exp.Expr | str | int) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[_value(each) for each in arguments])


def _value(value: exp.Expr | str | int) -> exp.Expr:
    if isinstance(value, int):
        return exp.Literal.number(value)
    return exp.Literal.string(value) if isinstance(value, str) else value.copy()


def _raw(sql: str, **parts: exp.Expr | str | int) -> exp.Expr:
    """Spark SQL written out, with `:name` in it replaced by expressions."""
    tree = exp.replace_placeholders(parse_one(sql, dialect="databricks"), **{name: _value(part) for name, part in parts.items()})
    sizes = tree.find_all(exp.ArraySize)  # SIZE is -1 of NULL in a session that is not in ANSI mode
    return tree.transform(lambda node: _call("array_size", node.this) if isinstance(node, exp.ArraySize) else node) if any(sizes) else tree


def _integer(node: exp.Expr) -> exp.Expr:
    return node.copy() if isinstance(node, exp.Literal) else exp.cast(node.copy(), "INT")


def _text(node: exp.Expr | None) -> str | None:
    """The text of a constant expression of text."""
    if isinstance(node, (exp.Literal, exp.ByteString)) and (isinstance(node, exp.ByteString) or node.is_string):
        return str(node.this)
    return None


def _constant(node: exp.Expr | None, what: str) -> str:
    if (said := _text(node)) is None:
        raise ValueError(f"{what} must be constant text, not {node.sql('duckdb') if node is not None else 'absent'}")
    return said


def _literal(node: exp.Literal) -> exp.Expr:
    """A number with a point is a DECIMAL to both, but divides and multiplies otherwise: it becomes a double."""
    if node.is_string or re.fullmatch(r"\d+", node.this) or isinstance(node.parent, exp.DataTypeParam):
        return node
    return exp.Literal.number(f"{node.this}D")


def _joined_text(node: exp.DPipe) -> exp.Expr:
    one, other = _text(node.this), _text(node.expression)
    if one is not None and other is not None:
        return exp.Literal.string(one + other)
    if other is not None and isinstance(node.this, exp.DPipe) and (middle := _text(node.this.expression)) is not None:
        return exp.DPipe(this=node.this.this.copy(), expression=exp.Literal.string(middle + other), safe=True)
    return node


def _character(node: exp.Chr) -> exp.Expr:
    code = node.expressions[0]
    if not isinstance(code, exp.Literal):
        raise ValueError(f"{node.sql('duckdb')}: Spark's chr() knows 256 characters only")
    return exp.Literal.string(chr(int(code.this)))


# lists


def _place(node: exp.Bracket) -> exp.Expr:
    (inside,) = node.expressions
    if isinstance(inside, exp.Slice):
        return _slice(node.this, inside.this, inside.expression)
    if isinstance(inside, exp.Literal) and not inside.is_string:
        return _call("get", node.this, int(inside.this) - 1)
    return _call("get", node.this, exp.cast(exp.Sub(this=exp.paren(inside.copy()), expression=exp.Literal.number(1)), "INT"))


def _slice(items: exp.Expr, start: exp.Expr, end: exp.Expr) -> exp.Expr:
    first = _integer(start) if isinstance(start, exp.Literal) and int(start.this) > 0 else _call("greatest", 1, _integer(start))
    size = exp.Add(this=exp.Sub(this=exp.paren(_integer(end)), expression=first.copy()), expression=exp.Literal.number(1))
    return _call("slice", items, first, _call("greatest", 0, size))


def _series(node: exp.GenerateSeries) -> exp.Expr:
    if node.args.get("step") is not None or not node.args.get("is_end_exclusive"):
        raise ValueError(f"{node.sql('duckdb')}: a range of step 1 that leaves its end out is carried")
    series = "IF(CAST(:past AS BIGINT) > CAST(:start AS BIGINT), SEQUENCE(CAST(:start AS BIGINT), CAST(:past AS BIGINT) - 1), ARRAY())"
    return _raw(series, start=node.args["start"], past=node.args["end"])


def _array_agg(node: exp.Expr) -> exp.Expr:
    """list(x ORDER BY y) FILTER (WHERE z): its order and its NULLs are kept, and over no row it is NULL."""
    condition = node.expression if isinstance(node, exp.Filter) else None
    collected = node.this.this if isinstance(node, exp.Filter) else node.this
    keys: Sequence[exp.Expr] = []
    if isinstance(collected, exp.Order):
        if any(key.args.get("desc") for key in collected.expressions):
            raise ValueError("list(… ORDER BY … DESC): ascending order is carried")
        keys, collected = [key.this for key in collected.expressions], collected.this
    if isinstance(collected, exp.Distinct):
        raise ValueError("list(DISTINCT …): list_distinct(list(…)) is carried")
    fields = [part for number, key in enumerate(keys) for part in (exp.Literal.string(f"k{number}"), key)]
    rows = _call("collect_list", _call("named_struct", *fields, exp.Literal.string("v"), collected))
    if condition is not None:
        rows = exp.Filter(this=rows, expression=condition.copy())
    made = _raw("TRANSFORM(:rows, e -> e.v)", rows=_call("array_sort", rows) if keys else rows)
    if condition is None:
        return made
    return exp.Case(ifs=[exp.If(this=_raw("COUNT_IF(:z) > 0", z=condition.this), true=made)])


def _filter(node: exp.Filter) -> exp.Expr:
    if isinstance(node.parent, exp.Window):
        return node
    if isinstance(node.this, exp.ArrayAgg):
        return _array_agg(node)
    if isinstance(node.this, exp.ArgMax):
        both = exp.and_(node.expression.this.copy(), exp.Not(this=exp.Is(this=node.this.this.copy(), expression=exp.null())))
        return exp.Filter(this=_call("max_by", node.this.this, node.this.expression), expression=exp.Where(this=both))
    if isinstance(node.this, (exp.Min, exp.Max)) and node.this.args.get("count") is not None:
        raise ValueError("min(x, n) FILTER (…) is not carried")
    return node


def _window(node: exp.Window) -> exp.Expr:
    """Spark has no FILTER in windows: what it leaves out becomes NULL, which no aggregate here counts."""
    if isinstance(node.this, exp.Filter):
        aggregate, condition = node.this.this, node.this.expression.this
        inner = aggregate.this
        if isinstance(inner, exp.Star) or inner is None:
            inner = exp.Literal.number(1)
        kept = exp.Case(ifs=[exp.If(this=condition.copy(), true=inner.copy())])
        bare = aggregate.copy()
        bare.set("this", kept)
        made = node.copy()
        made.set("this", bare)
        return made
    return exp.cast(node.copy(), "BIGINT") if isinstance(node.this, RANKS) else node


def _arg_max(node: exp.ArgMax) -> exp.Expr:
    if isinstance(node.parent, exp.Filter):
        return node
    given = exp.Where(this=exp.Not(this=exp.Is(this=node.this.copy(), expression=exp.null())))
    return exp.Filter(this=_call("max_by", node.this, node.expression), expression=given)


def _extreme(node: exp.Min | exp.Max) -> exp.Expr:
    if (count := node.args.get("count")) is None:
        return node
    rows = _call("collect_list", node.this)
    ordered = _call("array_sort", rows) if isinstance(node, exp.Min) else _call("sort_array", rows, exp.false())
    return _call("slice", ordered, 1, _integer(count))


def _named(name: str) -> Callable[[exp.Expr], exp.Expr]:
    """The same arguments under another name."""

    def rule(node: exp.Expr) -> exp.Expr:
        arguments = [node.this, node.expression] if not isinstance(node, exp.Anonymous) else node.expressions
        return _call(name, *[each for each in arguments if isinstance(each, exp.Expr)])

    return rule


def _template(sql: str) -> Callable[[exp.Expr], exp.Expr]:
    """Spark SQL with `:a` and `:b` for the arguments."""

    def rule(node: exp.Expr) -> exp.Expr:
        given = list(node.expressions) if isinstance(node, exp.Anonymous) else [node.this, node.args.get("expression")]
        given += [each for each in node.expressions if not isinstance(node, exp.Anonymous)]
        return _raw(sql, **dict(zip("ab", (each for each in given if isinstance(each, exp.Expr)), strict=False)))

    return rule


def _shifted(node: exp.Binary) -> exp.Expr:
    name = "shiftleft" if isinstance(node, exp.BitwiseLeftShift) else "shiftright"
    return _call(name, node.this, exp.cast(exp.paren(node.expression.copy()), "INT"))


def _whole(node: exp.Cast) -> exp.Expr:
    """A double becomes a whole number by rounding in DuckDB, by cutting in Spark. What is none by its form stays as it is."""
    given = node.this
    while isinstance(given, exp.Paren):
        given = given.this
    if not node.to.is_type(*exp.DataType.INTEGER_TYPES) or isinstance(given, (*WHOLE, exp.Literal, exp.Predicate, exp.Connector, exp.Not)):
        return node
    exact = exp.cast(given.copy(), "DECIMAL(38, 6)")  # holds 64 bits, which a double does not: the bootstrap packs its counts in them
    return exp.cast(_call("bround", exact), node.to.copy())


def _quotient(node: exp.Div) -> exp.Expr:
    """Over zero DuckDB has infinity or NaN, where Spark stops."""
    divisor = node.expression.unnest()
    if isinstance(divisor, exp.Nullif) or (isinstance(divisor, exp.Literal) and float(divisor.this.rstrip("D"))):
        return node
    return _raw("IF(:b = 0, :a * CAST('Infinity' AS DOUBLE), :a / :b)", a=exp.paren(node.this.copy()), b=exp.paren(node.expression.copy()))


def _equal_difference(node: exp.EQ) -> exp.Expr:
    """`a - b = 0` between two sources is `a = b`, which Spark can join by."""
    if isinstance(node.this, exp.Sub) and node.expression == exp.Literal.number(0):
        one, other = node.this.this, node.this.expression
        if isinstance(one, exp.Column) and isinstance(other, exp.Column) and one.table != other.table:
            return exp.EQ(this=one.copy(), expression=other.copy())
    return node


# text


def _matches(node: exp.RegexpLike) -> exp.Expr:
    return _call("regexp_like", node.this, java_regex.pattern(_flagged(node, node.args.get("flag"))))


def _matches_whole(node: exp.Expr) -> exp.Expr:
    return _call("regexp_like", node.this, java_regex.whole(_flagged(node, node.args.get("options"))))


def _flagged(node: exp.Expr, flags: exp.Expr | None) -> str:
    said = _constant(node.expression, "a regular expression")
    given = "".join(flag for flag in (_text(flags) or "") if flag != "g")
    return f"(?{given}){said}" if given else said


def _extract(node: exp.RegexpExtract) -> exp.Expr:
    group = node.args.get("group") or exp.Literal.number(0)
    return _call("regexp_extract", node.this, java_regex.pattern(_flagged(node, node.args.get("parameters"))), group)


def _replace(node: exp.RegexpReplace) -> exp.Expr:
    flags = node.args.get("modifiers")
    said, new = _flagged(node, flags), _constant(node.args.get("replacement"), "a replacement")
    if "g" in (_text(flags) or ""):
        return _call("regexp_replace", node.this, java_regex.pattern(said), java_regex.replacement(new))
    return _call("regexp_replace", node.this, java_regex.first(said), "$1" + java_regex.replacement(new, shift=2))


def _split(node: exp.Split) -> exp.Expr:
    if (mark := _text(node.expression)) is None:
        return _raw("SPLIT(:a, CONCAT('\\\\Q', :b, '\\\\E'))", a=node.this, b=node.expression)
    return _call("split", node.this, java_regex.text(mark))


# JSON: text in both, read as a VARIANT where its type counts


def _path(node: exp.Expr | None) -> exp.Expr:
    """A JSON path as Spark writes it: keys in quotes become `['key']`. It may be put together from text and columns."""
    if node is None:
        return exp.Literal.string("$")
    if isinstance(node, exp.JSONPath):
        return exp.Literal.string("".join(_step(step) for step in node.expressions))
    pieces = list(_flat(node))
    said = "".join(text if (text := _text(piece)) is not None else PATH_MARK for piece in pieces)
    spark = re.sub(r'\."([^"]*)"', r"['\1']", said)
    moving = iter([piece for piece in pieces if _text(piece) is None])
    parts: list[exp.Expr] = []
    for number, text in enumerate(spark.split(PATH_MARK)):
        parts += [next(moving)] if number else []
        parts += [exp.Literal.string(text)] if text else []
    return _call("concat", *parts) if len(parts) > 1 else parts[0].copy()


def _flat(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, (exp.DPipe, exp.Paren)):
        for side in (node.this, node.args.get("expression")):
            if side is not None:
                yield from _flat(side)
    else:
        yield node


def _step(step: exp.Expr) -> str:
    if isinstance(step, exp.JSONPathRoot):
        return "$"
    if isinstance(step, exp.JSONPathKey) and isinstance(step.this, str):
        return f".{step.this}" if re.fullmatch(r"\w+", step.this) else f"['{step.this}']"
    if isinstance(step, exp.JSONPathSubscript):
        if isinstance(step.this, exp.JSONPathWildcard):
            return "[*]"
        if re.fullmatch(r"\d+", str(step.this)):
            return f"[{step.this}]"
    raise ValueError(f"the JSON path step {step!r} is not carried")


def _json_text(node: exp.JSONExtractScalar) -> exp.Expr:
    """json_extract_string: text bare, all else as JSON text, null as NULL; a list for a list of paths or a path with [*]."""
    if isinstance(node.expression, exp.Array):
        return _tried(node, _call("array", *(_call("get_json_object", node.this, _path(each)) for each in node.expression.expressions)))
    path = _path(node.expression)
    said = _text(path)
    if said is None or "[*]" not in said:
        return _tried(node, _call("get_json_object", node.this, path))
    base, _, rest = said.partition("[*]")
    if "[*]" in rest:
        raise ValueError(f"the JSON path {said} has two wildcards")
    items = _raw("COALESCE(FROM_JSON(GET_JSON_OBJECT(:a, :p), 'array<string>'), CAST(ARRAY() AS ARRAY<STRING>))", a=node.this, p=base)
    if rest:
        items = _raw("TRANSFORM(FILTER(:items, e -> :has), e -> GET_JSON_OBJECT(e, :p))", items=items, p=f"${rest}", has=_has(rest))
    return _tried(node, _raw("IF(:a IS NULL, NULL, :items)", a=node.this, items=items))


def _has(rest: str) -> exp.Expr:
    return _raw("TRY_VARIANT_GET(TRY_PARSE_JSON(e), :p, 'variant') IS NOT NULL", p=f"${rest}")


def _json_part(node: exp.JSONExtract) -> exp.Expr:
    """json_extract: a part of a document as JSON text; a list of them for a path that ends in [*]."""
    said = _constant(_path(node.expression), "the path of json_extract")
    base, star, rest = said.partition("[*]")
    if rest:
        raise ValueError(f"the JSON path {said} goes on after its wildcard")
    if star:
        parts = (
            "IF(:a IS NULL, NULL, COALESCE(TRANSFORM(TRY_VARIANT_GET(TRY_PARSE_JSON(:a), :p, 'array<variant>'), v -> TO_JSON(v)), ARRAY()))"
        )
        return _tried(node, _raw(parts, a=node.this, p=base))
    part = _raw("TRY_VARIANT_GET(TRY_PARSE_JSON(:a), :p, 'variant')", a=node.this, p=said)
    either = "IF(SCHEMA_OF_VARIANT(:part) IN ('STRING', 'VOID'), TO_JSON(:part), GET_JSON_OBJECT(:a, :p))"
    return _tried(node, _raw(either, part=part, a=node.this, p=said))


def _tried(node: exp.Expr, made: exp.Expr) -> exp.Expr:
    """Inside TRY, a document that is no JSON gives NULL: Spark would read it up to the fault."""
    return _raw("IF(TRY_PARSE_JSON(:a) IS NULL, NULL, :made)", a=node.this, made=made) if isinstance(node.parent, exp.Try) else made


def _try(node: exp.Try) -> exp.Expr:
    if node.this.find(exp.Anonymous) is None or "TRY_PARSE_JSON" not in node.this.sql():
        raise ValueError(f"{node.sql('duckdb')}: TRY around the reading of JSON is carried")
    made: exp.Expr = node.this.copy()
    return made


_KINDS = (
    "DECODE(REGEXP_EXTRACT(SCHEMA_OF_VARIANT(:v), '^[A-Z]+', 0), 'STRING', 'VARCHAR', 'VOID', 'NULL', 'ARRAY', 'ARRAY', 'OBJECT', 'OBJECT',"
    " 'BOOLEAN', 'BOOLEAN', 'BIGINT', 'BIGINT', 'DECIMAL', 'DOUBLE', 'DOUBLE', 'DOUBLE')"
)


def _json_type(node: exp.JSONType) -> exp.Expr:
    document = _raw("TRY_PARSE_JSON(:a)", a=node.this)
    if node.args.get("expression") is not None:
        document = _raw("TRY_VARIANT_GET(:d, :p, 'variant')", d=document, p=_path(node.expression))
    return _raw(_KINDS, v=document)


def _json_keys(node: exp.JSONKeys) -> exp.Expr:
    part = node.this if node.args.get("expression") is None else _call("get_json_object", node.this, _path(node.expression))
    return _raw("IF(:part IS NULL, NULL, COALESCE(JSON_OBJECT_KEYS(:part), ARRAY()))", part=part)


_COMPACT = "FILTER(:a, e -> e IS NOT NULL)"
_FUNCTIONS: dict[str, Callable[[exp.Expr], exp.Expr]] = {
    "hash": _named("xxhash64"),  # only ever told apart, never counted with: that two are equal is all that it says
    "json_valid": _template("IF(:a IS NULL, NULL, TRY_PARSE_JSON(:a) IS NOT NULL)"),
    "list_count": _template(f"ARRAY_SIZE({_COMPACT})"),
    "list_dot_product": _template("AGGREGATE(ZIP_WITH(:a, :b, (p, q) -> p * q), CAST(0 AS DOUBLE), (t, e) -> t + e)"),
    "list_position": _template("NULLIF(ARRAY_POSITION(:a, :b), 0)"),
    "list_slice": lambda node: _slice(*node.expressions),
    "list_sum": _template(
        f"IF(ARRAY_SIZE({_COMPACT}) > 0, AGGREGATE({_COMPACT}, CAST(0 AS DOUBLE), (t, e) -> t + CAST(e AS DOUBLE)), CAST(NULL AS DOUBLE))"
    ),
}


def _anonymous(node: exp.Anonymous) -> exp.Expr:
    if (rule := _FUNCTIONS.get(node.name.lower())) is None:
        raise ValueError(f"there is no rule for {node.name}(): add one to analysis/spark_sql.py, or use another function")
    return rule(node)


_RULES: dict[type[exp.Expr], Callable[..., exp.Expr]] = {
    exp.Anonymous: _anonymous,
    exp.ArgMax: _arg_max,
    exp.ArrayAgg: lambda node: node if isinstance(node.parent, exp.Filter) else _array_agg(node),
    exp.ArrayAppend: _template("ARRAY_APPEND(COALESCE(:a, ARRAY()), :b)"),
    exp.ArrayConcat: _template("CONCAT(COALESCE(:a, ARRAY()), COALESCE(:b, ARRAY()))"),
    exp.ArrayContains: _template("EXISTS(:a, e -> COALESCE(e = :b, FALSE))"),
    exp.ArrayDistinct: _template(f"ARRAY_DISTINCT({_COMPACT})"),
    exp.ArraySize: _template("CAST(ARRAY_SIZE(:a) AS BIGINT)"),
    exp.BitwiseLeftShift: _shifted,
    exp.BitwiseRightShift: _shifted,
    exp.Bracket: _place,
    exp.ByteString: lambda node: exp.Literal.string(node.this),
    exp.Cast: _whole,
    exp.Chr: _character,
    exp.DPipe: _joined_text,
    exp.Div: _quotient,
    exp.EQ: _equal_difference,
    exp.Filter: _filter,
    exp.GenerateSeries: _series,
    exp.JSONExtract: _json_part,
    exp.JSONExtractScalar: _json_text,
    exp.JSONKeys: _json_keys,
    exp.JSONType: _json_type,
    exp.Literal: _literal,
    exp.Max: _extreme,
    exp.Min: _extreme,
    exp.RegexpExtract: _extract,
    exp.RegexpFullMatch: _matches_whole,
    exp.RegexpLike: _matches,
    exp.RegexpReplace: _replace,
    exp.Split: _split,
    exp.Try: _try,
    exp.TryCast: lambda node: node,
    exp.Window: _window,
}
