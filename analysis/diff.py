"""Two versions of the analysis over one warehouse: which views changed and why, which rows it moves, and which headlines.

A side is a version of `sql/` with values for its parameters. Rows are matched by the view's key: its shortest run of leading columns
that is unique on both sides. Doubles are the same up to 1e-12, because sums of doubles vary in their last digits.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.catalog import Catalog
from analysis.errors import UsageError
from analysis.render import TEXT, Format, Rows
from analysis.session import Session
from analysis.syntax import literal

SAME = 1e-12
ENDS = re.compile(r".*_(low|high|min|max|se)")  # of an interval or a range: they are no headlines themselves
# The views whose rates are quoted, and the rows of them that are: all, or those that hold this.
HEADLINES: Mapping[str, str] = {
    "modality.prospective_task": "TRUE",
    "modality.sufficiency_task": "TRUE",
    "modality.retrospective": "model_id = 'pooled'",
    "modality.prospective_wiring_task": "TRUE",
    "modality.assessment_cost_task": "TRUE",
    "modality.grounding": "TRUE",
    "modality.task_performance": "TRUE",
    "tooluse.policy_effect": "TRUE",
    "tooluse.trajectory_effect": "TRUE",
    "tooluse.veg_summary": "TRUE",
    "tooluse.mode_share": "TRUE",
    "tooluse.decomposition": "TRUE",
}


@dataclass(frozen=True)
class Change:
    """One view that differs between the sides, and how many of its rows do."""

    view: str
    status: str  # added, removed, changed
    why: str
    n_base: int | None = None
    n_new: int | None = None
    appear: int | None = None
    vanish: int | None = None
    differ: int | None = None


def changed(base: Session, new: Session) -> list[Change]:
    """The views that differ in what they compute, in the order of their names, each with the reason; rows are not compared yet."""
    found = []
    for name in sorted(base.catalog.keys() | new.catalog.keys()):
        if name not in base.catalog:
            found.append(Change(name, "added", "its file is new"))
        elif name not in new.catalog:
            found.append(Change(name, "removed", "its file is gone"))
        elif why := "; ".join(_reasons(name, base, new)):
            found.append(Change(name, "changed", why))
    return found


def _reasons(name: str, base: Session, new: Session) -> Iterator[str]:
    one, other = base.catalog, new.catalog
    if one.fingerprint(name) != other.fingerprint(name):
        if one[name].normal_form != other[name].normal_form:
            yield "its own query"
        if one.raw_schema != other.raw_schema:
            yield "the raw schema"
        below = one.dependencies(name) & other.dependencies(name)
        if reads := sorted(read for read in below if one.fingerprint(read) != other.fingerprint(read)):
            yield f"reads {', '.join(reads)}"
    for parameter in sorted({*one.parameters(name, base.parameters), *other.parameters(name, new.parameters)}):
        before, after = base.parameters.get(parameter), new.parameters.get(parameter)
        if before != after:
            yield f"{parameter}: {before} → {after}"


def compare(base: Session, new: Session, changes: Sequence[Change]) -> tuple[list[Change], Rows]:
    """The changes with their rows counted, and every headline that moves: view, row, column, base, new, delta."""
    counted, moves = [], []
    machinery = _machinery(base.catalog) | _machinery(new.catalog)
    for change in changes:
        if change.status == "changed" and change.view not in machinery:
            pair = _Pair(base, new, change.view)
            counted.append(pair.counted(change))
            if change.view in HEADLINES:
                moves += pair.moves(HEADLINES[change.view])
        else:
            counted.append(change)
    return counted, Rows(["view", "row", "column", "base", "new", "delta"], moves)


def _machinery(catalog: Catalog) -> set[str]:
    """The views that are no results: how intervals are made, over what, and the numbers of others."""
    found = {name for name in catalog if name.startswith(("stat.", "published."))}
    for name, view in catalog.items():
        if match := re.fullmatch(r"(\S+) is (\S+)", view.header.get("over", "")):
            found |= {name, match[2]}
    return found


def rows(base: Session, new: Session, view: str) -> Rows:
    """What changes in one view, row by row: the change, the key, and for a row that differs its column and both values."""
    for side in (base, new):
        if view not in side.catalog:
            other = "base" if side is base else "new"
            (new if side is base else base).catalog.require(view)
            raise UsageError(f"the {other} side has no view {view}: there are no rows to compare")
    return _Pair(base, new, view).changes()


COUNTS = ("view", "status", "why", "n_base", "n_new", "appear", "vanish", "differ")


def summary(changes: Sequence[Change]) -> Rows:
    """The changes as rows."""
    return Rows(COUNTS, [[getattr(change, name) for name in COUNTS] for change in changes])


def render(changes: Sequence[Change], moves: Rows, format: Format) -> str:  # noqa: A002 - the option's name
    """As `table`: the views, then the headlines that move. Else one row per view, with its headlines as a list."""
    if format is Format.table:
        if not changes:
            return "Nothing differs.\n"
        moved = TEXT[format](moves) if len(moves) else "No headline moves.\n"
        return f"{TEXT[format](summary(changes))}\n{moved}"
    by_view = [[{name: move[name] for name in move if name != "view"} for move in moves.named() if move["view"] == c.view] for c in changes]
    return TEXT[format](Rows([*COUNTS, "headlines"], [[*row, moved] for row, moved in zip(summary(changes).rows, by_view, strict=True)]))


class _Pair:
    """One view as both sides compute it, side by side in the new side's database."""

    def __init__(self, base: Session, new: Session, view: str) -> None:
        self.view = view
        self.session = new
        base.need(view)
        new.need(view)
        with tempfile.TemporaryDirectory() as folder:
            file = literal(str(Path(folder) / "base.parquet"))
            wide = {name: kind for name, kind in _types(base, view).items() if "HUGEINT" in kind}
            kept = "".join(f', "{name}"::VARCHAR AS "{name}"' for name in wide)
            hidden = f" EXCLUDE ({', '.join(wide)})" if wide else ""
            base.connection.execute(f"COPY (SELECT *{hidden}{kept} FROM {view}) TO {file} (FORMAT parquet)")
            new.connection.execute(f"CREATE OR REPLACE TEMP TABLE diff_base AS SELECT * FROM read_parquet({file})")
        new.connection.execute(f"CREATE OR REPLACE TEMP TABLE diff_new AS SELECT * FROM {view}")
        before, after = _types(new, "diff_base"), _types(new, "diff_new")
        self.types = {name: kind for name, kind in after.items() if name in before}
        self.columns_gone = sorted(before.keys() - after.keys())
        self.columns_new = sorted(after.keys() - before.keys())
        self.key = self._shortest_key()

    def _one(self, query: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self.session.connection.execute(query).fetchall()[0]
        return row

    def _shortest_key(self) -> list[str]:
        """The fewest leading columns that no two rows share on either side; all of them where rows repeat."""
        names = list(self.types)
        for length in range(1, len(names) + 1):
            key = ", ".join(f'"{name}"' for name in names[:length])
            repeats = "SELECT count(*) FROM (SELECT 1 FROM {side} GROUP BY {key} HAVING count(*) > 1)"
            if not any(self._one(repeats.format(side=side, key=key))[0] for side in ("diff_base", "diff_new")):
                return names[:length]
        return names

    def _joined(self, where: str = "TRUE") -> str:
        """Both sides matched by key; a row that repeats is matched by its place among its repeats."""
        key = ", ".join(f'"{name}"' for name in self.key)
        numbered = "(SELECT *, row_number() OVER (PARTITION BY {key}) AS diff_place FROM {side} WHERE {where}) AS {name}"
        on = " AND ".join(f'base."{name}" IS NOT DISTINCT FROM new."{name}"' for name in [*self.key, "diff_place"])
        one, other = (numbered.format(key=key, side=f"diff_{side}", name=side, where=where) for side in ("base", "new"))
        return f"{one} FULL OUTER JOIN {other} ON {on}"

    def _differs(self, name: str) -> str:
        """Whether a column of a row that both sides have differs."""
        one, other = f'base."{name}"', f'new."{name}"'
        if self.types[name] in {"DOUBLE", "FLOAT"}:
            close = f"abs({one} - {other}) <= {SAME} * greatest(1, abs({one}), abs({other}))"
            return f"({one} IS DISTINCT FROM {other} AND ({close}) IS NOT TRUE)"
        if "HUGEINT" in self.types[name]:
            return f"{one} IS DISTINCT FROM {other}::VARCHAR"
        return f"{one} IS DISTINCT FROM {other}"

    @property
    def _values(self) -> list[str]:
        return [name for name in self.types if name not in self.key]

    def counted(self, change: Change) -> Change:
        """The change with its rows counted."""
        differ = " OR ".join(self._differs(name) for name in self._values) or "FALSE"
        appear, vanish, moved = self._one(
            f"""
            SELECT
                count(*) FILTER (WHERE base.diff_place IS NULL), count(*) FILTER (WHERE new.diff_place IS NULL),
                count(*) FILTER (WHERE base.diff_place IS NOT NULL AND new.diff_place IS NOT NULL AND ({differ}))
            FROM {self._joined()}
            """
        )
        n_base, n_new = self._one("SELECT (SELECT count(*) FROM diff_base), (SELECT count(*) FROM diff_new)")
        columns = [f"+{name}" for name in self.columns_new] + [f"-{name}" for name in self.columns_gone]
        why = change.why + (f"; columns {', '.join(columns)}" if columns else "")
        return Change(change.view, change.status, why, n_base, n_new, appear, vanish, moved)

    def changes(self) -> Rows:
        """Every row that appears or vanishes, and every value that differs."""
        key = ", ".join(f'COALESCE(base."{name}", new."{name}") AS "{name}"' for name in self.key)
        parts = [
            f"""
            SELECT CASE WHEN base.diff_place IS NULL THEN 'appears' ELSE 'vanishes' END AS change, {key},
                NULL::VARCHAR AS "column", NULL::VARCHAR AS base, NULL::VARCHAR AS new
            FROM {self._joined()}
            WHERE base.diff_place IS NULL OR new.diff_place IS NULL
            """
        ]
        parts += [
            f"""
            SELECT 'differs' AS change, {key}, '{name}' AS "column", base."{name}"::VARCHAR AS base, new."{name}"::VARCHAR AS new
            FROM {self._joined()}
            WHERE base.diff_place IS NOT NULL AND new.diff_place IS NOT NULL AND {self._differs(name)}
            """
            for name in self._values
        ]
        return Rows(*self.session.fetch(f"SELECT * FROM ({' UNION ALL '.join(parts)}) ORDER BY ALL"))

    def moves(self, where: str) -> list[list[Any]]:
        """The rates that differ, in the rows that are quoted: view, row, column, base, new, delta (NULL where a side has none)."""
        rates = [name for name in self._values if self.types[name] == "DOUBLE" and not ENDS.fullmatch(name)]
        quoted = [f'"{name}"::VARCHAR' for name in self.key]
        row = ", ".join(f"COALESCE(base.{name}, new.{name})" for name in quoted) or "''"
        found: list[list[Any]] = []
        for name in rates:
            _, moved = self.session.fetch(
                f"""
                SELECT concat_ws(', ', {row}) AS "row", base."{name}", new."{name}", new."{name}" - base."{name}"
                FROM {self._joined(where)}
                WHERE {self._differs(name)}
                ORDER BY ALL
                """
            )
            found += [[self.view, place, name, *values] for place, *values in moved]
        return found


def _types(session: Session, name: str) -> dict[str, str]:
    return {row[0]: row[1] for row in session.connection.execute(f"DESCRIBE FROM {name}").fetchall()}
