"""Brings the warehouses of several machines together in one: each row once, or nothing at all.

A row is known by its table's key (`warehouse.KEYS`). What a row says must be the same wherever it is held; when it was asked, how long that
took and in which run may differ, and the row that was held first stays. The newest grids of a study become one, unless another warehouse
has put one of them behind it. All is written in one transaction, after everything has been compared.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from analysis import session
from analysis.errors import DataError, UsageError
from analysis.sandbox import interruptible
from analysis.syntax import literal
from generator import warehouse
from generator.journal import columns_of
from generator.pictures import OBSERVATIONS
from generator.status import waiting
from generator.warehouse import FIRST_WINS, KEYS, ORIGIN, Writer, cell_columns, grid_digest, quoted

TARGET = "raw"  # the alias of the warehouse that is written
MEASURED = frozenset({"started_at", "latency_s"})  # of one exchange: no machine measures the same
NAMED = 3  # conflicting rows that the error names
WHO = ("model_id", "task", "item_id", "arm", "template", "attempt")  # what tells a person which row is meant


@dataclass
class Merged:
    """What a merge has brought: rows by table, image files, and how many images that rows speak of are in no `observations` folder."""

    rows: Counter[str] = field(default_factory=Counter)
    files: int = 0
    missing: int = 0

    def __str__(self) -> str:
        brought = [f"{count:,} of {table}" for table, count in sorted(self.rows.items()) if count]
        files = [f"{self.files:,} image files"] if self.files else []
        return ", ".join([*brought, *files]) or "nothing new"


def merge(path: Path, sources: Sequence[Path]) -> Merged:
    """Add to the warehouse at `path`, made where it is missing, what the others hold and it does not; and the images beside them.

    UsageError where a source is the warehouse itself. DataError, with nothing written, where a source is no warehouse, has a journal that
    is not merged yet, or where rows of one key differ. LockedError where another process writes.
    """
    for source in sources:
        _check(path, source)
    with warehouse.writer(path) as writer, _attached(writer, sources) as held:
        # The keys on the right are what a join holds in memory, never the bodies on the left, however many of each there are.
        writer.connection.execute("SET disabled_optimizers = 'build_side_probe_side,join_order'")
        try:
            return interruptible(lambda: _Merge(writer, path, held).run(), writer.connection)
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as fault:
            raise DataError(f"the warehouses could not be merged into {path} ({session.one_line(fault)}): nothing was") from None


def _check(path: Path, source: Path) -> None:
    if path.exists() and source.exists() and path.samefile(source):
        raise UsageError(f"{source} is what the others are merged into: name it once, first")
    for journal, count in waiting(source).items():
        if count:
            raise DataError(
                f"{journal} holds {count:,} records that {source} lacks: `vlmaudit generate` there merges them; then merge again"
            )
    with session.open(source):  # says in one line what is wrong with the file
        pass


@contextmanager
def _attached(writer: Writer, sources: Sequence[Path]) -> Iterator[dict[str, Path]]:
    """The sources attached read-only, by alias."""
    held = {f"source_{place}": source for place, source in enumerate(sources, 1)}
    attached: list[str] = []
    try:
        for alias, source in held.items():
            try:
                writer.connection.execute(f"ATTACH {quoted(source)} AS {alias} (READ_ONLY)")
            except duckdb.Error as fault:
                raise DataError(f"{source} cannot be read just now ({session.first_line(fault)}): try again") from None
            attached.append(alias)
        yield held
    finally:
        for alias in attached:
            writer.connection.execute(f"DETACH {alias}")


@dataclass
class _Holder:
    """One of the warehouses that are compared: its alias, its file, and the columns of its tables."""

    alias: str
    path: Path
    columns: dict[str, set[str]]


class _Merge:
    """One merge: everything is compared first, then images are copied, then rows are written."""

    def __init__(self, writer: Writer, path: Path, sources: dict[str, Path]) -> None:
        self.writer, self.path, self.connection = writer, path, writer.connection
        self.sources = [_Holder(alias, source, self._columns(alias, source)) for alias, source in sources.items()]

    def run(self) -> Merged:
        merged = Merged()
        if self.path.exists():
            with self.writer.reading():
                target = _Holder(TARGET, self.path, self._columns(TARGET, self.path))
                self._compare([target, *self.sources])
                is_new = any(self._new(table, source) for table in (*KEYS, "grid") for source in self.sources)
                grids = self._united([target, *self.sources])
        else:
            self._compare(self.sources)
            is_new, grids = True, self._united(self.sources)
        merged.files = self._copy_images()
        merged.missing = self._missing()
        if is_new or grids:
            with self.writer.writing():
                self.connection.execute("BEGIN")
                for table in (*KEYS, "grid"):
                    merged.rows[table] = sum(self._insert(table, source) for source in self.sources)
                for study, grid_id, asked in grids:
                    merged.rows["grid"] += self._append(study, grid_id, asked)
                self.connection.execute("COMMIT")
        return merged

    def _columns(self, alias: str, path: Path) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for table, column in self.connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = ? AND schema_name = 'main'", [alias]
        ).fetchall():
            found.setdefault(table, set()).add(column)
        for table in (*KEYS, "grid"):
            if unknown := sorted(found.setdefault(table, set()) - columns_of(table).keys()):
                raise DataError(f"{path} has a column raw.{table}.{unknown[0]} that this version does not know: upgrade vlmaudit")
        return found

    # -- rows that several hold ------------------------------------------------------------------------------------------------------

    def _compare(self, holders: Sequence[_Holder]) -> None:
        """Refuse rows that are held under one key with other content."""
        for table, names in KEYS.items():
            holding = [holder for holder in holders if holder.columns[table]]
            if table in FIRST_WINS or len(holding) < 2:
                continue
            key = ", ".join(names)
            keys = " UNION ALL ".join(f"SELECT DISTINCT {key} FROM {holder.alias}.{table}" for holder in holding)
            self.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE shared_key AS SELECT {key} FROM ({keys}) GROUP BY {key} HAVING count(*) > 1"
            )
            if not self.connection.execute("SELECT 1 FROM shared_key LIMIT 1").fetchone():
                continue
            content = " UNION ALL ".join(
                f"SELECT {key}, '{holder.alias}' AS holder, md5(to_json([{self._content(table, holder)}])) AS content "
                f"FROM {holder.alias}.{table} SEMI JOIN shared_key USING ({key})"
                for holder in holding
            )
            differing = self.connection.execute(
                f"SELECT {key}, min(holder), max(holder), count(*) OVER () FROM ({content}) GROUP BY {key} "
                f"HAVING count(DISTINCT content) > 1 ORDER BY {key} LIMIT {NAMED}"
            ).fetchall()
            if differing:
                raise self._conflict(table, differing, {holder.alias: holder for holder in holding})

    @staticmethod
    def _content(table: str, holder: _Holder) -> str:
        """What a row says, column by column, in digests that take little memory; a column that an older warehouse lacks says nothing."""
        said = [name for name in columns_of(table) if name not in {*KEYS[table], *ORIGIN, *MEASURED}]
        text = {"BLOB": "md5({0})"}
        return ", ".join(
            text.get(columns_of(table)[name], "md5(CAST({0} AS VARCHAR))").format(f'"{name}"') if name in holder.columns[table] else "NULL"
            for name in said
        )

    def _conflict(self, table: str, differing: Sequence[tuple[Any, ...]], holders: dict[str, _Holder]) -> DataError:
        key = KEYS[table]
        first, second = (holders[alias].path for alias in differing[0][-3:-1])
        named = "; ".join(self._name(table, row[: len(key)], holders[row[-3]].alias) for row in differing)
        more = differing[0][-1] - len(differing)
        return DataError(
            f"{first} and {second} hold other content under the same key of raw.{table}: {named}{f'; and {more:,} more' if more else ''}; "
            "nothing was merged: leave one of the two out, and ask again for what is then missing"
        )

    def _name(self, table: str, values: Sequence[Any], alias: str) -> str:
        """A row by its key, and for a person by what it is about."""
        names = [*KEYS[table], *(name for name in WHO if name in columns_of(table) and name not in KEYS[table])]
        where = " AND ".join(f"{name} = ?" for name in KEYS[table])
        found = self.connection.execute(f"SELECT {', '.join(names)} FROM {alias}.{table} WHERE {where}", list(values)).fetchone()
        return ", ".join(f"{name} {value!r}" for name, value in zip(names, found or values, strict=False))

    # -- rows that are new -----------------------------------------------------------------------------------------------------------

    def _fresh(self, table: str, source: _Holder) -> str:
        """FROM and what follows it: the rows of a source whose key the target lacks."""
        key = ", ".join(KEYS.get(table, ("study", "grid_id")))
        return f"FROM {source.alias}.{table} AS held ANTI JOIN {TARGET}.{table} USING ({key})"

    def _new(self, table: str, source: _Holder) -> bool:
        if not source.columns[table]:
            return False
        return self.connection.execute(f"SELECT 1 {self._fresh(table, source)} LIMIT 1").fetchone() is not None

    def _insert(self, table: str, source: _Holder) -> int:
        if not source.columns[table]:
            return 0
        found = self.connection.execute(f"INSERT INTO {TARGET}.{table} BY NAME SELECT held.* {self._fresh(table, source)}").fetchone()
        return int(found[0]) if found else 0

    # -- grids -----------------------------------------------------------------------------------------------------------------------

    def _united(self, holders: Sequence[_Holder]) -> list[tuple[str, str, str]]:
        """For each study whose boundary changes, the grid to append: its study, its grid_id, and the query of its cells."""
        appended = []
        for study in sorted({row[0] for holder in holders for row in self._grids(holder)}):
            ids = {holder.alias: sorted(row[1] for row in self._grids(holder) if row[0] == study) for holder in holders}
            asked, digest = self._boundary(study, {alias: mine for alias, mine in ids.items() if mine})
            newest = max(grid_id for mine in ids.values() for grid_id in mine)
            if not newest.endswith(f"-{digest}"):
                appended.append((study, f"{int(newest.partition('-')[0]) + 1:04d}-{digest}", asked))
        return appended

    def _grids(self, holder: _Holder) -> list[tuple[str, str]]:
        return self.connection.execute(f"SELECT DISTINCT study, grid_id FROM {holder.alias}.grid").fetchall()

    def _boundary(self, study: str, ids: dict[str, list[str]]) -> tuple[str, str]:
        """The query of what a study asks for over all warehouses, and its digest: the newest grids together, less those that another
        warehouse has put behind it.
        """
        newest = {_digest(mine[-1]): (alias, mine[-1]) for alias, mine in ids.items()}
        behind = {_digest(old) for mine in ids.values() for old in mine[:-1] if _digest(old) != _digest(mine[-1])}
        kept = {digest: at for digest, at in newest.items() if digest not in behind} or newest
        asked = " UNION ".join(
            f"SELECT {', '.join(cell_columns())} FROM {alias}.grid WHERE study = {literal(study)} AND grid_id = '{grid_id}'"
            for alias, grid_id in kept.values()
        )
        if len(kept) == 1:
            return asked, next(iter(kept))
        rows = [dict(zip(cell_columns(), row, strict=True)) for row in self.connection.execute(asked).fetchall()]
        _refuse_two_requests(study, rows)
        return asked, grid_digest(rows)

    def _append(self, study: str, grid_id: str, asked: str) -> int:
        found = self.connection.execute(
            f"INSERT INTO {TARGET}.grid BY NAME SELECT ? AS study, ? AS grid_id, CAST(? AS TIMESTAMP) AS created_at, * FROM ({asked})",
            [study, grid_id, datetime.now(UTC).replace(tzinfo=None)],
        ).fetchone()
        return int(found[0]) if found else 0

    # -- images ----------------------------------------------------------------------------------------------------------------------

    def _copy_images(self) -> int:
        """Copy the images of observations that lie beside the sources and not beside the target, each whole or not at all."""
        folder, copied = self.path.parent / OBSERVATIONS, 0
        for source in (holder.path.parent / OBSERVATIONS for holder in self.sources):
            for file in sorted(source.glob("*.[pj][np]g")) if source.is_dir() else ():
                if (folder / file.name).exists():
                    continue
                new = folder / f"{file.name}.new"
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, new)
                os.replace(new, folder / file.name)
                copied += 1
        return copied

    def _missing(self) -> int:
        folder = self.path.parent / OBSERVATIONS
        there = {file.stem for file in folder.iterdir()} if folder.is_dir() else set()
        spoken_of = {
            row[0]
            for source in self.sources
            if source.columns["observation"]
            for row in self.connection.execute(
                f"SELECT DISTINCT image_sha256 FROM {source.alias}.observation WHERE image_sha256 IS NOT NULL"
            ).fetchall()
        }
        return len(spoken_of - there)


def _digest(grid_id: str) -> str:
    return grid_id.partition("-")[2]


def _refuse_two_requests(study: str, rows: Sequence[dict[str, Any]]) -> None:
    """DataError where the grids of a study ask one cell in two ways: then they are two studies."""
    names = ("model_id", "thinking", "task", "item_id", "arm", "template", "replicate")
    asked: dict[tuple[Any, ...], str] = {}
    for row in rows:
        cell = (row["protocol"], *(row[name] for name in names))
        if row["protocol"] != "tool_use" and asked.setdefault(cell, row["request_key"]) != row["request_key"]:
            said = ", ".join(f"{name} {row[name]!r}" for name in names)
            raise DataError(
                f"study {study} asks for {said} in two ways (requests {asked[cell]} and {row['request_key']}): the machines had other "
                "params, prompts or items; nothing was merged: run `vlmaudit generate` with the same files on each, then merge again"
            )
