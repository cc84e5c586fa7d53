"""The audits: every view of the schema `quality` returns the rows that break a promise, and none when all is well.

An audit whose header says `-- severity: warning` is listed with its count and fails nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.catalog import ERROR
from analysis.errors import DataError
from analysis.render import TEXT, Format, Rows, whole
from analysis.session import Session

SCHEMA = "quality"
DRIFT = {"attrition": "quality.drift", "modality": "quality.drift", "tooluse": "quality.rollout_drift"}  # by the schema of a result
SHOWN = 20  # rows of one audit in the format `table`; the other formats hold all


@dataclass(frozen=True)
class Finding:
    """One audit and the rows it found."""

    view: str
    promise: str
    severity: str
    rows: Rows


def run(session: Session) -> list[Finding]:
    """Run every audit, errors first."""
    audits = [view for name, view in session.catalog.items() if name.startswith(f"{SCHEMA}.")]
    ordered = sorted(audits, key=lambda view: (view.severity != ERROR, view.name))
    return [
        Finding(
            view.name,
            view.header.get("promise", view.grain),
            view.severity,
            Rows(*session.fetch(f"SELECT * FROM {view.name} ORDER BY ALL")),
        )
        for view in ordered
    ]


def refuse_drift(session: Session, views: Iterable[str]) -> None:
    """DataError where results over these views would pool answers of one condition that were given in several ways."""
    schemas = {name.partition(".")[0] for name in views}
    for audit in sorted({DRIFT[schema] for schema in schemas & DRIFT.keys()}):
        for row in session.rows(f"SELECT *, count(*) OVER () AS n_rows FROM {audit} ORDER BY ALL LIMIT 1"):
            where = " ".join(str(row[name]) for name in ("model_id", "task", "arm", "template"))
            mode = ", thinking," if row["thinking"] else ""
            others = f" (and {row['n_rows'] - 1} more)" if row["n_rows"] > 1 else ""
            raise DataError(
                f"{where}{mode} was answered in {row['n_values']} ways: {row['aspect']} "
                f"{row['first_value']} and {row['last_value']}{others}; "
                f"`vlmaudit show {audit}` lists them; ask again what differs, or pool it all the same with --set quality.pool_drift=true"
            )


def render(findings: Sequence[Finding], format: Format) -> str:  # noqa: A002 - the option's name
    """As `table`: a summary, then the rows of each audit that found any. Else one row per finding, with the row found as JSON text."""
    if format is Format.table:
        summary = Rows(
            ["audit", "severity", "rows", "promise"], [[found.view, found.severity, len(found.rows), found.promise] for found in findings]
        )
        return "\n".join([TEXT[format](summary), *(_section(found) for found in findings if len(found.rows))])
    rows = [
        [found.view, found.severity, json.dumps({name: whole(value) for name, value in zip(found.rows.columns, row, strict=True)})]
        for found in findings
        for row in found.rows.rows
    ]
    return TEXT[format](Rows(["audit", "severity", "row"], rows))


def _section(found: Finding) -> str:
    shown = Rows(found.rows.columns, found.rows.rows[:SHOWN])
    more = f"… and {len(found.rows) - SHOWN} more: vlmaudit show {found.view} --limit 0\n" if len(found.rows) > SHOWN else ""
    return f"{found.severity}: {found.view}\n{TEXT[Format.table](shown)}{more}"
