"""`prepare` makes data/items and data/images hold exactly what is asked: all or nothing, the same bytes each time."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import duckdb
import polars
import pytest

from analysis.errors import DataError, UsageError
from generator import images, items
from generator.items import isobench
from tests.generator.items.test_isobench import FILE, maxflow_row, parity_row, write

PARITY, MAXFLOW = isobench.PARITY, isobench.MAXFLOW


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write(tmp_path / "isobench" / "math_parity" / FILE, [parity_row(place) for place in range(3)])
    write(tmp_path / "isobench" / "graph_maxflow" / FILE, [maxflow_row(place) for place in range(2)])
    return tmp_path / "isobench"


def asked(source: Path) -> dict[str, items.Asked]:
    return {PARITY: {"source": str(source)}, MAXFLOW: {"source": str(source)}}


def state(data: Path) -> Mapping[str, bytes]:
    return {str(path.relative_to(data)): path.read_bytes() for path in sorted(data.rglob("*")) if path.is_file()}


def test_items_are_written_and_read_back_equal(source: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    seen: list[tuple[str, int]] = []
    assert items.prepare(asked(source), data, lambda task, done: seen.append((task, done))) == {PARITY: 3, MAXFLOW: 2}
    assert seen == [(PARITY, 1), (PARITY, 2), (PARITY, 3), (MAXFLOW, 1), (MAXFLOW, 2)]
    for task in (PARITY, MAXFLOW):
        assert list(items.read(data, task)) == list(items.load(task, str(source), images.Store(tmp_path / "other")))
    assert sorted(path.name for path in (data / "items").iterdir()) == [
        "images.parquet", "isobench_graph_maxflow.parquet", "isobench_math_parity.parquet",
    ]  # fmt: skip


def test_every_image_of_an_item_is_a_file_and_a_row(source: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    items.prepare(asked(source), data)
    named = {item.inputs["image"] for task in (PARITY, MAXFLOW) for item in items.read(data, task)}
    assert {row["image_sha256"] for row in items.image_rows(data)} == named == {path.stem for path in (data / "images").iterdir()}


def test_the_files_go_into_the_raw_tables_by_name(source: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    items.prepare(asked(source), data)
    connection = duckdb.connect()
    connection.execute((Path(__file__).parents[3] / "sql" / "raw" / "001_tables.sql").read_text())
    for table, files in (("item", "isobench_*.parquet"), ("image", "images.parquet")):
        connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM read_parquet('{data}/items/{files}')")
    golds = connection.execute("SELECT item_id, gold->>'$', annotation->>'recomputed_gold' FROM item ORDER BY ALL").fetchall()
    assert golds[0] == ("isobench/graph_maxflow/0", "6", "6")
    assert golds[-1] == ("isobench/math_parity/2", "neither", "neither")
    assert connection.execute("SELECT count(*), min(changes->>0) FROM image").fetchone() == (1, "from PNG RGBA 8x6, 79 bytes")


def test_again_is_byte_for_byte_the_same_and_touches_nothing(source: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    items.prepare(asked(source), data)
    before, inodes = state(data), {path: path.stat().st_ino for path in data.rglob("*")}
    items.prepare(asked(source), data)
    assert state(data) == before
    assert {path: path.stat().st_ino for path in data.rglob("*")} == inodes


def test_the_same_files_come_out_in_another_folder(source: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        items.prepare({**asked(source), MAXFLOW: {"source": "synth", "n": 3, "seed": 5}}, tmp_path / name)
    assert state(tmp_path / "one") == state(tmp_path / "two")


def test_synthetic_items_say_so(tmp_path: Path) -> None:
    items.prepare({PARITY: {"source": "synth", "n": 4, "seed": 5}}, tmp_path)
    assert [item.source for item in items.read(tmp_path, PARITY)] == ["synth"] * 4


def test_a_source_that_fails_leaves_the_old_state(source: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    items.prepare(asked(source), data)
    before = state(data)
    write(source / "math_parity" / FILE, [parity_row(0), parity_row(1, code="f(x) = x**4", latex="new", label="even")])
    write(source / "graph_maxflow" / FILE, [maxflow_row(0), maxflow_row(1, sink_node=9)])
    with pytest.raises(DataError, match="isobench/graph_maxflow/1"):
        items.prepare(asked(source), data)
    assert state(data) == before


def test_what_is_no_longer_asked_goes_and_other_files_stay(source: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write(source / "graph_maxflow" / FILE, [maxflow_row(0, image=parity_row(0)["image"]), maxflow_row(1)])
    items.prepare({**asked(source), PARITY: {"source": "synth", "n": 3}}, data)
    (data / "images" / "note.txt").write_text("mine")
    items.prepare({MAXFLOW: {"source": str(source)}}, data)
    assert sorted(path.name for path in (data / "items").iterdir()) == ["images.parquet", "isobench_graph_maxflow.parquet"]
    assert len(list((data / "images").glob("*.png"))) == 1
    assert (data / "images" / "note.txt").exists()
    with pytest.raises(DataError, match="isobench_math_parity.parquet does not exist: run `vlmaudit items`"):
        list(items.read(data, PARITY))


def test_a_link_into_a_cache_is_replaced_and_never_written_through(source: Path, tmp_path: Path) -> None:
    data, cached = tmp_path / "data", tmp_path / "cache.parquet"
    items.prepare(asked(source), data)
    linked = data / "items" / "isobench_math_parity.parquet"
    linked.rename(cached)
    linked.symlink_to(cached)
    kept = cached.read_bytes()
    items.prepare(asked(source), data)
    assert linked.is_symlink()
    items.prepare({**asked(source), PARITY: {"source": str(source), "n": 1}}, data)
    assert not linked.is_symlink()
    assert cached.read_bytes() == kept


def test_whether_the_items_are_those_asked_for_is_known_without_reading_the_source(source: Path, tmp_path: Path) -> None:
    data, wanted = tmp_path / "data", asked(source)
    assert not items.prepared(wanted, data)
    items.prepare(wanted, data)
    assert items.prepared(wanted, data)
    assert items.prepared({task: {"source": str(source), "n": None, "seed": 0} for task in wanted}, data)
    assert not items.prepared({**wanted, PARITY: {"source": str(source), "n": 2}}, data)
    assert not items.prepared({PARITY: wanted[PARITY]}, data)
    (data / "items" / "isobench_math_parity.parquet").write_bytes(b"PAR1")
    assert not items.prepared(wanted, data)


def test_an_unknown_task_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no task 'isobench/chess'; there are mmimdb, isobench/math_parity"):
        items.prepare({"isobench/chess": {"source": "synth"}}, tmp_path / "data")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_one_line(source: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(DataError, match="items cannot be written to .*Permission denied"):
        items.prepare(asked(source), closed / "data")


def test_a_file_where_the_folder_should_be_is_one_line(source: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(DataError, match="items cannot be written to .*data"):
        items.prepare(asked(source), tmp_path / "data")


def test_a_damaged_items_file_is_one_line(source: Path, tmp_path: Path) -> None:
    items.prepare(asked(source), tmp_path / "data")
    path = tmp_path / "data" / "items" / "isobench_math_parity.parquet"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match="cannot be read as parquet"):
        list(items.read(tmp_path / "data", PARITY))
    polars.DataFrame({"item_id": ["a"]}).write_parquet(path)
    with pytest.raises(DataError, match="has no column task, cluster_id"):
        list(items.read(tmp_path / "data", PARITY))
