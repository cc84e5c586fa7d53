"""The tables of the tool-use paper: every one over a small study, some as printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis import paper_tables, session, tables
from analysis.errors import UsageError
from analysis.render import TEXT, Format
from analysis.tooluse_tables import TABLES
from tests.sql.rollouts import small_study


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small study as a file."""
    path = tmp_path_factory.mktemp("tooluse") / "warehouse.duckdb"
    small_study().write(path)
    return path


def printed(warehouse: Path, name: str, form: Format = Format.csv) -> list[str]:
    """The lines of a table over the warehouse, without its title."""
    table = paper_tables.require(name)
    if not isinstance(table.source, str):
        rows = list(table.source())
    else:
        with session.open(warehouse, {"stat.resamples": "20"}) as opened:
            rows = opened.rows(table.source)
    return [line for part in tables.sections(table, rows) for line in TEXT[form](tables.layout(table, part)).splitlines()]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_printed_from_the_small_study(warehouse: Path, name: str) -> None:
    lines = printed(warehouse, name)
    assert bool(lines) == (name not in ("s14", "s18", "s19", "s20"))  # the study is neither open-ended nor HR-Bench


def test_accuracies_and_effects_read_as_printed(warehouse: Path) -> None:
    assert printed(warehouse, "s1", Format.md)[2].startswith("| m | 100.0/0.0 | +100.0 ")
    assert printed(warehouse, "s2", Format.md)[2].startswith("| m | 100.0/0.0 | −100.0 ")
    assert printed(warehouse, "s11", Format.md)[2].startswith("| m | 100.0 | 0.0 | 100.0 | +0.0 ")
    assert printed(warehouse, "s10") == [",unhindered,blank,noise,random_crop", "m,2.0,3.0,3.0,3.0"]


def test_evidence_reads_as_printed(warehouse: Path) -> None:
    assert printed(warehouse, "s3")[1] == "m,4,+0.275,+0.000,+0.275,+0.275,—,0.0,50.0,0.0,—,+0.275,+0.500"
    assert printed(warehouse, "s13")[1:] == [
        '"m, 1",0.0,2,+0.500,0.0 / 0.0,2,+0.500,0.0 / 0.0', '"m, 2",0.0,2,+0.050,0.0 / 0.0,2,+0.050,0.0 / 0.0',
        '"m, 3",—,0,—,— / —,0,—,— / —', '"m, 4+",—,0,—,— / —,0,—,— / —',
    ]  # fmt: skip


def test_groups_stand_in_the_paper_s_order(warehouse: Path) -> None:
    assert printed(warehouse, "s4")[0] == ",n,no_call,cwl,calibrated,lwp,undiagnosed"
    assert printed(warehouse, "s15")[1] == """"m, 0.005","'+100.0 [+34.2, +100.0]",+100.0,0.0,0.0,100.0,0.0,0.0"""


def test_a_table_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"there is no table s21: there are 2, 3, .*s20"):
        paper_tables.require("s21")


def test_how_models_sample_is_table_7_of_the_paper(warehouse: Path) -> None:
    assert printed(warehouse, "s7") == [
        ",temperature,top-p,top-k,calls at most",
        "ChenShawn/DeepEyes-7B,0.0,1.0,-1,12",
        "TIGER-Lab/PixelReasoner-RL-v1,0.1,0.95,-1,12",
        "Mini-o3/Mini-o3-7B-v1,1.0,1.0,-1,12",
        "Qwen/Qwen3-VL-8B-Instruct,0.7,0.8,20,12",
        "Qwen/Qwen3-VL-4B-Instruct,0.7,0.8,20,12",
    ]
