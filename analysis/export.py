"""Writes a study's tables, figures and views into a folder, with the provenance of every number.

`tables/` holds the tables of the study's paper (Markdown, LaTeX, CSV, JSON), `figures/` its figures (SVG and PNG where there is something
to draw, and the rows behind them as CSV), `views/` the results (Parquet, CSV where a row is more than one item, and JSON lines of what
trains models), `metrics.json` the headlines by task (for `dvc metrics`), `provenance.json` what produced them. All bytes but those of the
provenance are a function of the warehouse, the views and the parameters, and of matplotlib's version.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from analysis import modality_figures, modality_tables, quality, tables, tooluse_figures, tooluse_tables
from analysis.catalog import Catalog, sql_root
from analysis.errors import DataError
from analysis.figures import PaperFigure, pictures
from analysis.render import TEXT, Format, Rows, parquet, whole
from analysis.session import Session
from analysis.tables import PaperTable

PROVENANCE = "provenance.json"
REPORTED = ("attrition", "modality", "tooluse")  # the schemas whose views are results
TRAINS = ("tooluse.step",)  # what is written as JSON lines too
WORKING = ("_sums", "_mean", "_series", "_resampled", "_closed")  # what intervals are made from: up to a row for every resample

FILES = {Format.csv: "csv", Format.json: "json", Format.md: "md", Format.latex: "tex"}
TABLES: Mapping[str, Mapping[Any, PaperTable]] = {"modality": modality_tables.TABLES, "tool_use": tooluse_tables.TABLES}
FIGURES: Mapping[str, Mapping[str, PaperFigure]] = {"modality": modality_figures.FIGURES, "tool_use": tooluse_figures.FIGURES}


class Headline(NamedTuple):
    """What stands in metrics.json of one view: of each task (and then of each value of `by`) these columns."""

    view: str
    columns: tuple[str, ...]
    by: tuple[str, ...] = ()
    where: str = "TRUE"


HEADLINES = {
    "prospective": Headline(
        "modality.prospective_task",
        ("predicted_change", "executed_change", "gap", "n_cells", "n_items", "n_above", "n_on", "n_below"),
    ),
    "sufficiency": Headline(
        "modality.sufficiency_task", ("claimed_insufficient", "precision", "recall", "silent_failure", "n_cells", "n_items")
    ),
    "policy": Headline("tooluse.policy_effect", ("accuracy_tool", "accuracy_direct", "ate", "n_items"), ("model_id",)),
    "random_crop": Headline(
        "tooluse.trajectory_effect",
        ("accuracy_clean", "accuracy_intervened", "ate", "hit_max", "n_items"),
        ("model_id",),
        "arm = 'random_crop' AND template = 'free'",
    ),
    "veg": Headline("tooluse.veg_summary", ("veg", "veg_max", "near_zero", "saturation", "n_veg", "n_items"), ("model_id",)),
    "veg_open": Headline("tooluse.veg_open", ("veg", "veg_iqr", "n_veg", "n_items"), ("model_id",)),
    "groups": Headline("tooluse.mode_share", ("share", "n", "n_items"), ("model_id", "mode")),
}


def write(session: Session, warehouse: Path, out: Path) -> list[str]:
    """Write the export of the session's study; the paths written, relative to `out`.

    Files of an earlier export that this one does not write are removed; anything else in the folder stays.
    Raises DataError where the folder cannot be written.
    """
    studies = session.shown()
    if not studies:
        raise DataError(f"{warehouse} holds no study to export: `vlmaudit generate` or `vlmaudit ingest` adds one")
    quality.refuse_drift(session, REPORTED)
    files = dict(_files(session))
    files[PROVENANCE] = _json(provenance(session, studies, sorted(files)))
    try:
        for stale in _earlier(out) - files.keys():
            (out / stale).unlink(missing_ok=True)
        for path, content in files.items():
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_bytes(content)
    except OSError as fault:
        raise DataError(f"cannot write {fault.filename or out}: {fault.strerror}") from None
    return sorted(files)


def _earlier(out: Path) -> set[str]:
    """The files that an earlier export says it wrote."""
    try:
        listed = json.loads((out / PROVENANCE).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    inside = out.resolve()
    return {path for path in listed if isinstance(path, str) and (inside / path).resolve().is_relative_to(inside)}


def _files(session: Session) -> Iterator[tuple[str, bytes]]:
    for name in exported(session.catalog):
        frame = session.query(f"SELECT * FROM {name} ORDER BY ALL")
        yield f"views/{name}.parquet", parquet(frame)
        if not {"item_id", "completion_id"} & set(frame.columns):
            yield f"views/{name}.csv", TEXT[Format.csv](Rows(frame.columns, frame.rows())).encode()
        if name in TRAINS and len(frame):
            yield f"views/{name}.jsonl", frame.write_ndjson().encode()
    for stem, table in _tables(session).items():
        rows = Rows(*session.fetch(table.source)) if isinstance(table.source, str) else tables.configured(table.source())
        for form, ending in FILES.items():
            content = TEXT[form](rows) if form in tables.TIDY else tables.render(table, rows.named(), form)
            yield f"tables/{stem}.{ending}", content.encode()
    yield from _figures(session)
    yield "metrics.json", _json(metrics(session))


def _audits(session: Session) -> list[str]:
    """The protocols of the studies that are shown."""
    rows = session.fetch("SELECT DISTINCT grid.protocol FROM raw.grid AS grid INNER JOIN arm.study USING (study, grid_id)")[1]
    return [audit for audit in TABLES if (audit,) in {tuple(row) for row in rows}]


def _tables(session: Session) -> dict[str, PaperTable]:
    """The tables of the audits that are shown, by the stem of their files."""
    return {f"table_{table.prefix}{table.number:02}": table for audit in _audits(session) for table in TABLES[audit].values()}


def _drawn(session: Session) -> dict[str, PaperFigure]:
    """The figures of the audits that are shown, by number."""
    return {number: figure for audit in _audits(session) for number, figure in FIGURES[audit].items()}


def _figures(session: Session) -> Iterator[tuple[str, bytes]]:
    for number, figure in _drawn(session).items():
        rows = Rows(*session.fetch(figure.source))
        yield f"figures/figure_{number}.csv", TEXT[Format.csv](rows).encode()
        if figure.shows(named := rows.named()):
            for form, content in pictures(figure, named).items():
                yield f"figures/figure_{number}.{form}", content


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=2, sort_keys=True) + "\n").encode()


def exported(catalog: Catalog) -> list[str]:
    """The views that an export holds."""
    return [name for name in catalog if name.split(".")[0] in REPORTED and not name.endswith(WORKING)]


def metrics(session: Session) -> dict[str, Any]:
    """The headlines by task, thinking off, each with the n that it is over: numbers only, what is unknown left out."""
    found: dict[str, Any] = {}
    for group, (view, columns, by, where) in HEADLINES.items():
        keys = ("task", *by)
        for row in session.rows(f"SELECT {', '.join((*keys, *columns))} FROM {view} WHERE NOT thinking AND {where} ORDER BY ALL"):
            at = found.setdefault(row["task"], {}).setdefault(group, {})
            for name in by:
                at = at.setdefault(row[name], {})
            at |= {name: whole(row[name]) for name in columns if row[name] is not None}
    return found


def provenance(session: Session, studies: list[str], files: list[str]) -> dict[str, Any]:
    """What produced the numbers: revision, warehouse, parameters, and each view's fingerprint and the parameters its closure reads."""
    catalog = session.catalog
    return {
        "study": ", ".join(studies),
        "git_revision": git_revision(),
        "warehouse_digest": warehouse_digest(session),
        "duckdb": version("duckdb"),
        "pool_drift": session.parameters["quality.pool_drift"],
        "files": files,
        "views": {name: view_provenance(session, name) for name in exported(catalog)},
        "tables": {stem: _fingerprints(session, table.source) for stem, table in _tables(session).items() if isinstance(table.source, str)},
        "figures": {f"figure_{number}": _fingerprints(session, figure.source) for number, figure in _drawn(session).items()},
    }


def _fingerprints(session: Session, query: str) -> dict[str, str]:
    return {name: session.catalog.fingerprint(name) for name in session.mentioned(query)}


def view_provenance(session: Session, name: str) -> Mapping[str, Any]:
    """A view's fingerprint and the values of the parameters that its closure reads."""
    read = session.catalog.parameters(name, session.parameters)
    return {"fingerprint": session.catalog.fingerprint(name), "parameters": {each: session.parameters[each] for each in read}}


def warehouse_digest(session: Session) -> str:
    """A hash over completion ids and bodies in which their order does not count: 32 hexadecimal digits."""
    low, high, n = session.fetch(
        """
        SELECT
            (COALESCE(sum(('0x' || substr(digest, 1, 15))::HUGEINT), 0) % 18446744073709551616)::UBIGINT,
            (COALESCE(sum(('0x' || substr(digest, 17, 15))::HUGEINT), 0) % 18446744073709551616)::UBIGINT,
            count(*)
        FROM (
            SELECT md5(completion_id || '|' || COALESCE(md5(response), '') || '|' || COALESCE(md5(response_bytes), '')) AS digest
            FROM raw.completion
        )
        """
    )[1][0]
    return f"{low:016x}{high:016x}-{n}"


def git_revision() -> str | None:
    """The commit that `sql/` stands at, with `+` where it or the code that shows it has been changed since; None outside a checkout."""

    def git(*arguments: str) -> str | None:
        command = ["git", "-C", str(sql_root().parent), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - git itself, no shell
        except OSError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    revision = git("rev-parse", "HEAD")
    changed = git("status", "--porcelain", "--", "sql", "analysis")
    return f"{revision}+" if revision and changed else revision
