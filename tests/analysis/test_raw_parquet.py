"""Raw tables as partitioned Parquet give what the DuckDB file gives, through every reading command."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis import export, raw_parquet, session
from analysis.errors import DataError
from generator.ingest import ingest
from tests.analysis.conftest import Said, write_study

Run = Callable[..., Said]
AWKWARD = ["7", "007", "1e3", "true", "org/name:free", "50%=a b", "ünï_*[x]", "..", "__NULL__"]


def parted(warehouse: Path, out: Path) -> Path:
    with session.open(warehouse) as reading:
        raw_parquet.write(reading, out)
    return out


def views(warehouse: Path, only: Callable[[str], bool] = lambda _: True) -> dict[str, list[tuple[Any, ...]]]:
    with session.open(warehouse, {"stat.resamples": "200"}) as reading:
        return {name: reading.fetch(f"SELECT * FROM {name} ORDER BY ALL")[1] for name in reading.catalog if only(name)}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other)) or abs(one - other) <= 1e-12 * max(1, abs(one))
    return type(one) is type(other) and one == other


def differences(file: dict[str, list[tuple[Any, ...]]], folder: dict[str, list[tuple[Any, ...]]]) -> list[str]:
    assert file.keys() == folder.keys()
    return [
        name
        for name in file
        if len(file[name]) != len(folder[name])
        or not all(same(a, b) for one, other in zip(file[name], folder[name], strict=True) for a, b in zip(one, other, strict=True))
    ]


def test_every_view_of_the_worked_examples_is_the_same_over_parquet(shared: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    for file in ("worked_example.jsonl", "worked_rollouts.jsonl"):
        assert not ingest(shared / "reference" / file, warehouse).refused
    folder = parted(warehouse, tmp_path / "raw")
    file = views(warehouse)
    assert file["modality.prospective_cell"]
    assert file["tooluse.diagnosis"]
    assert differences(file, views(folder)) == []
    with session.open(warehouse) as one, session.open(folder) as other:
        assert export.warehouse_digest(one) == export.warehouse_digest(other)


def test_names_that_look_like_numbers_or_paths_stay_the_text_they_are(warehouse: Path, tmp_path: Path) -> None:
    with duckdb.connect(str(warehouse)) as connection:
        write_study(connection, "5", datetime(2026, 2, 1), AWKWARD, 2)
        connection.execute("UPDATE completion SET response = NULL, response_bytes = '\\xFF'::BLOB, cost_usd = 0.1 WHERE model_id = '007'")
    folder = parted(warehouse, tmp_path / "raw [a*b]")
    with session.open(warehouse) as one, session.open(folder) as other:
        for table in session.tables(one.connection):
            whole = f"SELECT * FROM raw.{table} ORDER BY ALL"
            assert one.connection.sql(whole).types == other.connection.sql(whole).types
            assert one.fetch(whole) == other.fetch(whole)
        assert {row[0] for row in other.fetch("SELECT DISTINCT model_id FROM raw.completion")[1]} == {*AWKWARD, "model-a", "model-b"}
    assert (folder / "completion" / "model_id=org%2Fname%3Afree" / "task=isobench%2Fmath_parity").is_dir()
    quick = ("arm.", "attrition.", "parse.", "quality.")
    assert differences(views(warehouse, lambda name: name.startswith(quick)), views(folder, lambda name: name.startswith(quick))) == []


def test_every_reading_command_takes_the_folder(run: Run, tmp_path: Path) -> None:
    assert run("export", "--raw", "parquet", "--out", "raw").code == 0
    for command in (
        ["show", "modality.prospective_cell"], ["show", "raw.item"], ["table", "3"], ["audit"],
        ["views", "--format", "csv"], ["sql", "SELECT count(*) FROM raw.completion"],
        ["diff", "modality.prospective_cell", "--set", "stat.confidence=0.9"],
    ):  # fmt: skip
        there, here = run(*command), run(*command, "--warehouse", "raw")
        assert (here.code, here.out) == (there.code, there.out), command
    few = ("--set", "stat.resamples=100")
    assert run("export", "--out", "one", *few).code == run("export", "--out", "two", "--warehouse", "raw", *few).code == 0
    one, two = (
        {path.relative_to(name): path.read_bytes() for path in Path(name).rglob("*") if path.is_file() and path.suffix != ".parquet"}
        for name in ("one", "two")
    )
    assert one == two


def test_the_cache_computes_new_rows_only_over_parquet_too(warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLMAUDIT_CACHE", str(tmp_path / "kept"))
    folder = parted(warehouse, tmp_path / "raw")
    of_calls = ("arm.", "attrition.", "parse.")
    first = views(folder, lambda name: name.startswith(of_calls))
    with duckdb.connect(str(warehouse)) as connection:
        write_study(connection, "first", datetime(2026, 1, 1), ["model-c"], 1)
    shutil.rmtree(folder)
    parted(warehouse, folder)
    again = views(folder, lambda name: name.startswith(of_calls))
    segments = (tmp_path / "kept" / "attrition.ending").rglob("rows.duckdb")
    held = [duckdb.connect(str(path), read_only=True).execute("SELECT count(*) FROM rows").fetchall()[0][0] for path in segments]
    assert sorted(held) == [6, 36]
    monkeypatch.setenv("VLMAUDIT_CACHE", "")
    assert differences(views(folder, lambda name: name.startswith(of_calls)), again) == []
    assert differences(first, again) != []


def test_sql_over_the_folder_reads_no_other_file(run: Run, tmp_path: Path) -> None:
    run("export", "--raw", "parquet", "--out", "raw")
    shutil.copytree("raw", "raw2")
    secret = next(Path("raw2/item").rglob("*.parquet")).resolve()
    inside = next(Path("raw/item").rglob("*.parquet")).resolve()
    for path in (secret, inside.parents[3] / "raw" / ".." / "raw2" / secret.relative_to(tmp_path / "raw2"), "raw2/item/*/*.parquet"):
        said = run("sql", f"SELECT * FROM '{path}'", "--warehouse", "raw")
        assert (said.code, said.out) in {(2, ""), (3, "")}, path
    assert run("sql", f"SELECT * FROM read_parquet('{inside}')", "--warehouse", "raw").code == 2
    for written in ("COPY raw.item TO 'raw/x.csv'", "CREATE TABLE raw.x AS SELECT 1"):
        assert run("sql", written, "--warehouse", "raw").code == 2


def test_what_is_no_such_folder_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    said = run("table", "3", "--warehouse", "empty")
    assert said.code == 3
    assert "empty cannot be read as a warehouse: it holds no Parquet files of the raw table completion or grid;" in said.err
    assert len(said.err.splitlines()) == 1
    run("export", "--raw", "parquet", "--out", "raw")
    next(Path("raw/grid").rglob("*.parquet")).write_bytes(b"PAR1 and no more")
    broken = run("table", "3", "--warehouse", "raw")
    assert (broken.code, len(broken.err.splitlines())) == (3, 1)
    assert run("export", "--raw", "parquet", "--out", "raw", "--study", "first").code == 2


def test_a_folder_of_other_things_is_not_replaced(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x")
    said = run("export", "--raw", "parquet", "--out", "mine")
    assert said.code == 3
    assert "mine holds other things than raw tables" in said.err
    assert (tmp_path / "mine" / "notes.txt").read_text() == "x"
    run("export", "--raw", "parquet", "--out", "raw")
    (tmp_path / "raw" / "grid" / "study=gone").mkdir()
    assert run("export", "--raw", "parquet", "--out", "raw").code == 0
    assert not (tmp_path / "raw" / "grid" / "study=gone").exists()
    assert not list(tmp_path.glob(".raw*"))


def test_folders_of_several_machines_are_read_as_one_and_a_lost_column_is_named(warehouse: Path, tmp_path: Path) -> None:
    folder = parted(warehouse, tmp_path / "raw")
    whole = views(warehouse, lambda name: name.startswith("arm."))
    for file in sorted(folder.rglob("*.parquet")):  # the same rows in two files each, as two machines would have them
        rows = duckdb.read_parquet(str(file), hive_partitioning=False)
        rows.limit(2).write_parquet(str(file.with_name("one.parquet")))
        rows.limit(10_000, offset=2).write_parquet(str(file.with_name("two.parquet")))
        file.unlink()
    assert differences(whole, views(folder, lambda name: name.startswith("arm."))) == []
    for file in (folder / "rollout").glob("*.parquet"):
        duckdb.sql("SELECT 'x' AS rollout_id").write_parquet(str(file))
    with pytest.raises(DataError, match="raw/rollout lacks the column attempt, end_reason, max_calls, run_id"), session.open(folder):
        pass


def test_the_export_of_an_export_is_the_same(warehouse: Path, tmp_path: Path) -> None:
    one = parted(warehouse, tmp_path / "one")
    two = parted(one, tmp_path / "two")
    assert json.dumps(sorted(str(path.relative_to(one)) for path in one.rglob("*"))) == json.dumps(
        sorted(str(path.relative_to(two)) for path in two.rglob("*"))
    )
    with session.open(one) as first, session.open(two) as second:
        assert export.warehouse_digest(first) == export.warehouse_digest(second)
