"""An export holds every table, figure and view of a study, says what it came from, and is the same each time."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import duckdb
import polars
import pytest

from analysis import export, session
from analysis.modality_figures import FIGURES
from analysis.modality_tables import TABLES
from tests.analysis.conftest import Said, write_study

Run = Callable[..., Said]


def read(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_an_export_holds_tables_figures_views_metrics_and_provenance(run: Run, tmp_path: Path) -> None:
    said = run("export", "--out", "data/results")
    assert (said.code, said.out) == (0, "")
    files = read(tmp_path / "data" / "results")
    assert {f"tables/table_{number:02}.{ending}" for number in TABLES for ending in ("csv", "json", "md", "tex")} <= files.keys()
    assert {"views/modality.prospective_cell.csv", "views/modality.prospective_cell.parquet"} <= files.keys()
    assert "views/modality.prospective_item.csv" not in files
    assert {f"figures/figure_{number}.csv" for number in FIGURES} <= files.keys()
    drawn = {name for name in files if name.startswith("figures/") and not name.endswith(".csv")}
    assert drawn == {f"figures/figure_{number}.{ending}" for number in ("2", "3", "5") for ending in ("svg", "png")}
    assert json.loads(files["metrics.json"])["isobench/math_parity"]["prospective"] == {
        "executed_change": 1.0, "gap": 0.5, "n_above": 2, "n_below": 0, "n_cells": 4, "n_items": 12, "n_on": 2, "predicted_change": 0.5,
    }  # fmt: skip
    assert not [name for name in files if name.startswith(("tables/table_s", "figures/figure_s"))]
    cells = polars.read_parquet(tmp_path / "data" / "results" / "views" / "modality.prospective_cell.parquet")
    assert cells["n_items"].to_list() == [3, 3, 3, 3]
    assert cells["n_items"].dtype == polars.Int64


def test_provenance_names_what_every_number_came_from(run: Run, tmp_path: Path) -> None:
    run("export", "--out", "out", "--set", "parse.rules=lenient")
    said = json.loads((tmp_path / "out" / "provenance.json").read_text())
    files = read(tmp_path / "out")
    assert said["study"] == "first"
    assert sorted(said["files"]) == sorted(files.keys() - {"provenance.json"})
    cell = said["views"]["modality.prospective_item"]
    assert cell["parameters"]["parse.rules"] == "lenient"
    assert "stat.seed" not in cell["parameters"]
    assert len(cell["fingerprint"]) == 16
    task = "modality.prospective_task"
    assert said["tables"]["table_03"][task] == said["views"][task]["fingerprint"]
    assert said["figures"]["figure_2"] == {"modality.prospective_cell": said["views"]["modality.prospective_cell"]["fingerprint"]}


def test_two_exports_differ_in_no_byte(run: Run, tmp_path: Path) -> None:
    run("export", "--out", "one")
    run("export", "--out", "two")
    one, two = read(tmp_path / "one"), read(tmp_path / "two")
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


def test_an_export_replaces_its_own_files_and_no_others(run: Run, tmp_path: Path) -> None:
    run("export", "--out", "out")
    provenance = tmp_path / "out" / "provenance.json"
    said = json.loads(provenance.read_text())
    provenance.write_text(json.dumps({**said, "files": [*said["files"], "views/old.csv", "../outside.txt"]}))
    for name in ("out/views/old.csv", "out/mine.txt", "outside.txt"):
        (tmp_path / name).write_text("x")
    run("export", "--out", "out")
    assert not (tmp_path / "out" / "views" / "old.csv").exists()
    assert (tmp_path / "out" / "mine.txt").exists()
    assert (tmp_path / "outside.txt").exists()


def test_a_study_is_chosen_by_name(run: Run, tmp_path: Path) -> None:
    with duckdb.connect("data/warehouse.duckdb") as connection:
        write_study(connection, "second", datetime(2026, 2, 1), ["model-c"], 1)
    assert run("export", "--out", "out", "--study", "first").code == 0
    assert json.loads((tmp_path / "out" / "provenance.json").read_text())["study"] == "first"
    assert "model-c" not in (tmp_path / "out" / "views" / "modality.prospective_cell.csv").read_text()
    assert run("export", "--out", "out", "--study", "third").code == 2


def test_a_folder_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    said = run("export", "--out", "out")
    assert said.code == 3
    assert said.err.startswith("error: cannot write")
    assert len(said.err.splitlines()) == 1


def test_a_warehouse_without_a_study_has_nothing_to_export(run: Run) -> None:
    with duckdb.connect("data/warehouse.duckdb") as connection:
        connection.execute("DELETE FROM grid")
    assert run("export", "--out", "out").code == 3


@pytest.fixture
def digest(warehouse: Path) -> Callable[..., str]:
    """The warehouse's digest after some statements on its raw tables."""

    def after(*statements: str) -> str:
        with duckdb.connect(str(warehouse)) as connection:
            for statement in statements:
                connection.execute(statement)
        with session.open(warehouse) as reading:
            return export.warehouse_digest(reading)

    return after


def test_the_warehouse_digest_covers_ids_and_bodies_but_not_their_order(digest: Callable[..., str]) -> None:
    before = digest()
    shuffled = f"CREATE TABLE shuffled AS SELECT * FROM completion ORDER BY hash(completion_id || '{random.random()}')"
    assert digest(shuffled, "DELETE FROM completion", "INSERT INTO completion SELECT * FROM shuffled", "DROP TABLE shuffled") == before
    first = "completion_id = (SELECT min(completion_id) FROM completion)"
    changed = digest(f"UPDATE completion SET response = response || ' ' WHERE {first}")
    added = digest(f"INSERT INTO completion BY NAME SELECT * REPLACE (completion_id || 'x' AS completion_id) FROM completion WHERE {first}")
    nulled = digest(f"UPDATE completion SET response = NULL, response_bytes = 'x'::BLOB WHERE {first}")
    assert len({before, changed, added, nulled}) == 4
