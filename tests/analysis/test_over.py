"""`-- over: A is B`: a computation written once over a shape, read over each family that has it."""

from pathlib import Path

import duckdb
import pytest

from analysis.catalog import Catalog, load


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    files = {
        "raw/001.sql": "CREATE TABLE t (x INTEGER)",
        "stat/shape.sql": "-- grain: the shape\nSELECT NULL::INTEGER AS x WHERE FALSE",
        "stat/setting.sql": "-- grain: apart\nSELECT 2 AS k",
        "stat/doubled.sql": "-- grain: reads stat.shape\nSELECT x * k AS x FROM stat.shape CROSS JOIN stat.setting",
        "stat/total.sql": "-- grain: a total\n-- of stat.doubled\nSELECT sum(doubled.x) AS x FROM stat.doubled AS doubled",
        "fam/sums.sql": "-- grain: a family\nSELECT x FROM raw.t",
        "fam/total.sql": "-- grain: its total\n-- over: stat.shape is fam.sums\n-- cache: whole\nSELECT * FROM stat.total",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return load(tmp_path)


def test_a_family_is_read_in_place_of_the_shape_however_deep(catalog: Catalog) -> None:
    assert catalog.closure(["fam.total"])[-1] == "fam.total"
    assert catalog["fam.total"].reads == {"fam.sums", "stat.setting"}
    assert (catalog["fam.total"].grain, catalog["fam.total"].cache) == ("its total", "whole")

    connection = duckdb.connect()
    connection.execute("ATTACH ':memory:' AS raw; CREATE TABLE raw.t AS SELECT unnest([1, 2, 3]) AS x")
    for name in catalog.closure(["fam.total"]):
        schema, _, view = name.partition(".")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}; CREATE VIEW {schema}.{view} AS {catalog[name].text}")
    assert connection.execute("SELECT x FROM fam.total").fetchone() == (12,)


def test_a_change_of_the_shared_computation_changes_the_familys_fingerprint(catalog: Catalog, tmp_path: Path) -> None:
    before = catalog.fingerprint("fam.total"), catalog.fingerprint("fam.sums")
    (tmp_path / "stat/doubled.sql").write_text("-- grain: reads stat.shape\nSELECT x * k + 1 AS x FROM stat.shape CROSS JOIN stat.setting")
    after = load(tmp_path)
    assert after.fingerprint("fam.total") != before[0]
    assert after.fingerprint("fam.sums") == before[1]
