"""Audits: what breaks a promise fails and is shown; what a reader should only know of is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import duckdb

from analysis import quality
from analysis.render import Format, Rows
from tests.analysis.conftest import Said

Run = Callable[..., Said]


def test_a_sound_warehouse_passes(run: Run) -> None:
    said = run("audit")
    assert (said.code, said.err) == (0, "")
    assert "quality.duplicate" in said.out


def test_a_broken_promise_is_shown_and_ends_in_a_data_error(run: Run) -> None:
    with duckdb.connect("data/warehouse.duckdb") as connection:
        connection.execute("INSERT INTO completion SELECT * FROM completion LIMIT 1")
    said = run("audit")
    assert said.code == 3
    assert "error: quality.duplicate\n" in said.out
    assert "quality.duplicate finds 2 rows" in said.err
    assert len(said.err.splitlines()) == 1
    rows = [row for row in json.loads(run("audit", "--format", "json").out) if row["audit"] == "quality.duplicate"]
    assert [row["severity"] for row in rows] == ["error", "error"]
    assert isinstance(json.loads(rows[0]["row"]), dict)


def test_a_warning_is_shown_and_fails_nothing(run: Run) -> None:
    with duckdb.connect("data/warehouse.duckdb") as connection:
        connection.execute("DELETE FROM completion WHERE arm = 'A' AND model_id = 'model-a'")
    said = run("audit")
    assert said.code == 0
    assert "warning: quality.unsettled\n" in said.out


def test_a_condition_answered_in_several_ways_is_not_pooled_unless_told_to(run: Run) -> None:
    before = run("table", "3").out
    with duckdb.connect("data/warehouse.duckdb") as connection:
        connection.execute(
            "UPDATE completion SET provider = CASE WHEN item_id LIKE '%/2' THEN 'elsewhere' ELSE 'here' END WHERE model_id = 'model-a'"
        )
    assert run("audit").code == 3
    for command in (["table", "3"], ["table", "3", "--format", "csv"], ["figure", "2"], ["export", "--out", "out"]):
        said = run(*command)
        assert (said.code, said.out) == (3, "")
        assert said.err == (
            "error: model-a isobench/math_parity A assess was answered in 2 ways: provider elsewhere and here (and 5 more); `vlmaudit show "
            "quality.drift` lists them; ask again what differs, or pool it all the same with --set quality.pool_drift=true\n"
        )
        assert run(*command, "--set", "quality.pool_drift=true").code == 0
    assert json.loads(Path("out/provenance.json").read_text())["pool_drift"] == "true"
    assert run("table", "3", "--set", "quality.pool_drift=true").out == before
    assert run("audit", "--set", "quality.pool_drift=true").code == 0
    assert run("table", "s1").code == 0  # the other audit's


def test_many_rows_are_cut_in_a_table_and_whole_elsewhere() -> None:
    found = [quality.Finding("quality.x", "no row", "warning", Rows(["n"], [[n] for n in range(50)]))]
    assert "… and 30 more: vlmaudit show quality.x --limit 0" in quality.render(found, Format.table)
    assert len(json.loads(quality.render(found, Format.json))) == 50
