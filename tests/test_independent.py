"""Every cell of every view of the modality audit against a computation in plain Python from the raw rows.

Counts and names are equal, rates agree to 1e-12 and the ends of their intervals to 1e-9, over made-up studies of several sizes, with
faults, retries and replicates.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from analysis import session
from analysis.catalog import load
from analysis.export import exported
from generator.ingest import ingest
from tests.independent import ENDS, VIEWS, Bootstrap, Row, Study

STUDIES = {
    "small": "--seed 1 --models 3 --scale 0.03 --faults 0.3 --retries 0.5",
    "thinking": "--seed 2 --models 10 --scale 0.01 --faults 0.3 --retries 0.5",
    "nearly all lost": "--seed 3 --models 9 --scale 0.001 --faults 0.9 --retries 0.3",
    "one replicate more": "--seed 4 --models 2 --scale 0.04 --faults 0.3 --retries 9",
    "faultless": "--seed 5 --models 2 --scale 0.02 --faults 0",
}
RESAMPLES = 200
SETTINGS: list[tuple[str, Mapping[str, str]]] = [
    *((study, {}) for study in STUDIES),
    ("one replicate more", {"arm.replicate": "1"}),
    ("small", {"arm.field_policy": "usable"}),
    ("one replicate more", {"arm.field_policy": "usable"}),
]


@pytest.fixture(scope="module")
def made(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Row], Path]]:
    """The rows of each study, and the warehouse that holds them."""
    folder = tmp_path_factory.mktemp("made")
    script = shared / "reference" / "make_completions.py"
    studies = {}
    for number, (name, options) in enumerate(STUDIES.items()):
        rows, warehouse = folder / f"study_{number}.jsonl", folder / f"{number}.duckdb"
        subprocess.run([sys.executable, str(script), str(rows), "--prose", "20", *options.split()], check=True)
        assert not ingest(rows, warehouse).refused
        studies[name] = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()], warehouse
    return studies


@pytest.mark.parametrize(("study", "settings"), SETTINGS, ids=lambda value: value if isinstance(value, str) else json.dumps(value))
def test_every_cell_of_every_view_is_what_plain_python_computes(
    made: dict[str, tuple[list[Row], Path]], study: str, settings: Mapping[str, str]
) -> None:
    rows, warehouse = made[study]
    oracle = Study(rows, int(settings.get("arm.replicate", "0")), settings.get("arm.field_policy", "relevant"))
    draw = Bootstrap(oracle, RESAMPLES)
    with session.open(warehouse, {**settings, "stat.resamples": str(RESAMPLES)}) as opened:
        wrong = {view: list(_differences(opened.rows(f"SELECT * FROM {view}"), _expected(view, oracle, draw))) for view in VIEWS}
    assert not {view: found[:3] for view, found in wrong.items() if found}


def _expected(view: str, oracle: Study, draw: Bootstrap) -> list[Row]:
    """The points of a view, each row with its ends."""
    points = list(VIEWS[view](oracle))
    if view not in ENDS:
        return points
    ends = {tuple(sorted(key.items())): found for key, found in ENDS[view](draw)}
    names = [name for name, _ in next(iter(ends), ())]
    return [{**row, **ends[tuple((name, row[name]) for name in names)]} for row in points]


def test_neither_the_order_of_rows_nor_what_was_superseded_changes_a_value(made: dict[str, tuple[list[Row], Path]], tmp_path: Path) -> None:
    rows, warehouse = made["small"]
    chance = random.Random(7)
    other = []
    for row in chance.sample(rows, len(rows)):
        attempt = 10 * row.get("attempt", 1)
        other.append({**row, "attempt": attempt})
        if chance.random() < 0.2:  # a call that was made again: what it said first no longer counts
            first = {"choices": [{"finish_reason": "stop", "message": {"content": "ANSWER: even"}}]}
            other.append({**row, "attempt": attempt - 5, "response": first})
    assert len(other) > len(rows)
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in other), encoding="utf-8")
    assert not ingest(tmp_path / "other.jsonl", tmp_path / "other.duckdb").refused
    views = {view for view in exported(load()) if view.startswith(("attrition.condition", "modality."))} - {
        "modality.cost"
    }  # what was paid was paid
    found = []
    for path in (warehouse, tmp_path / "other.duckdb"):
        with session.open(path, {"stat.resamples": str(RESAMPLES)}) as opened:
            found.append({view: opened.rows(f"SELECT * FROM {view}") for view in views})
    assert not {view: wrong for view in sorted(views) if (wrong := list(_differences(found[1][view], found[0][view])))}


def test_every_view_of_the_audit_has_a_computation_to_be_held_against() -> None:
    views = {view for view in exported(load()) if view.startswith("modality.") and not view.endswith("_interval")}
    views -= {"modality.model"}  # names, no measure
    assert views == {view for view in VIEWS if view.startswith("modality.")}


def _differences(got: list[Row], expected: list[Row]) -> Iterator[str]:
    if len(got) != len(expected):
        yield f"{len(got)} rows for {len(expected)}"
    for mine, theirs in zip(sorted(got, key=_order), sorted(expected, key=_order), strict=False):
        if mine.keys() != theirs.keys():
            yield f"columns {sorted(mine.keys() ^ theirs.keys())}"
        elif wrong := {name: (mine[name], theirs[name]) for name in mine if not _equal(name, mine[name], theirs[name])}:
            yield f"{wrong} in {theirs}"


def _order(row: Row) -> tuple[str, str]:
    """By all that is compared exactly, then by rates."""
    rates = {name: round(float(value), 9) + 0.0 for name, value in row.items() if isinstance(value, float | Decimal)}
    return repr(sorted((name, value) for name, value in row.items() if name not in rates)), repr(sorted(rates.items()))


def _equal(name: str, mine: Any, theirs: Any) -> bool:
    if isinstance(theirs, float) and isinstance(mine, float | Decimal):
        return abs(float(mine) - theirs) <= (1e-9 if name.endswith(("_low", "_high")) else 1e-12)
    return type(mine) is type(theirs) and bool(mine == theirs)
