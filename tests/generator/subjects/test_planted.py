"""What the views report of the subjects is what was planted in them: from a chat completion's bytes to every rate of the modality audit."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

from analysis.session import Session, on
from generator.subjects import copycat, expected, honest, mixed
from generator.subjects.chat import completion
from generator.subjects.question import read
from tests.generator.subjects.asking import CONDITIONS, GOLD, TASKS, body
from tests.sql.literal import empty_warehouse

ITEMS = {"isobench/math_parity": 2_000, "isobench/graph_maxflow": 300, "mmimdb": 300, "goldenview": 300}
SPEAKS = {"sim/mixed": mixed.speak, "sim/honest": honest.speak, "sim/copycat": copycat.speak}
SETTINGS = {"stat.resamples": "20"}  # intervals are tested elsewhere
BLIND = {"goldenview": ("B",)}  # asking.py shows the golden view in Set A


def rows(model_id: str, task: str, n: int, thinking: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """The raw rows of one item: (table, row)."""
    film = {arm: f"{task}/{n}" if task == "mmimdb" and arm in ("B", "title") else f"{task}/{n}/0" for arm in ("AB", "A", "B", "title")}
    for item_id in set(film.values()):
        yield "item", {"item_id": item_id, "task": task, "cluster_id": f"{task}/{n}", "gold": GOLD[task]}
    for asked, arm, template in CONDITIONS:
        if asked != task:
            continue
        sent = body(task, arm, template, n, thinking=thinking)
        question = read(sent)
        reply = completion(question, SPEAKS[model_id](question, 0), 0, 0.0)
        key = f"{model_id} {task} {n} {arm} {template} {thinking}"
        cell = {
            "request_key": key,
            "protocol": "modality",
            "model_id": model_id,
            "thinking": thinking,
            "task": task,
            "item_id": film[arm],
            "arm": arm,
            "template": template,
            "replicate": 0,
        }
        pins = {"pin_provider": "simulated", "pin_precision": "exact"}
        yield "grid", {"study": "s", "grid_id": "0001", "created_at": "2025-01-01T00:00:00", **pins, **cell}
        answered = {"provider": reply["provider"], "precision": reply["precision"], "http_status": 200, "response": json.dumps(reply)}
        request = {"repetition_detection": sent["repetition_detection"]}
        yield "completion", {"completion_id": key, "attempt": 1, **cell, **answered, "request": request}


def over(all_rows: Iterator[tuple[str, dict[str, Any]]], folder: Path) -> Session:
    """A session on a warehouse that holds these rows."""
    tables: dict[str, list[str]] = defaultdict(list)
    for table, row in all_rows:
        tables[table].append(json.dumps(row))
    connection = empty_warehouse()
    for table, lines in tables.items():
        path = folder / f"{table}.jsonl"
        path.write_text("\n".join(lines))
        columns = dict(connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE raw.{table})").fetchall())
        given = ", ".join(f"{name}: '{columns[name]}'" for name in json.loads(lines[0]))
        connection.execute(f"INSERT INTO raw.{table} BY NAME SELECT * FROM read_json('{path}', columns = {{{given}}}, format = 'nd')")
    return on(connection, SETTINGS)


@pytest.fixture(scope="module")
def of_mixed(tmp_path_factory: pytest.TempPathFactory) -> Session:
    made = (row for task, items in ITEMS.items() for n in range(items) for row in rows("sim/mixed", task, n, thinking=False))
    return over(made, tmp_path_factory.mktemp("mixed"))


def holds(count: int, n: int, rate: float) -> bool:
    """Whether a count lies in the binomial 99.9 % range of a rate."""
    low, high = binom.interval(0.999, n, rate)
    return n > 0 and bool(low <= count <= high)


@pytest.mark.parametrize("task", TASKS)
def test_prospective_cells(of_mixed: Session, task: str) -> None:
    for cell in of_mixed.rows("SELECT * FROM modality.prospective_cell WHERE task = ?", [task]):
        rates = expected.prospective(task, cell["arm"], blind=BLIND.get(task, ()))
        assert holds(cell["n_predicted_changed"], cell["n_items"], rates["predicted_change"]), cell
        assert holds(cell["n_executed_changed"], cell["n_items"], rates["executed_change"]), cell


@pytest.mark.parametrize("task", TASKS)
def test_sufficiency_cells(of_mixed: Session, task: str) -> None:
    for cell in of_mixed.rows("SELECT * FROM modality.sufficiency_cell WHERE task = ?", [task]):
        rates = expected.prospective(task, cell["arm"], blind=BLIND.get(task, ()))
        silent = cell["n_executed_changed"] - cell["n_flagged_changed"]
        assert holds(cell["n_claimed_insufficient"], cell["n_items"], rates["claimed_insufficient"]), cell
        assert holds(cell["n_flagged_changed"], cell["n_claimed_insufficient"], rates["precision"]), cell
        assert holds(cell["n_flagged_changed"], cell["n_executed_changed"], rates["recall"]), cell
        assert holds(silent, cell["n_items"], rates["silent_failure"]), cell


@pytest.mark.parametrize("task", TASKS)
def test_attributions(of_mixed: Session, task: str) -> None:
    shares = expected.retrospective(task, blind=BLIND.get(task, ()))
    found = of_mixed.rows("SELECT * FROM modality.retrospective WHERE task = ? AND model_id = 'sim/mixed'", [task])
    assert len(found) == 8
    for row in found:
        assert holds(row["n"], row["n_items"], shares[row["side"]][row["attribution"]]), row


@pytest.mark.parametrize("task", TASKS)
def test_agreement_with_the_restored_answer(of_mixed: Session, task: str) -> None:
    query = "SELECT * FROM modality.counterfactual_agreement WHERE task = ? AND claim = 'with_other'"
    for row in of_mixed.rows(query, [task]):
        rates = expected.prospective(task, row["arm"], blind=BLIND.get(task, ()))
        assert holds(row["n_agreed"], row["n_items"], rates["agreement"]), row


@pytest.mark.parametrize("task", TASKS)
def test_task_performance(of_mixed: Session, task: str) -> None:
    for row in of_mixed.rows("SELECT * FROM modality.task_performance WHERE task = ? AND arm <> 'title'", [task]):
        rate = expected.score(task, row["arm"], row["template"], blind=BLIND.get(task, ()))
        assert holds(row["n_correct"], row["n_items"], rate), row


@pytest.mark.parametrize("task", TASKS)
def test_attrition(of_mixed: Session, task: str) -> None:
    for row in of_mixed.rows("SELECT * FROM attrition.condition WHERE task = ?", [task]):
        for outcome, share in expected.outcomes(row["template"]).items():
            assert holds(row[f"n_{outcome}"], row["n_attempted"], share), (outcome, row)
        assert row["n_provider_error"] == 0


def test_attrition_while_thinking(tmp_path: Path) -> None:
    session = over((row for n in range(300) for row in rows("sim/mixed", "isobench/math_parity", n, thinking=True)), tmp_path)
    for row in session.rows("SELECT * FROM attrition.condition"):
        for outcome, share in expected.outcomes(row["template"], thinking=True).items():
            assert holds(row[f"n_{outcome}"], row["n_attempted"], share), (outcome, row)
    for cell in session.rows("SELECT * FROM modality.prospective_cell"):  # label lines in a trace count for nothing
        rates = expected.prospective("isobench/math_parity", cell["arm"])
        assert holds(cell["n_predicted_changed"], cell["n_items"], rates["predicted_change"])


def test_honest_and_copycat_are_exact(tmp_path: Path) -> None:
    made = (
        row for model in ("sim/honest", "sim/copycat") for task in TASKS for n in range(40) for row in rows(model, task, n, thinking=False)
    )
    unique = {json.dumps(row, sort_keys=True): row for row in made}  # the items are the same for both
    session = over(iter(unique.values()), tmp_path)
    cells = session.rows("SELECT * FROM modality.prospective_cell")
    flags = session.rows("SELECT * FROM modality.sufficiency_cell")
    claims = session.rows("SELECT * FROM modality.counterfactual_agreement")
    assert len(cells) == len(flags) == 16
    for cell in cells:
        assert 0 < cell["executed_change"] < 1
        assert cell["predicted_change"] == (cell["executed_change"] if cell["model_id"] == "sim/honest" else 0)
    for flag in flags:
        is_honest = flag["model_id"] == "sim/honest"
        assert (flag["claimed_insufficient"] > 0, flag["precision"], flag["recall"]) == ((True, 1, 1) if is_honest else (False, None, 0))
    assert {claim["agreement"] for claim in claims if claim["model_id"] == "sim/honest"} == {1}
