"""Keeps the views whose header says `-- cache:` on disk between calls. Deleting the folder loses nothing.

An entry is addressed by what its rows are a function of: the view's fingerprint, the values of the parameters its closure reads, the
digests of the raw tables it reads and the contents of the cached views it reads. So no entry is ever stale: after an edit of `sql/`,
a new row or another parameter, another entry is looked for. A cached view whose inputs come out the same is not computed again,
whatever happened further up.

`-- cache: whole` keeps one entry for each state of the inputs. `-- cache: incremental by completion_id` keeps the rows of each
completion, in segments, and computes those of new or changed completions only; its author promises that the rows of a completion
depend on nothing but the completion, its item and how the grid asked for it.

An entry is a folder that appears by renaming, whole or not at all, so that any number of processes may read and write at once. It
holds a DuckDB file, which a session attaches instead of loading it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from analysis.catalog import RAW
from analysis.session import ROW_GROUP, Session, attach, connect, tables
from analysis.syntax import literal

LIMIT_BYTES = 4_000_000_000  # of the whole cache; what was used longest ago goes first
SEGMENTS = 8  # an incremental view in more parts is written together into one

# How a row of raw.completion, with all that an incremental view may read beside it, is told apart from an edited one. Every grid says
# the same of a request, whenever and by whichever study it is asked: two of them differ only where one was edited.
_ROWS = """
CREATE OR REPLACE TEMP TABLE cache_row AS
WITH asked AS (
    SELECT request_key, min(said) AS least, max(said) AS most
    FROM (SELECT request_key, hash(*COLUMNS(* EXCLUDE (study, grid_id, created_at))) AS said FROM raw.grid)
    GROUP BY request_key
),
about AS (
    SELECT item_id, bit_xor(hash(*COLUMNS(*))) AS said FROM raw.item GROUP BY item_id
),
called AS (
    SELECT {place} AS place, completion_id, request_key, item_id, hash(*COLUMNS(*)) AS said FROM raw.completion
)
SELECT called.place, called.completion_id, hash(called.said, about.said, asked.least, asked.most) AS row_hash
FROM called
LEFT JOIN about ON called.item_id = about.item_id
LEFT JOIN asked ON called.request_key = asked.request_key
"""


class Cache:
    """The cache as one session sees it: the warehouse does not change under it."""

    def __init__(self, place: Path, warehouse: Path) -> None:
        self.place = place
        self.warehouse = warehouse.resolve()
        self._raw: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._contents: dict[str, str] = {}
        self._rows: int | None = None
        self._others: tuple[list[Any], Session] | None = None
        # by rowid, because reading the text of all rows to find a few costs four times more; a folder of Parquet has none
        self._place = "completion_id" if self.warehouse.is_dir() else "rowid"

    def close(self) -> None:
        """Let go of the warehouse."""
        if self._others:
            self._others[1].connection.close()
        self._others = None

    def restore(self, session: Session, name: str) -> bool:
        """Make the view one of the session from what is kept; False where that is nothing, or cannot be read."""
        if self._incremental(session, name):
            return self._restore_rows(session, name)
        entry = self._entry(session, name)
        with _or_nothing(entry):
            said, kept = _attach(session.connection, entry)
            _view(session.connection, name, f"SELECT * FROM {kept}.rows")
            self._contents[name] = said["content"]
            return True
        return False

    def keep(self, session: Session, name: str) -> None:
        """Keep a view that has just been computed as a table of the session, where the disk allows."""
        if not self._incremental(session, name):
            said = {"content": self._content(session, name)}
            self._write(self._entry(session, name), session.connection, {"rows": f"SELECT * FROM {name}"}, said)
        elif self._distinct(session):
            self._keep_segment(session, name, session, "cache_row")

    def known(self, session: Session, name: str) -> bool:
        """Whether a view is kept for the warehouse as it is (an incremental one: at least in part), found out without computing any."""
        if session.catalog[name].cache is None:
            return False
        with suppress(LookupError):
            if self._incremental(session, name):
                return any(self._segments(session, name).glob("*/entry.json"))
            return (self._entry(session, name, compute=False) / "entry.json").exists()
        return False

    # --- what an entry is addressed by

    def key(self, session: Session, name: str, compute: bool = True) -> str:
        """The address of a view's entry; LookupError where finding it would need computing, and that is not wanted."""
        if name not in self._keys:
            inputs = sorted(f"{leaf}={self._identity(session, leaf, compute)}" for leaf in self._leaves(session, name))
            self._keys[name] = _digest(*self._rules(session, name), *inputs)
        return self._keys[name]

    def _rules(self, session: Session, name: str) -> list[str]:
        """What makes rows of a view out of its inputs."""
        catalog = session.catalog
        settings = [f"{each}={session.parameters[each]}" for each in catalog.parameters(name, session.parameters)]
        return [duckdb.__version__, catalog.fingerprint(name), *settings]

    def _leaves(self, session: Session, name: str) -> Iterable[str]:
        """The raw tables and cached views that a view reads, through those that are not cached."""
        found, todo = set(), list(session.catalog[name].reads)
        while todo:
            read = todo.pop()
            if read.startswith(f"{RAW}.") or session.catalog[read].cache:
                found.add(read)
            else:
                todo += session.catalog[read].reads
        return found

    def _identity(self, session: Session, leaf: str, compute: bool) -> str:
        """What an input holds: the digest of a raw table, the contents of a cached view; an incremental one is told by its inputs."""
        if leaf.startswith(f"{RAW}."):
            if leaf not in self._raw:
                self._raw[leaf] = _order_free(session.connection, leaf)
            return self._raw[leaf]
        if self._incremental(session, leaf):
            return self.key(session, leaf, compute)
        if leaf not in self._contents:
            with _or_nothing():
                self._contents[leaf] = json.loads((self._entry(session, leaf, compute) / "entry.json").read_text())["content"]
        if leaf not in self._contents:
            if not compute:
                raise LookupError(leaf)
            session.need(leaf)
        return self._content(session, leaf)

    def _content(self, session: Session, name: str) -> str:
        if name not in self._contents:
            self._contents[name] = _order_free(session.connection, name)
        return self._contents[name]

    def _entry(self, session: Session, name: str, compute: bool = True) -> Path:
        return self.place / name / self.key(session, name, compute)

    # --- views that are kept by completion

    def _incremental(self, session: Session, name: str) -> bool:
        return session.catalog[name].cache == "incremental by completion_id"

    def _segments(self, session: Session, name: str) -> Path:
        """The folder of an incremental view's segments: one for its rules and this warehouse, whatever rows it has."""
        others = [leaf for leaf in self._leaves(session, name) if leaf not in {"raw.completion", "raw.item", "raw.grid"}]
        inputs = sorted(f"{leaf}={self._identity(session, leaf, True)}" for leaf in others)
        return self.place / name / _digest(*self._rules(session, name), *inputs, str(self.warehouse))

    def _distinct(self, session: Session) -> bool:
        """Whether every completion has an id and a hash of its own, which keeping by them needs; hashes the rows when first asked."""
        if self._rows is None:
            session.connection.execute(_ROWS.format(place=self._place))
            counts = "SELECT count(*), count(DISTINCT completion_id), count(DISTINCT row_hash) FROM cache_row"
            n, ids, hashes = session.connection.execute(counts).fetchall()[0]
            self._rows = n if n == ids == hashes else -1
        return self._rows >= 0

    def _restore_rows(self, session: Session, name: str) -> bool:
        segments = sorted(entry.parent for entry in self._segments(session, name).glob("*/entry.json"))
        if not segments or not self._distinct(session):
            return False
        with _or_nothing(*segments):
            kept = [_attach(session.connection, segment) for segment in segments]
            places = self._fresh(session.connection, [alias for _, alias in kept])
            if places and len(places) > (self._rows or 0) / 2:
                return False
            if places:
                segments.append(self._keep_segment(session, name, self._elsewhere(session, name, places), "cache_fresh"))
                kept.append(_attach(session.connection, segments[-1]))
            aliases = [alias for _, alias in kept]
            # every completion is kept as it is now, so if no more are kept than there are, nothing else is
            exact = sum(said["n"] for said, _ in kept) == self._rows
            _view(session.connection, name, " UNION ALL ".join(f"FROM {alias}.rows" for alias in aliases) if exact else _as_now(aliases))
            if len(segments) > SEGMENTS:
                together = self._keep_segment(session, name, session, "cache_row")
                for segment in set(segments) - {together}:
                    shutil.rmtree(segment, ignore_errors=True)
            return True
        return False

    def _fresh(self, connection: duckdb.DuckDBPyConnection, kept: Sequence[str]) -> list[Any]:
        """Make `cache_fresh`, the completions that no segment holds as they are now; their places."""
        hashes = " UNION ALL ".join(f"SELECT row_hash FROM {alias}.ids" for alias in kept)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE cache_fresh AS FROM cache_row WHERE row_hash NOT IN ({hashes})")
        return [row[0] for row in connection.execute("SELECT place FROM cache_fresh").fetchall()]

    def _elsewhere(self, session: Session, name: str, places: list[Any]) -> Session:
        """A session over these rows of raw.completion only, with the view computed: it makes of them what it would make of all."""
        if self._others is None or self._others[0] != places:
            self.close()
            self._others = (places, self._over(session, places))
        self._others[1].need(name)
        return self._others[1]

    def _over(self, session: Session, places: list[Any]) -> Session:
        connection = connect()
        attach(connection, self.warehouse, "warehouse", session.catalog.raw_schema)
        connection.execute(f"ATTACH ':memory:' AS {RAW}")
        chosen = f"SELECT * FROM warehouse.completion WHERE {self._place} IN (SELECT unnest(?))"
        connection.execute(f"CREATE TABLE {RAW}.completion AS {chosen}", [places])
        for table in tables(session.connection):
            if table != "completion":
                connection.execute(f'CREATE VIEW {RAW}."{table}" AS SELECT * FROM warehouse."{table}"')
        said = list(zip(*session.connection.execute("SELECT completion_id, row_hash FROM cache_fresh").fetchall(), strict=True))
        fresh = "SELECT unnest(?::VARCHAR[]) AS completion_id, unnest(?::UBIGINT[]) AS row_hash"
        connection.execute(f"CREATE TEMP TABLE cache_fresh AS {fresh}", [list(column) for column in said])
        return Session(connection, session.catalog, {each: value for each, value in session.parameters.items() if value is not None})

    def _keep_segment(self, session: Session, name: str, computed: Session, rows: str) -> Path:
        """Keep the rows that `computed` holds of a view, for the completions in its table `rows`."""
        counts = f"SELECT count(*), COALESCE(sum(row_hash::HUGEINT), 0) FROM {rows}"
        n, total = computed.connection.execute(counts).fetchall()[0]
        segment = self._segments(session, name) / _digest(f"{n}-{total}")
        tables = {"rows": f"SELECT * FROM {name}", "ids": f"SELECT completion_id, row_hash FROM {rows}"}
        self._write(segment, computed.connection, tables, {"n": n})
        return segment

    # --- the disk

    def _write(self, entry: Path, connection: duckdb.DuckDBPyConnection, tables: Mapping[str, str], said: Mapping[str, Any]) -> None:
        """Write an entry beside its place, then rename its folder there; an entry that is there already is as good."""
        with _or_nothing():
            entry.parent.mkdir(parents=True, exist_ok=True)
            partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=entry.parent))
            try:
                file = partial / "rows.duckdb"
                _fill(connection, file, tables)
                (partial / "entry.json").write_text(json.dumps({**said, "bytes": file.stat().st_size}))
                if entry.exists() and not (entry / "entry.json").exists():
                    shutil.rmtree(entry)
                with suppress(OSError):
                    partial.rename(entry)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
            self._evict()

    def _evict(self) -> None:
        """Remove what was used longest ago until the cache is within its limit."""
        entries = [path.parent for path in self.place.glob("*/**/entry.json")]
        sized = [(entry.stat().st_mtime, sum(part.stat().st_size for part in entry.iterdir()), entry) for entry in entries]
        total = sum(size for _, size, _ in sized)
        for _, size, entry in sorted(sized, key=lambda each: each[0]):
            if total <= LIMIT_BYTES:
                break
            shutil.rmtree(entry, ignore_errors=True)
            total -= size


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _attach(connection: duckdb.DuckDBPyConnection, entry: Path) -> tuple[dict[str, Any], str]:
    """What an entry says of itself, and the alias under which its file is now attached; ValueError where the file was cut short."""
    said: dict[str, Any] = json.loads((entry / "entry.json").read_text())
    file = entry / "rows.duckdb"
    if file.stat().st_size != said["bytes"]:
        raise ValueError(f"{file} was cut short")
    alias = f'"kept {entry.parent.name} {entry.name}"'
    connection.execute(f"ATTACH IF NOT EXISTS {literal(str(file))} AS {alias} (READ_ONLY, ROW_GROUP_SIZE {ROW_GROUP})")
    os.utime(entry)
    return said, alias


def _fill(connection: duckdb.DuckDBPyConnection, file: Path, tables: Mapping[str, str]) -> None:
    """Write a database file that holds these tables, each from its query."""
    connection.execute(f"ATTACH {literal(str(file))} AS keeping (ROW_GROUP_SIZE {ROW_GROUP})")
    try:
        for table, query in tables.items():
            connection.execute(f"CREATE TABLE keeping.{table} AS {query}")
    finally:
        connection.execute("DETACH keeping")


def _as_now(kept: Sequence[str]) -> str:
    """The query for the rows of the completions as they are now, where segments hold others' rows or some twice."""
    ids = " UNION ALL ".join(f"SELECT {number} AS segment, completion_id, row_hash FROM {alias}.ids" for number, alias in enumerate(kept))
    rows = " UNION ALL ".join(f"SELECT {number} AS cache_segment, * FROM {alias}.rows" for number, alias in enumerate(kept))
    now = f"({ids}) SEMI JOIN cache_row USING (completion_id, row_hash)"
    first = f"SELECT min(segment) AS cache_segment, completion_id FROM {now} GROUP BY completion_id"
    return f"SELECT * EXCLUDE (cache_segment) FROM ({rows}) SEMI JOIN ({first}) USING (cache_segment, completion_id)"


def _view(connection: duckdb.DuckDBPyConnection, name: str, query: str) -> None:
    schema, _, view = name.partition(".")
    connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
    connection.execute(f'CREATE VIEW "{schema}"."{view}" AS {query}')


def _order_free(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    """A digest of a table's rows in which their order does not count."""
    n, total = connection.execute(f"SELECT count(*), COALESCE(sum(hash(*COLUMNS(*))::HUGEINT), 0) FROM {name}").fetchall()[0]
    return f"{n}-{total:x}"


@contextmanager
def _or_nothing(*entries: Path) -> Iterator[None]:
    """The cache never stands in the way: what cannot be read or written is removed, and done without."""
    try:
        yield
    except duckdb.InterruptException:
        raise
    except (OSError, ValueError, KeyError, duckdb.Error):
        for entry in entries:
            shutil.rmtree(entry, ignore_errors=True)
