"""The warehouse keeps what it is given: once, verbatim, whatever happens in between, and only where something is new."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis import session
from analysis.errors import DataError, LockedError
from generator import journal, warehouse
from generator.warehouse import completion_id, writer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "warehouse.duckdb"


def completion(key: str = "k", attempt: int = 1, **columns: Any) -> dict[str, Any]:
    identity = {"completion_id": completion_id(key, attempt), "request_key": key, "attempt": attempt, "protocol": "modality"}
    cell = {"model_id": "m", "thinking": False, "task": "t", "item_id": "t/1", "arm": "AB", "template": "plain", "replicate": 0}
    return {**identity, **cell, "response": '{"choices": []}', **columns}


def cell(key: str, **columns: Any) -> dict[str, Any]:
    row = completion(key)
    return {name: row[name] for name in journal.columns_of("grid") if name in row} | columns


def item(item_id: str = "t/1", **columns: Any) -> dict[str, Any]:
    return {
        "item_id": item_id,
        "task": "t",
        "cluster_id": item_id,
        "gold": '"even"',
        "inputs": {"text": "x"},
        "source": "a.jsonl",
        **columns,
    }


def merge(path: Path, table: str, *rows: dict[str, Any]) -> int:
    with writer(path) as opened:
        return opened.merge(table, rows)


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with session.open(path) as reading:
        return reading.connection.execute(query).fetchall()


def state(path: Path) -> tuple[str, int]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns


# -- merging -----------------------------------------------------------------------------------------------------------------------


def test_a_row_is_stored_once_and_a_repetition_leaves_the_bytes_alone(path: Path) -> None:
    assert merge(path, "completion", completion("a"), completion("b")) == 2
    before = state(path)
    assert merge(path, "completion", completion("b"), completion("a")) == 0
    assert state(path) == before
    assert merge(path, "completion", completion("b"), completion("c"), completion("c")) == 1
    assert rows(path, "SELECT request_key FROM raw.completion ORDER BY ALL") == [("a",), ("b",), ("c",)]


def test_no_write_ahead_log_and_no_other_file_but_the_lock_remains(path: Path) -> None:
    merge(path, "completion", completion())
    assert sorted(file.name for file in path.parent.iterdir()) == ["warehouse.duckdb", "warehouse.duckdb.lock"]


def test_the_file_keeps_the_pinned_storage_version(path: Path) -> None:
    merge(path, "completion", completion("a"))
    merge(path, "completion", completion("b"))
    assert rows(path, "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = 'raw'") == [("v1.4.0+",)]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode)), min_size=1, max_size=100))
def test_any_body_comes_back_byte_for_byte(path: Path, bodies: list[bytes]) -> None:
    path.unlink(missing_ok=True)
    with writer(path) as opened:
        opened.journal.append(("completion", completion(str(n), response=body)) for n, body in enumerate(bodies))
        opened.merge_journal()
    stored = dict(rows(path, "SELECT request_key, COALESCE(encode(response), response_bytes) FROM raw.completion"))
    assert stored == {str(n): body for n, body in enumerate(bodies)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\0b",
        '{"a": "\\u0000 \\ud800"}',
        '{"n": 123456789012345678901234567890, "e": 1e400}',
        "\u2028\r\n\ufeff\U0010ffff",
        "x" * (17 << 20),
    ],
    ids=["empty", "NUL", "escapes", "numbers", "separators", "17 MiB"],
)
def test_text_that_parsers_stumble_over_is_stored_verbatim(path: Path, text: str) -> None:
    merge(path, "completion", completion(response=text.encode()))
    assert rows(path, "SELECT response, response_bytes FROM raw.completion") == [(text, None)]


def test_half_a_surrogate_pair_in_a_body_goes_to_the_bytes(path: Path) -> None:
    merge(path, "completion", completion(response="a\ud800"))
    assert rows(path, "SELECT response, response_bytes FROM raw.completion") == [(None, b"a\xed\xa0\x80")]


def test_values_keep_their_types(path: Path) -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2)))
    given: dict[str, Any] = {
        "seed": 2**62,
        "latency_s": 0.1,
        "temperature": 0.0,
        "started_at": noon,
        "thinking": True,
        "prompt_tokens": None,
    }
    merge(path, "completion", completion(**given, request={"n": 10**30, "t": "é\ud800"}, error='{"type": "timeout"}'))
    names = ", ".join(given)
    assert rows(path, f"SELECT {names} FROM raw.completion") == [(2**62, 0.1, 0.0, datetime(2026, 1, 31, 10), True, None)]
    assert rows(path, "SELECT request, error->>'type' FROM raw.completion") == [(f'{{"n": {10**30}, "t": "é?"}}', "timeout")]


def test_a_completion_is_never_replaced_and_a_new_run_id_alone_is_no_new_content(path: Path) -> None:
    merge(path, "completion", completion(run_id="r1"))
    assert merge(path, "completion", completion(run_id="r2")) == 0
    with pytest.raises(DataError, match=f"completion_id '{completion_id('k', 1)}' already, with other content"):
        merge(path, "completion", completion("new"), completion(response="other"))
    assert rows(path, "SELECT request_key, run_id FROM raw.completion") == [("k", "r1")]


def test_one_item_with_two_contents_is_refused_and_both_are_named(path: Path) -> None:
    merge(path, "item", item())
    with pytest.raises(DataError, match=r"item 't/1' has two contents: stored from a\.jsonl, now from b\.jsonl"):
        merge(path, "item", item("t/2"), item(gold='"odd"', source="b.jsonl"))
    with pytest.raises(DataError, match="item 't/3' has two contents"):
        merge(path, "item", item("t/3"), item("t/3", gold='"odd"'))
    assert rows(path, "SELECT item_id FROM raw.item") == [("t/1",)]


def test_an_item_read_from_another_file_is_the_same_item(path: Path) -> None:
    merge(path, "item", item(source="10.parquet", source_sha256="ten"))
    assert merge(path, "item", item(source="20.parquet", source_sha256="twenty"), item("t/2")) == 1
    assert rows(path, "SELECT item_id, source FROM raw.item ORDER BY item_id") == [("t/1", "10.parquet"), ("t/2", "a.jsonl")]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (item(1), r"raw.item.item_id is text, not 1"),  # type: ignore[arg-type]
        (item("t/\ud800"), "half a surrogate pair"),
        (item(colour="red"), "raw.item has no column 'colour'"),
        (item(gold="even"), "raw.item has a value of another type: .*Malformed JSON"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_column_named(path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        merge(path, "item", row)


def test_the_image_that_was_stored_first_stays(path: Path) -> None:
    merge(path, "image", {"image_sha256": "s", "source_sha256": "one"})
    assert merge(path, "image", {"image_sha256": "s", "source_sha256": "two"}, {"image_sha256": "t"}) == 1
    assert rows(path, "SELECT image_sha256, source_sha256 FROM raw.image ORDER BY 1") == [("s", "one"), ("t", None)]


def test_many_rows_are_merged_in_chunks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warehouse, "CHUNK_BYTES", 2_000)
    assert merge(path, "completion", *(completion(str(n)) for n in range(50))) == 50
    assert merge(path, "completion", *(completion(str(n)) for n in range(60))) == 10
    assert rows(path, "SELECT count(*), count(DISTINCT completion_id) FROM raw.completion") == [(60, 60)]


# -- grids -------------------------------------------------------------------------------------------------------------------------


def test_a_grid_is_appended_only_where_it_asks_for_something_else(path: Path) -> None:
    with writer(path) as opened:
        assert opened.append_grid("s", [cell("a"), cell("b")])
        before = state(path)
        assert not opened.append_grid("s", [cell("b"), cell("a")])
        assert state(path) == before
        assert opened.append_grid("s", [cell("a")])
        assert opened.append_grid("other", [cell("a")])
        assert opened.append_grid("s", [cell("a"), cell("b")])
    found = rows(path, "SELECT study, grid_id[:4], count(*) FROM raw.grid GROUP BY ALL ORDER BY ALL")
    assert found == [("other", "0001", 1), ("s", "0001", 2), ("s", "0002", 1), ("s", "0003", 2)]
    assert {len(grid_id) for (grid_id,) in rows(path, "SELECT grid_id FROM raw.grid")} == {17}


def test_a_grid_is_appended_in_one_transaction_however_large_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warehouse, "CHUNK_BYTES", 1_000)
    merged: list[Any] = []
    whole = warehouse.Writer._merge_chunk
    monkeypatch.setattr(warehouse.Writer, "_merge_chunk", lambda self, chunk: merged.append(chunk) or whole(self, chunk))
    with writer(path) as opened:
        assert opened.append_grid("s", (cell(f"k{n}") for n in range(500)))
    assert len(merged) == 1
    assert rows(path, "SELECT count(*), count(DISTINCT grid_id) FROM raw.grid") == [(500, 1)]


# -- links and files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to], ids=["symbolic", "hard"])
def test_a_link_into_a_cache_is_replaced_by_a_copy_before_anything_is_written(path: Path, link: Callable[[Path, Path], None]) -> None:
    merge(path, "completion", completion("a"))
    cached = path.parent / "cached"
    os.rename(path, cached)
    cached.chmod(0o444)
    link(path, cached)
    before = state(cached)
    assert merge(path, "completion", completion("a")) == 0
    assert path.samefile(cached)  # nothing new: still the link
    assert merge(path, "completion", completion("b")) == 1
    assert state(cached) == before
    assert not path.is_symlink()
    assert path.stat().st_nlink == 1
    assert len(rows(path, "FROM raw.completion")) == 2


def test_an_unwritable_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(DataError, match=r"cannot write in .*/file/data: .*; make it writable"),
        writer(tmp_path / "file" / "data" / "w.duckdb"),
    ):
        pass


def test_a_file_that_is_no_warehouse_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("notes " * 1000)
    with pytest.raises(DataError, match="not a valid DuckDB database file"):
        merge(path, "completion", completion())
    assert path.read_text() == "notes " * 1000


# -- other processes ---------------------------------------------------------------------------------------------------------------


def run_python(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], cwd=ROOT, text=True, stdout=subprocess.PIPE, **options)


def wait_for_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


HOLD = (
    "import sys, time, pathlib; from generator.warehouse import writer\n"
    "with writer(pathlib.Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
)
READ = (
    "import sys, time, pathlib; from analysis import session\nwith session.open(pathlib.Path(sys.argv[1])): "
    "print('reading', flush=True); time.sleep(float(sys.argv[2]))"
)


def test_a_second_writer_is_told_who_the_first_is_and_gets_the_warehouse_after_its_death(path: Path) -> None:
    holding = run_python(HOLD, str(path))
    try:
        wait_for_line(holding)
        with pytest.raises(LockedError, match=f"is being written by PID {holding.pid} .*: wait for it to end, or stop it"):
            merge(path, "completion", completion())
    finally:
        holding.kill()
        holding.wait()
    assert merge(path, "completion", completion()) == 1


def test_a_merge_waits_for_a_reader_and_names_one_that_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    merge(path, "completion", completion("a"))
    reading = run_python(READ, str(path), "1")
    wait_for_line(reading)
    assert merge(path, "completion", completion("b")) == 1
    reading.wait()
    reading = run_python(READ, str(path), "60")
    wait_for_line(reading)
    monkeypatch.setattr(session, "WAIT_S", 0.2)
    try:
        with writer(path) as opened:
            opened.journal.append([("completion", completion("c"))])
            with pytest.raises(LockedError, match=f"PID {reading.pid}"):
                opened.merge_journal()
    finally:
        reading.kill()
        reading.wait()
    with writer(path):
        pass
    assert len(rows(path, "FROM raw.completion")) == 3


READ_OFTEN = """
import sys, time, pathlib
from analysis import session
until, longest = time.monotonic() + 3, 0.0
print('ready', flush=True)
while time.monotonic() < until:
    began = time.monotonic()
    with session.open(pathlib.Path(sys.argv[1])) as reading:
        count = reading.connection.execute('SELECT count(*) FROM raw.completion').fetchone()[0]
    longest = max(longest, time.monotonic() - began)
print(count, longest, flush=True)
"""


def test_readers_come_through_while_merges_go_on(path: Path) -> None:
    with writer(path) as opened:
        opened.merge("completion", [completion("0")])
        reading = run_python(READ_OFTEN, str(path))
        wait_for_line(reading)
        for n in range(1, 40):
            opened.merge("completion", [completion(str(n))])
            time.sleep(0.02)
        count, longest = wait_for_line(reading).split()
    assert reading.wait() == 0
    assert int(count) > 1
    assert float(longest) < 3


COMMIT_AND_DIE = """
import sys, os, duckdb
c = duckdb.connect(); c.execute(f"ATTACH '{sys.argv[1]}' AS raw")
c.execute("INSERT INTO raw.completion BY NAME SELECT * REPLACE ('late' AS completion_id) FROM raw.completion LIMIT 1")
os.kill(os.getpid(), 9)
"""


def test_rows_in_a_dead_writers_log_are_written_in_by_the_next(path: Path) -> None:
    merge(path, "completion", completion("a"))
    assert run_python(COMMIT_AND_DIE, str(path)).wait() == -signal.SIGKILL
    log = path.with_name("warehouse.duckdb.wal")
    assert log.exists()
    with writer(path):
        pass
    assert not log.exists()
    assert len(rows(path, "FROM raw.completion")) == 2


# -- the journal -------------------------------------------------------------------------------------------------------------------


def test_what_a_killed_run_journalled_is_merged_by_the_next_writer_and_a_torn_line_is_dropped(path: Path) -> None:
    with writer(path) as opened:
        opened.journal.append([("run", {"run_id": "r", "study": "s"}), ("completion", completion("a", run_id="r"))])
        opened.journal.append([("completion", completion("b", run_id="r"))])
        file = opened.journal.path
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert not path.exists()
    with writer(path):
        pass
    assert rows(path, "SELECT request_key, run_id FROM raw.completion") == [("a", "r")]
    assert rows(path, "SELECT run_id, study FROM raw.run") == [("r", "s")]
    assert not file.exists()


def test_a_run_without_a_response_is_not_stored(path: Path) -> None:
    with writer(path) as opened:
        opened.journal.append([("run", {"run_id": "r"})])
        opened.merge_journal()
    assert not path.exists()


def test_a_crash_between_commit_and_dropping_the_journal_doubles_nothing(path: Path) -> None:
    with writer(path) as opened:
        opened.journal.append([("completion", completion("a"))])
        kept = opened.journal.path.read_bytes()
        opened.merge_journal()
        before = state(path)
        opened.journal.taken.write_bytes(kept)
        opened.journal.append([("completion", completion("a"))])
    with writer(path):
        pass
    assert state(path) == before
    assert not opened.journal.taken.exists()
    assert not opened.journal.path.exists()


def test_what_is_appended_while_a_merge_runs_stays_for_the_next(path: Path) -> None:
    with writer(path) as opened:
        opened.journal.append([("completion", completion("a"))])
        taken = opened.journal.take()
        first = next(taken)
        opened.journal.append([("completion", completion("b"))])
        assert [row["request_key"] for _, row in journal.read(first)] == ["a"]
        assert opened.merge_journal()["completion"] == 2


def test_a_damaged_line_is_named_and_nothing_is_dropped(path: Path) -> None:
    with writer(path) as opened:
        opened.journal.append([("completion", completion("a"))])
        file = opened.journal.path
    file.write_bytes(b"\0\0\0\n" + file.read_bytes())
    with pytest.raises(DataError, match=r"journal\.merging line 1 is damaged"), writer(path):
        pass
    assert len(opened.journal.taken.read_bytes()) > 100


@pytest.mark.parametrize("fault", ["nothing written", "part written"])
def test_a_full_disk_leaves_whole_lines_only(path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    def full(file: int, data: bytes) -> int:
        if fault == "nothing written":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data[:10])

    real = os.write
    with writer(path) as opened:
        opened.journal.append([("completion", completion("a"))])
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(DataError, match="cannot be written"):
            opened.journal.append([("completion", completion("b"))])
        monkeypatch.undo()
        opened.journal.append([("completion", completion("c"))])
        opened.merge_journal()
    assert rows(path, "SELECT request_key FROM raw.completion ORDER BY ALL") == [("a",), ("c",)]


def test_the_journal_holds_one_readable_line_a_record(path: Path) -> None:
    with writer(path) as opened:
        opened.journal.append([("completion", completion("a", response=b"\xff\n"))])
        opened.journal.sync()
        (line,) = opened.journal.path.read_text().splitlines()
    assert json.loads(line)["table"] == "completion"
    assert json.loads(line)["row"]["response_bytes"] == "/wo="


def test_stored_rows_take_no_memory(path: Path) -> None:
    """Merging one row into a large table stays within a small memory limit."""
    merge(path, "completion", completion("a"))
    connection = duckdb.connect()
    connection.execute(f"ATTACH '{path}' AS raw")
    connection.execute(
        "INSERT INTO raw.completion BY NAME SELECT * EXCLUDE (n) "
        "REPLACE (md5(n::VARCHAR) AS completion_id, repeat(md5(n::VARCHAR), 20) AS response) "
        "FROM raw.completion, range(200000) AS many (n)"
    )
    connection.close()
    with writer(path) as opened:
        opened.connection.execute("SET memory_limit = '60MB'")
        assert opened.merge("completion", [completion("a"), completion("b")]) == 1


@pytest.fixture(autouse=True)
def _no_stray_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []
