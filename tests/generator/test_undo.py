"""A writer that is killed in the middle of a write leaves a file that the next one mends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis import session
from generator import doctor, undo, warehouse
from tests.generator.test_warehouse import ROOT, completion

KILLED = """
import os, sys
from pathlib import Path
from generator import warehouse
with warehouse.writer(Path(sys.argv[1])) as writer:
    with writer.writing() as connection:
        connection.execute("INSERT INTO raw.completion SELECT * REPLACE ('late' AS completion_id) FROM raw.completion LIMIT 1")
        os._exit(9)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "warehouse.duckdb"
    with warehouse.writer(path) as writer:
        writer.merge("completion", (completion(f"k{i}") for i in range(300)))
    return path


def stored(path: Path) -> int:
    with warehouse.writer(path):  # mends what it finds
        pass
    with session.open(path) as reading:
        found: list[tuple[Any, ...]] = reading.connection.execute("SELECT count(*) FROM raw.completion").fetchall()
    return int(found[0][0])


def killed_while_writing(path: Path) -> None:
    """A commit that stands in DuckDB's log, and a block of metadata of which half was written over."""
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, check=False).returncode == 9
    begin, content = list(undo._pieces(undo.place(path)))[1]
    whole = bytearray(path.read_bytes())
    assert whole[begin : begin + len(content)] == content
    whole[begin : begin + len(content) // 2] = bytes(len(content) // 2)
    path.write_bytes(whole)


def test_a_torn_block_of_metadata_is_mended_and_no_committed_row_is_lost(path: Path) -> None:
    killed_while_writing(path)
    assert stored(path) == 301
    assert sorted(file.name for file in path.parent.iterdir()) == ["warehouse.duckdb", "warehouse.duckdb.lock"]


def test_readers_and_doctor_say_what_mends_it(path: Path) -> None:
    killed_while_writing(path)
    with pytest.raises(session.DataError, match="a writer of .* was killed: .*the next writing command mends it"), session.open(path):
        pass
    said = [str(finding) for finding in doctor.examine(path.parent / "params.yaml", path, path.parent) if finding.is_fault]
    assert any("was killed" in finding and "mends it" in finding for finding in said)


def test_a_version_whose_header_was_written_is_complete_and_stays(path: Path) -> None:
    before = path.read_bytes()
    with warehouse.writer(path) as writer:
        writer.merge("completion", [completion("new")])
    after = path.read_bytes()
    path.write_bytes(before)
    with warehouse.writer(path) as writer, writer.reading() as connection:
        undo.save(path, undo.metadata(connection, "raw"))
    path.write_bytes(after)
    assert undo.torn(path) == []
    assert stored(path) == 301


def test_a_mending_that_is_killed_begins_again(path: Path) -> None:
    killed_while_writing(path)
    first, *others = undo.torn(path)
    undo.restore(path, [(first[0], first[1][:5000])])
    assert undo.torn(path) == [first, *others]
    assert stored(path) == 301
