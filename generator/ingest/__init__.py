"""A stranger's completions become a study: files of raw rows, in the ingest form or as a public log, into the warehouse.

`ingest()` reads a file as a stream, finds its form, and accounts for every line: stored, already stored, or refused with a reason. What
came back from a model is stored as it stands in the file; nothing here reads an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb

from analysis import session
from analysis.errors import DataError, UsageError
from generator import journal, warehouse
from generator.ingest import isobench_eval, lines
from generator.ingest.ledger import Ledger, named
from generator.ingest.lines import IDENTITY, Row
from generator.ingest.report import Refusal, Report, Unusable
from generator.ingest.source import Member, Record, members, records
from generator.record import run_row

__all__ = ["Refusal", "Report", "ingest"]

BATCH_ROWS, BATCH_CHARACTERS = 20_000, 32 << 20  # merged at once: bounds memory, whatever the size of the file
Numbered = tuple[int, Row]


def ingest(file: Path, path: Path, study: str | None = None, model: str | None = None) -> Report:
    """Store the rows of a file in the warehouse at `path`; the study (by default the file's stem) then asks for what it holds.

    `model` names the model of records that name none; an IsoBench-Eval log needs it (UsageError). A second file into the same study adds
    to it; a file read twice changes nothing. Raises DataError where no line of the file can be used, LockedError where another process
    writes.
    """
    report = Report(study or file.stem)
    if not report.study.strip() or not report.study.isprintable():
        raise UsageError(f"{report.study!a} cannot name a study: give it a name of printable characters with --study NAME")
    read = partial(lines.read, study=report.study, model=model)
    if any(isobench_eval.is_record(given) for given in _first_object(file)):
        if not model:
            raise UsageError(f"{file} is an IsoBench-Eval log, which does not name its model: add --model NAME")
        report.form = "an IsoBench-Eval log"
        read = partial(_read_log, study=report.study, model=model)
    with warehouse.writer(path) as writer:
        _Ingestion(writer, report, file).run(_batches(_rows(records(file), read, report)))
    if not report.usable:
        raise DataError(f"no line of {file} can be used: {'; '.join(report.reasons()) or 'it is empty'}")
    return report


def _first_object(file: Path) -> Iterator[dict[str, Member]]:
    """The first record that is a JSON object, if any is: it shows the file's form."""
    for record in records(file):
        try:
            yield members(record.text)
        except Unusable:
            continue
        return


def _read_log(given: Mapping[str, Member], study: str, model: str) -> Row:
    return lines.read(isobench_eval.as_line(given, model), study)


def _rows(source: Iterable[Record], read: Any, report: Report) -> Iterator[tuple[Numbered, int]]:
    """The rows of the records that hold one, with the size of each; the others are refused in the report."""
    for record in source:
        report.lines += 1
        try:
            if record.fault:
                raise record.fault
            row: Row = read(members(record.text))
        except Unusable as fault:
            report.refuse(record.line, fault)
            continue
        report.ignored.update(row.ignored)
        yield (record.line, row), len(record.text)


def _batches(rows: Iterable[tuple[Numbered, int]]) -> Iterator[list[Numbered]]:
    batch: list[Numbered] = []
    size = 0
    for row, characters in rows:
        batch.append(row)
        size += characters
        if len(batch) >= BATCH_ROWS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Ingestion:
    """One file on its way into the warehouse: what it said so far, the study's cells, and the report."""

    def __init__(self, writer: warehouse.Writer, report: Report, file: Path) -> None:
        self.writer, self.report = writer, report
        self.ledger = Ledger(file.name)
        self.asked = self.asked_already()
        self.cells: dict[str, tuple[Any, ...]] = {}
        """The columns of IDENTITY by request_key: all that is held of a row once it is merged."""
        self.run_row = run_row(report.study, f"ingest {file}")
        self.unwritten = [("run", self.run_row)]  # goes with the first row, so that a file that brings nothing changes nothing
        self.merging = ThreadPoolExecutor(1, "merge")  # DuckDB works on one batch while Python parses the next
        self.merged: Future[object] = Future()
        self.merged.set_result(None)

    def run(self, batches: Iterable[list[Numbered]]) -> None:
        """Store completions and what belongs to them as they come; then the items, the finished rollouts, and the study's grid."""
        rollouts: list[Numbered] = []  # short, and written last: views read only rollouts that have one
        with self.merging:
            for batch in batches:
                for item in self.stored("item", self.ledger.unknown_items(row for _, row in batch)):
                    self.ledger.hold(item)
                admitted = [(line, row) for line, row in batch if self.admit(line, row)]
                rollouts += [(line, row) for line, row in admitted if row.table == "rollout"]
                self.store([(line, row) for line, row in admitted if row.table not in ("item", "rollout")])
            items = list(self.ledger.new_items())
            self.report.new_items = len(items)
            self.merge([("item", item) for item in items])
            self.store(rollouts)
            self.merged.result()
        if self.cells:
            self.writer.append_grid(self.report.study, self.grid())

    def admit(self, line: int, row: Row) -> bool:
        """Whether the row is the first of its kind and contradicts nothing; a row of raw.item is accounted for here."""
        try:
            self.check_cell(row)
            self.ledger.admit(line, row)
        except Unusable as fault:
            self.report.refuse(line, fault)
            return False
        if row.table == "item":
            if self.ledger.is_stored(row.values["item_id"]):
                self.report.already += 1
            else:
                self.report.stored["item"] += 1
        return True

    def check_cell(self, row: Row) -> None:
        """Unusable where the study asks for the row's cell by a request of its own: the cell would have two, and every join two rows."""
        if row.table == "completion" and row.values["protocol"] == "modality":
            key = row.values["request_key"]
            if self.asked.get(tuple(row.values[name] for name in IDENTITY), key) != key:
                raise Unusable(
                    "asked for by generate", f"study {self.report.study} asks for {named(row)} itself: name a study of its own with --study"
                )

    def store(self, rows: list[Numbered]) -> None:
        """Merge the rows that are not stored yet; those that are must say the same."""
        stored = self.stored_rows(rows)
        fresh: list[journal.Record] = []
        for line, row in rows:
            before = stored.get(_key(row.table, row.values))
            if before is None:
                fresh.append((row.table, row.values | {"run_id": self.run_row["run_id"]} if _has_run(row.table) else row.values))
            elif before == _content(row.table, row.values) or row.table in warehouse.FIRST_WINS:
                self.report.already += 1
            else:
                detail = f"the warehouse has {named(row)} with other content: a new answer is a higher attempt"
                self.report.refuse(line, Unusable("stored with other content", detail))
                continue
            if row.table == "completion":
                self.cells[row.values["request_key"]] = tuple(row.values[name] for name in IDENTITY)
        self.report.stored.update(table for table, _ in fresh)
        self.merge(fresh)

    def merge(self, rows: list[journal.Record]) -> None:
        """Begin to merge rows, once those before are merged."""
        self.merged.result()
        if rows:
            self.merged = self.merging.submit(self.writer.merge_records, [*self.unwritten, *rows])
            self.unwritten = []

    def stored_rows(self, rows: list[Numbered]) -> dict[tuple[Any, ...], dict[str, Any]]:
        """What the warehouse says of the keys of these rows, by table and key."""
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for table in {row.table for _, row in rows}:
            column = warehouse.KEYS[table][0]
            keys = sorted({row.values[column] for _, row in rows if row.table == table})
            found |= {_key(table, stored): _content(table, stored) for stored in self.stored(table, keys)}
        return found

    def stored(self, table: str, keys: list[str]) -> list[dict[str, Any]]:
        """The rows that the warehouse holds under these values of the first column of a table's key."""
        self.merged.result()
        if not keys or not self.writer.path.exists():
            return []
        return _query(self.writer.path, f"SELECT * FROM raw.{table} WHERE {warehouse.KEYS[table][0]} IN (SELECT unnest(?))", [keys])

    def asked_already(self) -> dict[tuple[Any, ...], str]:
        """The request_key of every cell of the modality audit that the study's newest grid asks for, by the columns of IDENTITY."""
        cells = (cell for cell in self.newest_grid() if cell["protocol"] == "modality")
        return {tuple(cell[name] for name in IDENTITY): cell["request_key"] for cell in cells}

    def newest_grid(self) -> list[dict[str, Any]]:
        """The cells of the study's newest grid."""
        if not self.writer.path.exists():
            return []
        return _query(
            self.writer.path,
            "SELECT * EXCLUDE (study, grid_id, created_at) FROM raw.grid "
            "WHERE study = $study AND grid_id = (SELECT max(grid_id) FROM raw.grid WHERE study = $study)",
            {"study": self.report.study},
        )

    def grid(self) -> Iterable[dict[str, Any]]:
        """The study's newest grid, and the requests of this file."""
        newest = self.newest_grid()
        known = {cell["request_key"] for cell in newest}
        added = ({"request_key": key, **dict(zip(IDENTITY, cell, strict=True))} for key, cell in self.cells.items() if key not in known)
        return chain(newest, added)


def _query(path: Path, sql: str, parameters: Any) -> list[dict[str, Any]]:
    with duckdb.connect() as connection:
        session.attach(connection, path)
        result = connection.execute(sql, parameters)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _key(table: str, values: Mapping[str, Any]) -> tuple[Any, ...]:
    return (table, *(values[name] for name in warehouse.KEYS[table]))


def _content(table: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A row as the warehouse encodes it, but for the run that wrote it: equal for a row and its stored self."""
    return journal.encode(table, {name: value for name, value in values.items() if name != "run_id" and value is not None})


def _has_run(table: str) -> bool:
    return "run_id" in journal.columns_of(table)
