"""An export of a tool-use study: its paper's tables and figures, its headlines with their n, and each call's evidence for training."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest

from analysis import export, session
from analysis.tooluse_figures import FIGURES
from analysis.tooluse_tables import TABLES
from tests.sql.rollouts import small_study


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an export of the small study."""
    folder = tmp_path_factory.mktemp("exported")
    study = small_study()
    study.probes("a/tool", 1, 0.1, 0.9, 0.2, 0.3, 0.4, attempt=2)  # a later reading of one call: VEG 0.6
    study.probe("b/tool", 2, "real", "<html>busy</html>", attempt=2)  # and one that cannot be read
    study.tables["observation"][0]["executed"] = json.dumps({"bbox_2d": [1, 2, 31, 42], "source": 0, "source_size": [400, 300]})
    study.write(folder / "warehouse.duckdb")
    with session.open(folder / "warehouse.duckdb", {"stat.resamples": "20"}) as opened:
        export.write(opened, folder / "warehouse.duckdb", folder / "out")
    return folder / "out"


def test_it_holds_the_tables_and_figures_of_its_own_paper(exported: Path) -> None:
    tables = {path.name for path in (exported / "tables").iterdir()}
    assert tables == {f"table_s{table.number:02}.{ending}" for table in TABLES.values() for ending in ("csv", "json", "md", "tex")}
    assert {path.name for path in (exported / "figures").glob("*.csv")} == {f"figure_{number}.csv" for number in FIGURES}
    assert "| m | 100.0/0.0 | +100.0 " in (exported / "tables" / "table_s01.md").read_text()
    said = json.loads((exported / "provenance.json").read_text())
    assert said["tables"]["table_s01"]["tooluse.policy_effect"] == said["views"]["tooluse.policy_effect"]["fingerprint"]


def test_its_headlines_carry_their_n(exported: Path) -> None:
    found = json.loads((exported / "metrics.json").read_text())["vstar"]
    assert found["policy"]["m"] == {"accuracy_direct": 0.0, "accuracy_tool": 1.0, "ate": 1.0, "n_items": 2}
    assert found["random_crop"]["m"] == {"accuracy_clean": 1.0, "accuracy_intervened": 0.0, "ate": -1.0, "hit_max": 1.0, "n_items": 2}
    assert found["groups"]["m"]["calibrated"] == {"n": 2, "n_items": 2, "share": 1.0}
    assert (found["veg"]["m"]["n_veg"], found["veg"]["m"]["n_items"]) == (3, 2)
    assert "veg_open" not in found


def test_each_probed_call_is_a_step_with_its_evidence_or_the_reason_why_it_has_none(exported: Path) -> None:
    steps = [json.loads(line) for line in (exported / "views" / "tooluse.step.jsonl").read_text().splitlines()]
    assert [(step["rollout_id"], step["turn"], step["call_index"]) for step in steps] == [
        ("a/tool", 1, 0), ("a/tool", 2, 0), ("b/tool", 1, 0), ("b/tool", 2, 0),
    ]  # fmt: skip
    first, _, _, unread = steps
    assert first["veg"] == pytest.approx(0.9 - 0.3, abs=1e-8)
    assert (first["question"], first["gold"], first["image_sha256"], first["correct"]) == ("What colour is a?", "A", "image of a", True)
    assert [first[name] for name in ("x1", "y1", "x2", "y2", "width", "height")] == [1, 2, 31, 42, 400, 300]
    assert (unread["veg"], unread["gap_real"], unread["reason"]) == (None, None, "real: body is not JSON")
    assert unread["gap_before"] == pytest.approx(0.6, abs=1e-8)
    frame = polars.read_parquet(exported / "views" / "tooluse.step.parquet")
    assert frame.to_dicts() == steps
