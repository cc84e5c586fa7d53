"""Writes the views as a folder of Spark SQL, to be run over the raw tables as Parquet (`export --raw parquet`).

One file a relation, numbered in dependency order: the raw tables, the parameters as they are set, and every result and audit with all
that it reads. A view that DuckDB keeps (`-- cache:`) or computes once (`AS MATERIALIZED`) becomes a table, all others views. `run.py`
there runs the files in a session of pyspark and is no part of this package; `README.md` says how.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlglot import exp, parse

from analysis import raw_parquet, spark_sql
from analysis.catalog import PARAMETER, RAW, Catalog
from analysis.errors import DataError
from analysis.export import exported
from analysis.session import Session

HERE = Path(__file__).resolve().parent
NUMBERED = "[0-9][0-9][0-9]_*.sql"
TYPES = {"JSON": "STRING", "VARCHAR": "STRING", "TEXT": "STRING", "BLOB": "BINARY", "VARBINARY": "BINARY", "TIMESTAMP": "TIMESTAMP_NTZ"}


def targets(catalog: Catalog) -> list[str]:
    """The views that are written for their own sake: results, and the audits of the data."""
    return [*exported(catalog), *(name for name in catalog if name.startswith("quality."))]


def write(session: Session, out: Path) -> list[str]:
    """Write the folder; the files' names. Files of an earlier call are replaced, anything else stays.

    Raises DataError where the folder cannot be written, or where a view says what cannot be carried to Spark.
    """
    scripts = list(files(session))
    try:
        out.mkdir(parents=True, exist_ok=True)
        for earlier in out.glob(NUMBERED):
            earlier.unlink()
        for name, text in scripts:
            (out / name).write_text(text, encoding="utf-8")
        for name, source in (("run.py", "spark_run.py"), ("README.md", "spark_readme.md")):
            shutil.copyfile(HERE / source, out / name)
    except OSError as fault:
        raise DataError(f"cannot write {fault.filename or out}: {fault.strerror}") from None
    return [*(name for name, _ in scripts), "run.py", "README.md"]


def files(session: Session) -> Iterator[tuple[str, str]]:
    """The numbered files: name and text."""
    yield f"000_{RAW}.sql", raw_tables(session.catalog)
    catalog = session.catalog
    for number, name in enumerate(catalog.closure([PARAMETER, *targets(catalog)]), 1):
        if name == PARAMETER:
            made = [_made(name, parameters(session.parameters), kept=False)]
        else:
            made = [_made(each.name, each.query, each.kept) for each in spark_sql.carry(catalog[name])]
        header = "\n".join(line for line in catalog[name].text.splitlines() if line.startswith("--"))
        yield f"{number:03}_{name}.sql", "\n".join([header, f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]};", *made, ""])


def _made(name: str, query: str, kept: bool) -> str:
    quoted = ".".join(f"`{part}`" for part in name.split("."))
    if kept:
        return f"DROP TABLE IF EXISTS {quoted};\nCREATE TABLE {quoted} USING parquet AS\n{query};"
    return f"CREATE OR REPLACE VIEW {quoted} AS\n{query};"


def parameters(values: Mapping[str, str | None]) -> str:
    """The query for the parameters as a session has them; units and notes stay behind."""

    def text(value: str | None) -> str:
        return "CAST(NULL AS STRING)" if value is None else exp.Literal.string(value).sql("spark")

    rows = ",\n  ".join(f"({text(name)}, {text(value)})" for name, value in sorted(values.items()))
    return f"SELECT * FROM VALUES\n  {rows}\nAS parameter (`name`, `value`)"


def raw_tables(catalog: Catalog) -> str:
    """Statements that make the raw tables over the Parquet files below `${raw}`.

    Types are declared, so that a model called `7` stays text. Parts are found by MSCK.
    """
    said = ["SET spark.sql.variant.allowDuplicateKeys = true;", f"CREATE SCHEMA IF NOT EXISTS {RAW};"]
    for statement in parse(catalog.raw_schema, dialect="duckdb"):
        if not isinstance(statement, exp.Create):
            continue
        table = statement.this.this.name
        columns = ", ".join(f"`{column.name}` {_type(column)}" for column in statement.find_all(exp.ColumnDef))
        parts = raw_parquet.PARTITIONS.get(table, ())
        partitioned = f" PARTITIONED BY ({', '.join(parts)})" if parts else ""
        said += [
            f"DROP TABLE IF EXISTS {RAW}.{table};",
            f"CREATE TABLE {RAW}.{table} ({columns}) USING parquet{partitioned} LOCATION '${{raw}}/{table}';",
        ]
        said += [f"MSCK REPAIR TABLE {RAW}.{table};"] if parts else []
    return "\n".join([*said, ""])


def _type(column: exp.ColumnDef) -> str:
    kind = str(column.args["kind"].sql("duckdb")).split("(")[0].upper()
    return TYPES.get(kind, kind)
