"""Writes a study's tables, figures and views into a folder, with the provenance of every number.

`tables/` holds the paper's tables (Markdown, LaTeX, CSV, JSON), `figures/` its figures (SVG and PNG where there is something to draw, and
the rows behind them as CSV), `views/` the results (Parquet, and CSV where a row is more than one item), `metrics.json` the headlines by
task (for `dvc metrics`), `provenance.json` what produced them. All bytes but those of the provenance are a function of the warehouse, the
views and the parameters, and of matplotlib's version.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from analysis import quality, tables
from analysis.catalog import Catalog, sql_root
from analysis.errors import DataError
from analysis.figures import pictures
from analysis.modality_tables import TABLES
from analysis.paper_figures import FIGURES
from analysis.render import TEXT, Format, Rows, parquet, whole
from analysis.session import Session

PROVENANCE = "provenance.json"
REPORTED = ("attrition", "modality", "tooluse")  # the schemas whose views are results
WORKING = ("_sums", "_mean", "_series", "_resampled", "_closed")  # what intervals are made from: up to a row for every resample

FILES = {Format.csv: "csv", Format.json: "json", Format.md: "md", Format.latex: "tex"}
HEADLINES = {
    "prospective": ("modality.prospective_task", ("predicted_change", "executed_change", "gap", "n_cells", "n_above", "n_on", "n_below")),
    "sufficiency": ("modality.sufficiency_task", ("claimed_insufficient", "precision", "recall", "silent_failure")),
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
    for number, table in TABLES.items():
        rows = Rows(*session.fetch(table.source)) if isinstance(table.source, str) else tables.configured(table.source())
        for form, ending in FILES.items():
            content = TEXT[form](rows) if form in tables.TIDY else tables.render(table, rows.named(), form)
            yield f"tables/table_{number:02}.{ending}", content.encode()
    yield from _figures(session)
    yield "metrics.json", _json(metrics(session))


def _figures(session: Session) -> Iterator[tuple[str, bytes]]:
    for number, figure in FIGURES.items():
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
    """The headlines by task, thinking off: numbers only, what is unknown left out."""
    found: dict[str, Any] = {}
    for group, (view, columns) in HEADLINES.items():
        for row in session.rows(f"SELECT task, {', '.join(columns)} FROM {view} WHERE NOT thinking ORDER BY task"):
            found.setdefault(row["task"], {})[group] = {name: whole(row[name]) for name in columns if row[name] is not None}
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
        "tables": {
            f"table_{number:02}": _fingerprints(session, table.source) for number, table in TABLES.items() if isinstance(table.source, str)
        },
        "figures": {f"figure_{number}": _fingerprints(session, figure.source) for number, figure in FIGURES.items()},
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
