"""The reading commands. What they need is imported inside them, so that `vlmaudit --help` stays quick."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from analysis.errors import DataError, UsageError
from analysis.figures import PICTURES, FigureFormat
from analysis.render import TEXT, Format, Rows, parquet

if TYPE_CHECKING:
    from analysis.session import Session

T = TypeVar("T")

WAREHOUSE = Path("data/warehouse.duckdb")

FormatOption = Annotated[Format, typer.Option("--format", help="How the rows are written.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Override a parameter; `show stat.parameter` lists them. Repeatable."),
]
WarehouseOption = Annotated[
    Path,
    typer.Option(
        "--warehouse", metavar="PATH", help="The warehouse to read: its DuckDB file, or a folder that `export --raw parquet` wrote."
    ),
]
LimitOption = Annotated[int, typer.Option("--limit", min=0, help="Rows that the format `table` shows; 0 for all. Other formats hold all.")]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write to a file instead of the terminal.")]


def register(app: typer.Typer) -> None:
    """Add the reading commands to the application."""
    for command in (sql, show, table, figure, views, lineage, diff, audit, export):
        app.command()(command)


def sql(
    query: Annotated[str, typer.Argument(help="One SELECT, or EXPLAIN of one, over the views and raw tables.")],
    format: FormatOption = Format.table,  # noqa: A002 - the option's name
    set_: SetOption = None,
    warehouse: WarehouseOption = WAREHOUSE,
    limit: LimitOption = 100,
    out: OutOption = None,
) -> None:
    """Run one SELECT over views and raw tables.

    It can write nothing, read no other file, load nothing and reach no network.
    """
    from analysis import sandbox

    checked = sandbox.check(query)
    with _reading(warehouse, set_) as session:
        _interruptible(session, lambda: session.need(*session.mentioned(checked)))
        sandbox.lock(session.connection)
        if checked is not query and format is Format.table:
            plan = _interruptible(session, lambda: session.fetch(checked))[1]
            _write("\n".join(str(row[-1]) for row in plan) + "\n", out)
        else:
            _show(session, checked, format, limit, out, shorten=lambda text: f"FROM (\n{text.strip().rstrip(';')}\n) LIMIT {limit + 1}")


def show(
    view: Annotated[str, typer.Argument(metavar="VIEW", help="A view, or a raw table as raw.NAME.")],
    format: FormatOption = Format.table,  # noqa: A002
    set_: SetOption = None,
    warehouse: WarehouseOption = WAREHOUSE,
    limit: LimitOption = 100,
    out: OutOption = None,
) -> None:
    """Show all rows of a view; rates are fractions."""
    with _reading(warehouse, set_) as session:
        _show(session, _all_of(session, view), format, limit, out, shorten=lambda text: f"{text} LIMIT {limit + 1}")


def _all_of(session: Session, view: str) -> str:
    """The query that reads a view whole, in an order that does not change from run to run; a raw table as it lies."""
    from analysis.session import tables

    schema, _, name = view.partition(".")
    if schema == "raw":
        if name not in (known := list(tables(session.connection))):
            raise UsageError(f"there is no raw table {name!r}: there are {', '.join(known)}")
        return f'SELECT * FROM raw."{name}"'
    return f"SELECT * FROM {session.catalog.require(view).name} ORDER BY ALL"


def table(
    number: Annotated[str, typer.Argument(metavar="N", help="The table's number in the paper; s1 to s20: those of the tool-use audit.")],
    format: FormatOption = Format.table,  # noqa: A002
    set_: SetOption = None,
    warehouse: WarehouseOption = WAREHOUSE,
    out: OutOption = None,
) -> None:
    """Show a table of the paper over a study.

    Text formats have the paper's layout and percent; csv, json and parquet have its rows, in fractions.
    """
    from analysis import quality, tables
    from analysis.paper_tables import require

    wanted = require(number)
    source = wanted.source
    if isinstance(source, str):
        with _reading(warehouse, set_) as session:
            _interruptible(session, lambda: quality.refuse_drift(session, session.mentioned(source)))
            if format is Format.parquet:
                _write(parquet(_interruptible(session, lambda: session.query(source))), out)
                return
            rows = Rows(*_interruptible(session, lambda: session.fetch(source)))
    else:
        rows = tables.configured(source())
    if format in tables.TIDY:
        _emit(rows, format, 0, out)
    else:
        _write(tables.render(wanted, rows.named(), format), out)


def figure(
    number: Annotated[str, typer.Argument(metavar="N", help="The figure's number in the paper; s1, s4, s5: those of the tool-use audit.")],
    format: Annotated[FigureFormat | None, typer.Option("--format", help="By default what --out ends in, else svg.")] = None,  # noqa: A002
    set_: SetOption = None,
    warehouse: WarehouseOption = WAREHOUSE,
    out: OutOption = None,
) -> None:
    """Draw a figure of the paper over a study.

    svg and png are pictures; the other formats hold the rows that they show, in fractions.
    """
    from analysis import quality
    from analysis.figures import format_of, pictures
    from analysis.paper_figures import require

    wanted, chosen = require(number), format or format_of(out)
    with _reading(warehouse, set_) as session:
        _interruptible(session, lambda: quality.refuse_drift(session, session.mentioned(wanted.source)))
        if chosen not in PICTURES:
            _show(session, wanted.source, Format(chosen.value), 0, out)
            return
        rows = _interruptible(session, lambda: session.rows(wanted.source))
    drawn = pictures(wanted, rows, [chosen])[chosen]
    _write(drawn.decode() if chosen is FigureFormat.svg else drawn, out)


def views(
    format: FormatOption = Format.table,  # noqa: A002
    set_: SetOption = None,
    warehouse: WarehouseOption = WAREHOUSE,
    limit: LimitOption = 0,
    out: OutOption = None,
) -> None:
    """List the views.

    What one row is, how it is kept and whether it is kept for this warehouse, the raw scans and parameters behind it, and its fingerprint.
    """
    from analysis import catalog, session

    known = catalog.load()
    parameters = session.defaults(known)
    kept: set[str] = set()
    if warehouse.exists():
        with _reading(warehouse, set_) as reading:
            kept = _interruptible(reading, lambda: {name for name in known if reading.cache and reading.cache.known(reading, name)})
    columns = ["view", "grain", "cache", "cached", "scans", "parameters", "fingerprint"]
    rows = [
        [
            name,
            view.grain,
            view.cache,
            name in kept if view.cache else None,
            ", ".join(f"{table} {times}" for table, times in known.cost(name).items()) or None,
            ", ".join(known.parameters(name, parameters)) or None,
            known.fingerprint(name),
        ]
        for name, view in known.items()
    ]
    _emit(Rows(columns, rows), format, limit, out)


def lineage(
    view: Annotated[str, typer.Argument(metavar="VIEW[.COLUMN]", help="A view, or one of its columns.")],
    format: Annotated[str, typer.Option("--format", help="text, mermaid or json.")] = "text",  # noqa: A002
    out: OutOption = None,
) -> None:
    """Show what a view or column is computed from."""
    from analysis import catalog
    from analysis import lineage as graph

    _write(graph.render(graph.trace(catalog.load(), view), format), out)


def diff(
    view: Annotated[str | None, typer.Argument(metavar="[VIEW]", help="Show what changes in this view, row by row.")] = None,
    base: Annotated[str | None, typer.Option("--base", metavar="REV", help="The git revision of sql/ to compare with.")] = None,
    set_: SetOption = None,
    base_set: Annotated[
        list[str] | None, typer.Option("--base-set", metavar="NAME=VALUE", help="Override a parameter on the base side. Repeatable.")
    ] = None,
    format: FormatOption = Format.table,  # noqa: A002
    warehouse: WarehouseOption = WAREHOUSE,
    limit: LimitOption = 100,
    out: OutOption = None,
) -> None:
    """Compare two versions of the analysis.

    Over one warehouse: sql/ as it was at a revision against sql/ as it is, or one set of parameters against another. Shows which views
    changed and why, how many of their rows appear, vanish or differ, and how each headline moves. --set study=NAME holds for both sides.
    """
    from analysis import catalog, sandbox, session
    from analysis import diff as comparing

    if not (base or set_ or base_set):
        raise UsageError("name what to compare with: a revision with --base REV, or a parameter with --set NAME=VALUE")
    then = catalog.load_revision(base) if base else None
    shared = {name: value for name, value in _pairs(set_).items() if name == "study"}
    with _reading(warehouse, set_) as new, session.open(warehouse, {**shared, **_pairs(base_set)}, then) as old:
        connections = (old.connection, new.connection)
        if view:
            _emit(sandbox.interruptible(lambda: comparing.rows(old, new, view), *connections), format, limit, out)
            return
        changes, moves = sandbox.interruptible(lambda: comparing.compare(old, new, comparing.changed(old, new)), *connections)
    if format is Format.parquet:
        _emit(comparing.summary(changes), format, 0, out)
    else:
        _write(comparing.render(changes, moves, format), out)


def audit(
    format: FormatOption = Format.table,  # noqa: A002
    set_: SetOption = None,
    warehouse: WarehouseOption = WAREHOUSE,
    out: OutOption = None,
) -> None:
    """Run every audit of the data.

    Rows that break a promise are shown and end in exit code 3; warnings are shown only.
    """
    from analysis import catalog, quality

    with _reading(warehouse, set_) as session:
        findings = _interruptible(session, lambda: quality.run(session))
    _write(quality.render(findings, format), out)
    if broken := [finding for finding in findings if finding.severity == catalog.ERROR and finding.rows]:
        raise DataError("; ".join(f"{finding.view} finds {len(finding.rows)} row{'s' * (len(finding.rows) > 1)}" for finding in broken))


class RawForm(StrEnum):
    """The forms in which raw tables are exported."""

    parquet = "parquet"


class Engine(StrEnum):
    """The engines that the views are carried to."""

    spark = "spark"


def export(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FOLDER", help="The folder to write; by default data/results, with --raw data/raw, with --engine data/spark."
        ),
    ] = None,
    study: Annotated[str | None, typer.Option("--study", help="The study to export; by default the newest of either audit.")] = None,
    raw: Annotated[
        RawForm | None,
        typer.Option("--raw", help="Write the raw tables of all studies instead: partitioned Parquet, which --warehouse takes."),
    ] = None,
    engine: Annotated[
        Engine | None, typer.Option("--engine", help="Write the views instead, as SQL of that engine, to run over what --raw writes.")
    ] = None,
    set_: SetOption = None,
    warehouse: WarehouseOption = WAREHOUSE,
) -> None:
    """Write a study's tables and views into a folder.

    With them go metrics.json, and provenance.json: what each number was computed from.
    """
    from analysis import export as exporting

    if raw and engine:
        raise UsageError("--raw and --engine write two folders: call export twice")
    if raw and (study or set_):
        raise UsageError("--raw writes the raw tables of every study, whatever the parameters are: leave out --study and --set")
    place = out or Path("data/raw" if raw else "data/spark" if engine else "data/results")
    chosen = [*(set_ or []), *([f"study={study}"] if study else [])]

    def write(session: Session) -> list[str]:
        if raw:
            from analysis import raw_parquet

            return raw_parquet.write(session, place)
        if engine:
            from analysis import spark

            return spark.write(session, place)
        return exporting.write(session, warehouse, place)

    with _reading(warehouse, chosen) as session:
        written = _interruptible(session, lambda: write(session))
    print(f"{len(written)} files in {place}", file=sys.stderr)


@contextmanager
def _reading(warehouse: Path, settings: list[str] | None) -> Iterator[Session]:
    """A session over the warehouse; DuckDB's own faults leave as DataError, in one line."""
    import duckdb

    from analysis import session
    from analysis.session import one_line

    try:
        with session.open(warehouse, _pairs(settings)) as opened:
            _choose(opened, warehouse)
            yield opened
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException) as fault:
        raise UsageError(one_line(fault)) from None
    except duckdb.Error as fault:
        raise DataError(one_line(fault)) from None


def _pairs(settings: list[str] | None) -> Mapping[str, str]:
    pairs = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set {setting}: write it as NAME=VALUE")
        pairs[name.strip()] = value.strip()
    return pairs


def _choose(session: Session, warehouse: Path) -> None:
    """Refuse a study that is not there; say which are shown where there are others and none was named."""
    studies = session.studies()
    named = session.parameters.get("study")
    if named is not None and named not in studies:
        raise UsageError(f"there is no study {named!r} in {warehouse}: {'it holds ' + ', '.join(studies) if studies else 'it holds none'}")
    if named is None and len(studies) > 1:
        shown = session.shown()
        if others := ", ".join(study for study in studies if study not in shown):
            print(f"note: study {' and '.join(shown)}, appended last; --set study=NAME chooses another: {others}", file=sys.stderr)


def _interruptible(session: Session, work: Callable[[], T]) -> T:
    from analysis import sandbox

    return sandbox.interruptible(work, session.connection)


def _show(
    session: Session,
    query: str,
    format: Format,
    limit: int,
    out: Path | None,
    shorten: Callable[[str], str] | None = None,  # noqa: A002
) -> None:
    """Run a query and write its rows; the format `table` fetches no more than it shows."""
    if format is Format.parquet:
        _write(parquet(_interruptible(session, lambda: session.query(query))), out)
        return
    asked = shorten(query) if format is Format.table and limit and shorten else query
    _emit(Rows(*_interruptible(session, lambda: session.fetch(asked))), format, limit, out)


def _emit(data: Rows, format: Format, limit: int, out: Path | None) -> None:  # noqa: A002
    if format is Format.parquet:
        import polars

        _write(parquet(polars.DataFrame(data.rows, schema=list(data.columns), orient="row", infer_schema_length=None)), out)
        return
    if format is Format.table and limit and len(data) > limit:
        data = Rows(data.columns, data.rows[:limit])
        print(f"note: the first {limit} rows; --limit 0 shows all", file=sys.stderr)
    _write(TEXT[format](data), out)


def _write(content: str | bytes, out: Path | None) -> None:
    """Write a result to a file, whole or not at all, or to standard output; a device or a pipe is written to, not replaced."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if out is not None:
        partial = out.with_name(f".{out.name}.{os.getpid()}.partial")
        try:
            if out.exists() and not out.is_file() and not out.is_dir():
                out.write_bytes(data)
                return
            partial.write_bytes(data)
            partial.replace(out)
        except OSError as fault:
            partial.unlink(missing_ok=True)
            raise DataError(f"cannot write {out}: {fault.strerror}") from None
    elif isinstance(content, str):
        sys.stdout.write(content)
        sys.stdout.flush()
    elif sys.stdout.isatty():
        raise UsageError("this format is not for a terminal: name a file with --out FILE, or redirect the output")
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
