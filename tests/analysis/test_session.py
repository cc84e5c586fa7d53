"""Opening a warehouse: parameters, and every way in which it cannot be read, in one line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from analysis import session
from analysis.errors import AuditError, DataError, LockedError, UsageError
from tests.analysis.conftest import ENVIRONMENT


def test_a_view_is_made_when_it_is_mentioned(warehouse: Path) -> None:
    with session.open(warehouse) as reading:
        assert reading.rows("SELECT count(*) AS n FROM arm.request") == [{"n": 36}]
        assert reading.rows('SELECT count(*) AS n FROM "arm" . "request"') == [{"n": 36}]
        assert reading.query("FROM arm.request SELECT count(*) AS n")["n"].to_list() == [36]


def test_reading_changes_no_byte_of_the_warehouse(warehouse: Path) -> None:
    before = warehouse.read_bytes()
    with session.open(warehouse) as reading:
        reading.need(*reading.catalog)
    assert warehouse.read_bytes() == before
    assert [path.name for path in warehouse.parent.iterdir()] == [warehouse.name]


def test_many_may_read_at_once(warehouse: Path) -> None:
    program = (
        f"from analysis import session; from pathlib import Path\nwith session.open(Path({str(warehouse)!r})) as s: print(s.studies())"
    )
    with session.open(warehouse):
        done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['first']"


def test_a_parameter_is_set_for_the_call(warehouse: Path) -> None:
    with session.open(warehouse, {"parse.rules": "lenient"}) as reading:
        assert reading.parameters["parse.rules"] == "lenient"
        assert reading.rows("SELECT value FROM stat.parameter WHERE name = 'parse.rules'") == [{"value": "lenient"}]
    with session.open(warehouse) as reading:
        assert reading.parameters["parse.rules"] == "strict"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"parse.rule": "strict"}, "no parameter 'parse.rule'"),
        ({"parse.rules": "loose"}, "one of strict, lenient"),
        ({"arm.field_policy": ""}, "one of relevant, usable"),
        ({"arm.replicate": "first"}, "whole number"),
        ({"stat.resamples": "-1"}, "whole number"),
        ({"stat.resamples": "1e3"}, "whole number"),
        ({"stat.seed": "99999999999999999999"}, "nine digits"),
        ({"stat.confidence": "95"}, "between 0 and 1"),
        ({"stat.confidence": "nan"}, "between 0 and 1"),
        ({"study": ""}, "a name"),
    ],
)
def test_a_value_that_a_parameter_does_not_take_is_refused(warehouse: Path, setting: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refusal, session.open(warehouse, setting):
        pass
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "unit", "taken"), [("0.5", "nats", True), ("x", "nats", False), ("inf", "nats", False), ("20", "clusters", True)]
)
def test_a_value_is_held_against_the_unit(value: str, unit: str, taken: bool) -> None:
    assert (session.unmet(value, unit) is None) is taken


def test_a_missing_warehouse_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no warehouse at .*vlmaudit generate"), session.open(tmp_path / "none.duckdb"):
        pass


@pytest.mark.parametrize("content", [b"", b"not a database", os.urandom(8192)], ids=["empty", "text", "noise"])
def test_a_file_that_is_no_database_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.duckdb"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"x\.duckdb") as refusal, session.open(path):
        pass
    assert len(str(refusal.value).splitlines()) == 1


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"), session.open(tmp_path):
        pass


def test_another_database_is_no_warehouse(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE completion (i INT)")
    with pytest.raises(DataError, match="is no warehouse: it has no table grid"), session.open(path):
        pass


HOLDER = """
import sys, time, duckdb
with duckdb.connect(sys.argv[1]):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def _hold(warehouse: Path, seconds: float) -> subprocess.Popen[str]:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(warehouse), str(seconds)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == "held"
    return holder


def test_a_reader_waits_for_a_merge(warehouse: Path) -> None:
    holder = _hold(warehouse, 0.7)
    with session.open(warehouse) as reading:
        assert reading.studies() == ["first"]
    assert holder.wait() == 0


def test_a_reader_that_waited_long_enough_names_the_process(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "WAIT_S", 0.3)
    holder = _hold(warehouse, 60)
    started = time.monotonic()
    try:
        with pytest.raises(LockedError, match=rf"PID {holder.pid}") as refusal, session.open(warehouse):
            pass
    finally:
        holder.kill()
        holder.wait()
    assert time.monotonic() - started < 5
    assert len(str(refusal.value).splitlines()) == 1


def test_a_path_with_a_quote_opens(warehouse: Path) -> None:
    odd = warehouse.rename(warehouse.parent / "it's; DROP TABLE item.duckdb")
    with session.open(odd) as reading:
        assert reading.studies() == ["first"]


def test_a_column_that_no_frame_holds_is_named(warehouse: Path) -> None:
    with session.open(warehouse) as reading, pytest.raises(AuditError, match="'wait' is of type INTERVAL"):
        reading.query("SELECT INTERVAL 1 DAY AS wait")


def test_what_does_not_fit_in_memory_spills_and_leaves_nothing_behind(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spill").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spill"))
    monkeypatch.setenv("VLMAUDIT_MEMORY", "100MB")
    with session.open(warehouse) as reading:
        reading.connection.execute("CREATE TABLE sorted AS SELECT md5(range::VARCHAR) AS x FROM range(4_000_000) ORDER BY x")
        assert list((tmp_path / "spill").rglob("*.tmp"))
        monkeypatch.setenv("VLMAUDIT_MEMORY", "2MB")
        with (
            pytest.raises(DataError, match="it needs more than 2MB of memory: allow more with VLMAUDIT_MEMORY"),
            session.open(warehouse) as small,
        ):
            small.need("stat.weight", "modality.prospective_cell")
    assert not list((tmp_path / "spill").iterdir())
    monkeypatch.setenv("VLMAUDIT_MEMORY", "lots")
    with pytest.raises(UsageError, match="VLMAUDIT_MEMORY=lots: it takes a size"), session.open(warehouse):
        pass
