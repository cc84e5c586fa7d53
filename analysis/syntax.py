"""What a view's query says, read off its syntax tree (sqlglot).

Reading takes a hundredth of a second a view and a command may need a hundred views, so what is read of a text is kept on disk under
the text's digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import kept

if TYPE_CHECKING:
    from sqlglot import exp

MOST = 5_000  # kept texts; more are the remains of old versions, and all go


def literal(text: str) -> str:
    """A text as a SQL literal, where no parameter can be given (a path in ATTACH, say)."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True)
class Syntax:
    """What a query mentions and computes.

    `mentions` is every `schema.name` that it reads, as often as it stands there; `strings` its text literals; `normal_form` the query
    without comments, layout, letter case and the names of its CTEs and table aliases.
    """

    mentions: tuple[str, ...]
    strings: tuple[str, ...]
    normal_form: str


@cache
def engine() -> str:
    """The version of sqlglot, on which normal forms depend."""
    return version("sqlglot")


@cache
def read(text: str) -> Syntax:
    """The syntax of one query; ValueError where the text is no single SELECT."""
    place = kept.folder()
    file = place / "syntax" / f"{hashlib.sha256(f'{engine()}|{text}'.encode()).hexdigest()[:32]}.json" if place else None
    if file:
        with suppress(OSError, ValueError, TypeError, KeyError):
            said: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return Syntax(tuple(said["mentions"]), tuple(said["strings"]), said["normal_form"])
    found = _read(text)
    if file:
        _keep(file, found)
    return found


def _keep(file: Path, found: Syntax) -> None:
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    with suppress(OSError):
        if file.parent.is_dir() and len(os.listdir(file.parent)) > MOST:
            shutil.rmtree(file.parent)
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(asdict(found)), encoding="utf-8")
        partial.replace(file)


def tree(text: str) -> exp.Query:
    """The syntax tree of one query; ValueError where the text is no single SELECT."""
    import sqlglot
    from sqlglot import exp

    try:
        trees = [found for found in sqlglot.parse(text, dialect="duckdb") if found is not None]
    except sqlglot.errors.SqlglotError as fault:
        raise ValueError(f"does not parse: {str(fault).splitlines()[0]}") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise ValueError("must hold exactly one SELECT")
    return trees[0]


def _read(text: str) -> Syntax:
    from sqlglot import exp
    from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

    query = tree(text)
    mentions = tuple(f"{table.db}.{table.name}".lower() for table in query.find_all(exp.Table) if table.db)
    strings = tuple(sorted({literal.name for literal in query.find_all(exp.Literal) if literal.is_string}))
    plain = normalize_identifiers(query, dialect="duckdb")
    return Syntax(mentions, strings, (_renamed(plain) or plain).sql(dialect="duckdb", comments=False, identify=True))


def _renamed(query: exp.Query) -> exp.Query | None:
    """The query with its CTEs and table aliases numbered; None where a name could then be mistaken for another, so that it must count."""
    from sqlglot import exp
    from sqlglot.optimizer.qualify_tables import qualify_tables

    renamed = qualify_tables(query.copy(), dialect="duckdb", canonicalize_table_aliases=True)
    ctes = [cte.alias for cte in renamed.find_all(exp.CTE)]
    numbered = {name: f"cte_{number}" for number, name in enumerate(ctes)}
    if len(numbered) < len(ctes):
        return None
    for cte in renamed.find_all(exp.CTE):
        cte.args["alias"].set("this", exp.to_identifier(numbered[cte.alias]))
    for table in renamed.find_all(exp.Table):
        if not table.db and table.name in numbered:
            table.set("this", exp.to_identifier(numbered[table.name]))
    aliases = {source.alias for source in renamed.find_all(exp.Table, exp.Subquery, exp.Lateral, exp.Unnest, exp.Values)}
    qualifiers = {column.parts[0].name for column in renamed.find_all(exp.Column) if len(column.parts) > 1}
    return renamed if qualifiers <= aliases else None
