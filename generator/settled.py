"""Which requests of a study need no further call: `arm.settled` over the calls that they have had, and nothing else of the warehouse."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from analysis import catalog, session
from analysis.errors import DataError
from analysis.session import Session
from generator.grid import Cell
from generator.warehouse import quoted

UNSETTLED = """
    SELECT settled.request_key, COALESCE(max(completion.attempt), max(settled.attempts)) AS attempt
    FROM arm.settled AS settled
    LEFT JOIN raw.completion AS completion ON settled.request_key = completion.request_key AND completion.protocol <> 'tool_use'
    WHERE NOT settled.settled
    GROUP BY settled.request_key
"""
FAILURES = """
    SELECT model_id, thinking, task, arm, template, reason, count(*) AS n
    FROM arm.settled
    WHERE NOT settled AND attempts > 0
    GROUP BY ALL
    ORDER BY ALL
"""


@dataclass(frozen=True)
class Failures:
    """Requests of one condition that were called and are not settled, for one reason."""

    model_id: str
    thinking: bool
    task: str
    arm: str
    template: str
    reason: str | None
    n: int

    def __str__(self) -> str:
        mode = " thinking" if self.thinking else ""
        return f"{self.n} failed: {self.model_id}{mode} {self.task} {self.arm} {self.template}: {self.reason or 'reason unknown'}"


def unsettled(path: Path, study: str, cells: Iterable[Cell]) -> dict[str, int]:
    """The requests that need a call, with the highest attempt stored (0: none was made); of a rollout, the attempts that were begun."""
    with asking(path, study, cells) as reading:
        return {row["request_key"]: row["attempt"] for row in reading.rows(UNSETTLED)}


def failures(path: Path, study: str, cells: Iterable[Cell]) -> list[Failures]:
    """The requests that were called in vain, by condition and reason."""
    with asking(path, study, cells) as reading:
        return [Failures(**row) for row in reading.rows(FAILURES)]


@contextmanager
def asking(path: Path, study: str, cells: Iterable[Cell] | None = None) -> Iterator[Session]:
    """A session in which the study asks for these cells (None: those of its newest grid), and `raw.completion` is the calls they have had.

    The warehouse, if there is one, is attached as `stored`; of the calls of other studies views see nothing, so that they cost no memory.
    """
    connection = session.empty_warehouse()
    try:
        _attach(connection, path)
        _ask_for(connection, study, cells)
        connection.execute(
            """
            CREATE TABLE memory.main.own AS
            SELECT rowid AS place FROM stored.main.completion WHERE request_key IN (SELECT request_key FROM raw.main.grid);
            DROP TABLE raw.main.completion;
            CREATE VIEW raw.main.completion AS
            SELECT * FROM stored.main.completion WHERE rowid IN (SELECT place FROM memory.main.own);
            """
        )
        for table in ("item", "rollout", "observation", "probe"):
            connection.execute(f"DROP TABLE raw.main.{table}; CREATE VIEW raw.main.{table} AS SELECT * FROM stored.main.{table}")
        yield session.on(connection, {"study": study})
    finally:
        connection.close()


def _attach(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    if path.exists():
        with session.open(path):  # waits for a merge, and says in one line what is wrong with the file
            pass
    try:
        connection.execute(f"ATTACH {quoted(path)} AS stored (READ_ONLY)" if path.exists() else "ATTACH ':memory:' AS stored")
    except duckdb.Error as fault:
        raise DataError(f"{path} cannot be read just now ({session.first_line(fault)}): try again") from None
    if not path.exists():
        connection.execute(f"USE stored; {catalog.load().raw_schema}; USE memory")


def _ask_for(connection: duckdb.DuckDBPyConnection, study: str, cells: Iterable[Cell] | None) -> None:
    if cells is None:
        newest = "SELECT max(grid_id) FROM stored.main.grid WHERE study = $study"
        connection.execute(
            f"INSERT INTO raw.main.grid SELECT * FROM stored.main.grid WHERE study = $study AND grid_id = ({newest})", {"study": study}
        )
    elif rows := [{"study": study, "grid_id": "", **cell.grid_row()} for cell in cells]:
        import polars

        with tempfile.TemporaryDirectory(prefix="vlmaudit-") as folder:
            file = Path(folder, "grid.parquet")
            polars.DataFrame(rows).write_parquet(file)
            insert = "INSERT INTO raw.main.grid BY NAME SELECT *, now()::TIMESTAMP AS created_at FROM read_parquet(?)"
            connection.execute(insert, [str(file)])
