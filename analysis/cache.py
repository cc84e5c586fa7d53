"""Keeps the views whose header says `-- cache:` on disk between calls. Deleting the folder loses nothing.

An entry is addressed by what its rows are a function of: the view's fingerprint, the values of the parameters its closure reads, the
digests of the raw tables it reads and the contents of the cached views it reads. So no entry is ever stale: after an edit of `sql/`,
a new row or another parameter, another entry is looked for. A cached view whose inputs come out the same is not computed again,
whatever happened further up.

`-- cache: whole` keeps one entry for each state of the inputs. `-- cache: incremental by completion_id` keeps the rows of each
completion, and computes those of new or changed completions only; its author promises that the rows of a completion depend on
nothing but the completion, its item and how the grid asked for it.

Entries are folders that appear by renaming, whole or not at all, so that any number of processes may read and write at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from analysis.catalog import RAW

if TYPE_CHECKING:
    from analysis.session import Session

LIMIT_BYTES = 4_000_000_000  # of the whole cache; what was used longest ago goes first
SEGMENTS = 8  # an incremental entry in more parts is written together into one
KEPT_TYPES = re.compile(
    r"(BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|U?HUGEINT|FLOAT|DOUBLE|VARCHAR|JSON|DATE|TIMESTAMP|BLOB|DECIMAL\(\d+,\d+\))((\[\])*)"
)
WIDE = re.compile(r"U?HUGEINT")  # Parquet has no such numbers: they are kept as text

# How a row of raw.completion and all that an incremental view may read with it is told apart from an edited one. A grid says the same
# of a request whenever and by whichever study it is asked.
_ROWS = """
CREATE OR REPLACE TEMP TABLE cache_row AS
WITH asked AS (
    SELECT request_key, bit_xor(said) AS said
    FROM (SELECT DISTINCT request_key, hash(*COLUMNS(* EXCLUDE (study, grid_id, created_at))) AS said FROM raw.grid)
    GROUP BY request_key
),
about AS (
    SELECT item_id, bit_xor(hash(*COLUMNS(*))) AS said FROM raw.item GROUP BY item_id
),
called AS (
    SELECT rowid AS place, completion_id, request_key, item_id, hash(*COLUMNS(*)) AS said FROM raw.completion
)
SELECT called.place, called.completion_id, hash(called.said, about.said, asked.said) AS row_hash
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

    def restore(self, session: Session, name: str) -> bool:
        """Make the view a table of the session from what is kept; False where that is nothing, or cannot be read."""
        if self._incremental(session, name):
            return self._restore_rows(session, name)
        entry = self._entry(session, name)
        with _or_nothing(entry):
            said = json.loads((entry / "entry.json").read_text())
            _load(session.connection, name, said["columns"], f"SELECT * FROM read_parquet({_text(entry / 'rows.parquet')})")
            self._contents[name] = said["content"]
            os.utime(entry)
            return True
        return False

    def keep(self, session: Session, name: str) -> None:
        """Keep a view that has just been computed as a table of the session, where its types and the disk allow."""
        columns = _columns(session.connection, name)
        if not all(KEPT_TYPES.fullmatch(kind) for _, kind in columns):
            return
        if not self._incremental(session, name):
            said = {"columns": columns, "content": self._content(session, name)}
            self._write(self._entry(session, name), said, {"rows": (session.connection, _kept(columns, name))})
        elif self._distinct(session):
            self._keep_segment(session, name, session, "cache_row", columns)

    def known(self, session: Session, name: str) -> bool:
        """Whether a view is kept for the warehouse as it is (an incremental one: at least in part), found out without computing any."""
        if session.catalog[name].cache is None:
            return False
        with suppress(LookupError):
            entry = self._segments(session, name) if self._incremental(session, name) else self._entry(session, name, compute=False)
            return any(entry.glob("*/entry.json")) if self._incremental(session, name) else (entry / "entry.json").exists()
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
            return self._raw_digest(session, leaf)
        if self._incremental(session, leaf):
            return self.key(session, leaf, compute)
        if leaf not in self._contents:
            with _or_nothing():
                said = json.loads((self._entry(session, leaf, compute) / "entry.json").read_text())
                self._contents[leaf] = said["content"]
        if leaf not in self._contents:
            if not compute:
                raise LookupError(leaf)
            session.need(leaf)
        return self._content(session, leaf)

    def _content(self, session: Session, name: str) -> str:
        if name not in self._contents:
            self._contents[name] = _order_free(session.connection, name)
        return self._contents[name]

    def _raw_digest(self, session: Session, table: str) -> str:
        if table not in self._raw:
            self._raw[table] = _order_free(session.connection, table)
        return self._raw[table]

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
        """Whether every completion has an id of its own, which keeping by id needs; hashes the rows when first asked."""
        if self._rows is None:
            session.connection.execute(_ROWS)
            n, ids = session.connection.execute("SELECT count(*), count(DISTINCT completion_id) FROM cache_row").fetchall()[0]
            self._rows = n if n == ids else -1
        return self._rows >= 0

    def _restore_rows(self, session: Session, name: str) -> bool:
        place = self._segments(session, name)
        segments = sorted(entry.parent for entry in place.glob("*/entry.json"))
        if not segments or not self._distinct(session):
            return False
        connection = session.connection
        with _or_nothing(*segments):
            fresh = self._fresh(connection, segments)
            if self._rows is not None and len(fresh) > self._rows / 2:
                return False
            columns = json.loads((segments[0] / "entry.json").read_text())["columns"]
            if fresh:
                with self._scratch(session, fresh) as scratch:
                    scratch.need(name)
                    segments.append(self._keep_segment(session, name, scratch, "cache_fresh", columns))
                self._fresh(connection, segments)
            _load(
                connection,
                name,
                columns,
                f"SELECT kept.* EXCLUDE (segment) FROM read_parquet({_texts(segments, 'rows')}) AS kept "
                "INNER JOIN cache_valid ON kept.completion_id = cache_valid.completion_id AND kept.segment = cache_valid.segment",
            )
            for segment in segments:
                os.utime(segment)
            if len(segments) > SEGMENTS:
                together = self._keep_segment(session, name, session, "cache_row", columns)
                for segment in set(segments) - {together}:
                    shutil.rmtree(segment, ignore_errors=True)
            return True
        return False

    def _fresh(self, connection: duckdb.DuckDBPyConnection, segments: Sequence[Path]) -> list[int]:
        """Make `cache_valid` (which segment holds a completion as it is now) and `cache_fresh` (those that none holds: their rowids)."""
        connection.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE cache_valid AS
            SELECT cache_row.completion_id, min(kept.segment) AS segment
            FROM read_parquet({_texts(segments, "ids")}) AS kept
            INNER JOIN cache_row ON kept.completion_id = cache_row.completion_id AND kept.row_hash = cache_row.row_hash
            GROUP BY cache_row.completion_id
            """
        )
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE cache_fresh AS SELECT * FROM cache_row "
            "WHERE completion_id NOT IN (SELECT completion_id FROM cache_valid)"
        )
        return [row[0] for row in connection.execute("SELECT place FROM cache_fresh").fetchall()]

    @contextmanager
    def _scratch(self, session: Session, places: list[int]) -> Iterator[Session]:
        """A session over these rows of raw.completion only: the same views make of them what they would make of all."""
        from analysis.session import Session, tables

        with duckdb.connect(config={"python_enable_replacements": False}) as connection:
            connection.execute(f"ATTACH {_text(self.warehouse)} AS warehouse (READ_ONLY)")
            connection.execute(f"ATTACH ':memory:' AS {RAW}")
            # by rowid, because reading the text of all rows to find a few costs four times more
            chosen = "SELECT * FROM warehouse.completion WHERE rowid IN (SELECT unnest(?))"
            connection.execute(f"CREATE TABLE {RAW}.completion AS {chosen}", [places])
            for table in tables(session.connection):
                if table != "completion":
                    connection.execute(f'CREATE VIEW {RAW}."{table}" AS SELECT * FROM warehouse."{table}"')
            yield Session(connection, session.catalog, {name: value for name, value in session.parameters.items() if value is not None})

    def _keep_segment(self, session: Session, name: str, computed: Session, rows: str, columns: Sequence[Sequence[str]]) -> Path:
        """Keep the rows that `computed` holds of a view, for the completions in the session's table `rows`."""
        held = session.connection.execute(f"SELECT count(*), COALESCE(sum(row_hash::HUGEINT), 0) FROM {rows}").fetchall()[0]
        digest = _digest(str(held))
        segment = self._segments(session, name) / digest
        mark = f", '{digest}' AS segment"
        parts = {
            "rows": (computed.connection, _kept(columns, name, mark)),
            "ids": (session.connection, f"SELECT completion_id, row_hash{mark} FROM {rows}"),
        }
        self._write(segment, {"columns": columns}, parts)
        return segment

    # --- the disk

    def _write(self, entry: Path, said: Any, parts: dict[str, tuple[duckdb.DuckDBPyConnection, str]]) -> None:
        """Write an entry beside its place, then rename it there; an entry that is there already is as good."""
        with _or_nothing():
            entry.parent.mkdir(parents=True, exist_ok=True)
            partial_entry = Path(tempfile.mkdtemp(prefix=".partial-", dir=entry.parent))
            try:
                for part, (connection, query) in parts.items():
                    connection.execute(f"COPY ({query}) TO {_text(partial_entry / f'{part}.parquet')} (FORMAT parquet, COMPRESSION zstd)")
                (partial_entry / "entry.json").write_text(json.dumps(said))
                if entry.exists() and not (entry / "entry.json").exists():
                    shutil.rmtree(entry)
                with suppress(OSError):
                    partial_entry.rename(entry)
            finally:
                shutil.rmtree(partial_entry, ignore_errors=True)
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


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _texts(segments: Iterable[Path], part: str) -> str:
    return f"[{', '.join(_text(segment / f'{part}.parquet') for segment in segments)}]"


def _columns(connection: duckdb.DuckDBPyConnection, name: str) -> list[list[str]]:
    return [[row[0], row[1]] for row in connection.execute(f"DESCRIBE FROM {name}").fetchall()]


def _kept(columns: Iterable[Sequence[str]], name: str, more: str = "") -> str:
    """The query that reads a view in types that Parquet has."""
    shown = (f'"{column}"::VARCHAR AS "{column}"' if WIDE.match(kind) else f'"{column}"' for column, kind in columns)
    return f"SELECT {', '.join(shown)}{more} FROM {name}"


def _load(connection: duckdb.DuckDBPyConnection, name: str, columns: Iterable[Sequence[str]], kept: str) -> None:
    """Make a table of kept rows, in the types that the view has."""
    schema, _, view = name.partition(".")
    typed = ", ".join(f'CAST("{column}" AS {kind}) AS "{column}"' for column, kind in columns)
    connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
    connection.execute(f'CREATE TABLE "{schema}"."{view}" AS SELECT {typed} FROM ({kept})')


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
