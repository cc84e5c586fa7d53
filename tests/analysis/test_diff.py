"""What differs between two versions of the analysis over one warehouse, and nothing else."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis import catalog
from tests.analysis.conftest import Said, body

Run = Callable[..., Said]
VIEWS = {
    "stat/parameter": """-- grain: a parameter
SELECT name, value, unit, note
FROM (VALUES ('study', NULL, 'name', ''), ('x.word', 'even', 'text', '')) AS parameter (name, value, unit, note)
""",
    "x/field": """-- grain: a completion
WITH read AS (
    SELECT completion_id, model_id, arm, contains(response, (SELECT value FROM stat.parameter WHERE name = 'x.word')) AS ok
    FROM raw.completion
)
SELECT completion_id, model_id, arm, ok FROM read
""",
    "modality/prospective_task": """-- grain: an arm
SELECT arm, count(*) AS n, (count(*) FILTER (WHERE ok))::DOUBLE / count(*) AS gap, 0.5::DOUBLE AS gap_low FROM x.field GROUP BY arm
""",
    "x/other": "SELECT count(*) AS n FROM raw.item",
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git checkout whose `sql/` is small, committed, and the installation's."""
    root = tmp_path / "checkout" / "sql"
    for name, text in VIEWS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / f"{name}.sql").write_text(text)
    (root / "raw").mkdir()
    (root / "raw" / "001_tables.sql").write_text(catalog.load().raw_schema)
    for arguments in (["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    monkeypatch.setattr(catalog, "sql_root", lambda: root)
    return root


def edit(checkout: Path, view: str, old: str, new: str) -> None:
    path = checkout / f"{view}.sql"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def difference(run: Run, *arguments: str) -> dict[str, dict[str, Any]]:
    said = run("diff", "--format", "json", *arguments)
    assert (said.code, said.err) == (0, "")
    return {row["view"]: row for row in json.loads(said.out)}


def test_nothing_changed_is_an_empty_diff(run: Run, checkout: Path) -> None:
    assert difference(run, "--base", "HEAD") == {}
    assert run("diff", "--base", "HEAD").out == "Nothing differs.\n"


@pytest.mark.parametrize(("old", "new"), [("-- grain: a completion", "-- grain: one call\n-- why: to say more"), ("read", "looked_at")])
def test_a_comment_and_a_renamed_cte_are_no_difference(run: Run, checkout: Path, old: str, new: str) -> None:
    edit(checkout, "x/field", old, new)
    assert difference(run, "--base", "HEAD") == {}


def test_an_edit_is_followed_to_every_row_and_headline_and_back(run: Run, checkout: Path) -> None:
    edit(checkout, "x/field", "contains(response,", "arm = 'A' OR contains(response,")
    found = difference(run, "--base", "HEAD")
    assert found.keys() == {"x.field", "modality.prospective_task"}
    field, task = found["x.field"], found["modality.prospective_task"]
    assert (field["status"], field["why"]) == ("changed", "its own query")
    assert (field["n_base"], field["n_new"], field["appear"], field["vanish"], field["differ"]) == (36, 36, 0, 0, 6)  # `A` under assess
    assert task["why"] == "reads x.field"
    assert task["headlines"] == [{"row": "A", "column": "gap", "base": 0.5, "new": 1.0, "delta": 0.5}]
    edit(checkout, "x/field", "arm = 'A' OR contains(response,", "contains(response,")
    assert difference(run, "--base", "HEAD") == {}


def test_one_view_s_rows_are_shown_with_both_values(run: Run, checkout: Path) -> None:
    edit(checkout, "x/field", "FROM raw.completion\n", "FROM raw.completion WHERE NOT (arm = 'B' AND template = 'plain')\n")
    edit(checkout, "x/field", "contains(response,", "arm = 'A' OR contains(response,")
    rows = json.loads(run("diff", "x.field", "--base", "HEAD", "--format", "json").out)
    assert sorted((row["change"], row["column"]) for row in rows) == [("differs", "ok")] * 6 + [("vanishes", None)] * 6
    assert {(row["base"], row["new"]) for row in rows if row["change"] == "differs"} == {("false", "true")}
    assert all(row["completion_id"].endswith("B/plain/1") for row in rows if row["change"] == "vanishes")
    assert "differs" in run("diff", "x.field", "--base", "HEAD").out


def test_views_and_columns_that_come_and_go_are_named(run: Run, checkout: Path) -> None:
    (checkout / "x" / "other.sql").unlink()
    (checkout / "x" / "more.sql").write_text("SELECT 1 AS a")
    edit(checkout, "modality/prospective_task", "AS gap_low", "AS gap_high")
    found = difference(run, "--base", "HEAD")
    assert {name: row["status"] for name, row in found.items()} == {
        "x.other": "removed", "x.more": "added", "modality.prospective_task": "changed",
    }  # fmt: skip
    assert found["modality.prospective_task"]["why"] == "its own query; columns +gap_high, -gap_low"
    assert found["modality.prospective_task"]["differ"] == 0
    assert run("diff", "x.other", "--base", "HEAD").code == 2


def test_parameters_are_compared_on_either_side(run: Run, checkout: Path) -> None:
    found = difference(run, "--set", "x.word=odd")
    assert found.keys() == {"x.field", "modality.prospective_task"}
    assert found["x.field"]["why"] == "x.word: even → odd"
    assert found["x.field"]["differ"] > 0
    assert difference(run, "--base-set", "x.word=odd", "--set", "x.word=odd") == {}
    assert difference(run, "--base", "HEAD", "--base-set", "x.word=odd")["x.field"]["why"] == "x.word: odd → even"


def test_another_default_is_a_difference_where_it_is_read(run: Run, checkout: Path) -> None:
    edit(checkout, "stat/parameter", "'even'", "'odd'")
    found = difference(run, "--base", "HEAD")
    assert found.keys() == {"x.field", "modality.prospective_task"}
    assert found["x.field"]["why"] == "x.word: even → odd"


def test_a_study_holds_for_both_sides(run: Run, checkout: Path) -> None:
    assert difference(run, "--base", "HEAD", "--set", "study=first") == {}
    assert run("diff", "--base", "HEAD", "--set", "study=third").code == 2


def test_rows_that_repeat_are_counted(run: Run, checkout: Path) -> None:
    (checkout / "modality" / "prospective_task.sql").unlink()
    edit(checkout, "x/field", "SELECT completion_id, model_id, arm, ok FROM read", "SELECT arm FROM read")
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qam", "second"], cwd=checkout, check=True)
    edit(checkout, "x/field", "SELECT arm FROM read", "SELECT arm FROM read WHERE model_id = 'model-a'")
    field = difference(run, "--base", "HEAD")["x.field"]
    assert (field["n_base"], field["n_new"], field["appear"], field["vanish"]) == (36, 18, 0, 18)


def test_last_digits_of_a_double_are_no_difference(run: Run, checkout: Path) -> None:
    edit(checkout, "modality/prospective_task", "0.5::DOUBLE AS gap_low", "0.5::DOUBLE + 1e-14 AS gap_low")
    found = difference(run, "--base", "HEAD")["modality.prospective_task"]
    assert (found["differ"], found["headlines"]) == (0, [])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--base REV"),
        (["--base", "nothing"], "nothing"),
        (["--base", "HEAD", "--base-set", "x=1"], "no parameter"),
        (["x.tip", "--base", "HEAD"], "no view"),
    ],
)
def test_a_call_that_compares_nothing_says_why(run: Run, checkout: Path, arguments: list[str], said: str) -> None:
    refused = run("diff", *arguments)
    assert refused.code == 2
    assert said in refused.err
    assert len(refused.err.splitlines()) == 1


def test_rules_that_read_a_bare_word_gain_its_rows_and_move_its_headlines_alone(run: Run) -> None:
    bare = body("ANSWER: odd\nWITH_IMAGE: odd\nSUFFICIENT").replace("'", "''")
    with duckdb.connect("data/warehouse.duckdb") as connection:
        connection.execute(f"UPDATE completion SET response = '{bare}' WHERE arm = 'A' AND template = 'assess' AND model_id = 'model-a'")
    quick = ["--set", "stat.resamples=20", "--base-set", "stat.resamples=20"]
    found = difference(run, "--set", "parse.rules=lenient", *quick)
    gained = json.loads(run("diff", "modality.prospective_item", "--set", "parse.rules=lenient", *quick, "--format", "json").out)
    assert [(row["model_id"], row["arm"], row["column"], row["base"], row["new"]) for row in gained] == [
        ("model-a", "A", "claimed_insufficient", None, "false")
    ] * 3
    cell = found["modality.sufficiency_cell"]
    assert (cell["appear"], cell["vanish"], cell["differ"]) == (0, 0, 1)
    assert found["modality.prospective_cell"]["differ"] == 0
    moved = {(name, move["column"]) for name, row in found.items() for move in row["headlines"]}
    assert {name for name, _ in moved} == {"modality.sufficiency_task"}
