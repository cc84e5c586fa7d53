"""`status` counts what is done, missing and failed; its dry run says what is known about the rest, and no more."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis.errors import DataError, UsageError
from generator import status
from generator.warehouse import writer
from tests.generator.test_warehouse import cell, completion, item

ANSWER = '{"choices": [{"message": {"content": "ANSWER: even"}, "finish_reason": "stop"}]}'
CONDITION = ["m", False, "t", "AB", "plain"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "warehouse.duckdb"


def test_each_condition_counts_done_missing_and_failed_with_a_reason(path: Path) -> None:
    with writer(path) as opened:
        opened.merge("item", [item()])
        opened.append_grid("s", [cell(key) for key in "abcd"] + [cell("e", arm="A")])
        opened.merge("completion", [completion("a", response=ANSWER), completion("b", response="<html>", http_status=503)])
        opened.merge("completion", [completion("b", 2, response=ANSWER), completion("c", response="<html>", http_status=503)])
    found = status.status(path)
    assert list(found.columns[-5:]) == ["requests", "done", "missing", "failed", "reason"]
    assert [list(row) for row in found.rows] == [
        ["s", "m", False, "t", "A", "plain", 1, 0, 1, 0, None],
        ["s", *CONDITION, 4, 2, 1, 1, "HTTP status 503"],
    ]
    assert status.totals(found) == ["s: 2 of 5 requests done, 2 missing, 1 failed"]


def test_studies_are_shown_one_by_one_and_an_unknown_one_is_named(path: Path) -> None:
    with writer(path) as opened:
        opened.append_grid("one", [cell("a")])
        opened.append_grid("two", [cell("a"), cell("b")])
    assert [(row[0], row[6]) for row in status.status(path).rows] == [("one", 1), ("two", 2)]
    assert [(row[0], row[6]) for row in status.status(path, ["two"]).rows] == [("two", 2)]
    with pytest.raises(UsageError, match="holds no study 'three': it holds one, two"):
        status.status(path, ["three"])


def test_no_warehouse_is_said_with_the_remedy(path: Path) -> None:
    with pytest.raises(DataError, match="no warehouse at .*: `vlmaudit generate` or `vlmaudit ingest` makes one"):
        status.status(path)


def test_records_that_wait_in_the_journal_are_counted(path: Path) -> None:
    with writer(path) as opened:
        opened.journal.append(("completion", completion(key)) for key in "abc")
    assert list(status.waiting(path).values()) == [3]


# -- the dry run -------------------------------------------------------------------------------------------------------------------


def params(folder: Path, **study: Any) -> Path:
    asked = {"models": ["sim/honest"], "tasks": {"isobench/math_parity": {"source": "synth", "n": 3}}, "thinking": [False], **study}
    file = folder / "params.yaml"
    file.write_text(yaml.safe_dump({"studies": {"s": asked}}))
    return file


def test_without_a_warehouse_everything_is_to_be_sent_and_its_cost_is_unknown(path: Path) -> None:
    found = status.cost(params(path.parent), [], path, path.parent / "data")
    assert [row[5:] for row in found.rows] == [(template, 3, None, None, None) for _ in range(3) for template in ("assess", "plain")]
    assert status.total(found) == "18 requests to send, prompt tokens unknown, completion tokens unknown, dollars unknown"
    assert not path.exists()


def test_estimates_are_means_of_what_is_stored_for_the_same_condition(path: Path) -> None:
    with writer(path) as opened:
        known: dict[str, Any] = {"model_id": "sim/honest", "task": "isobench/math_parity", "arm": "AB", "response": ANSWER}
        opened.merge(
            "completion",
            [
                completion("x", **known, prompt_tokens=100, completion_tokens=10, cost_usd=0.5),
                completion("y", **known, prompt_tokens=201, completion_tokens=20, cost_usd=None),
                completion("z", **known, http_status=503),
            ],
        )
    before = path.read_bytes()
    found = status.cost(params(path.parent), ["s"], path, path.parent / "data")
    estimates = {row[4:6]: row[6:] for row in found.rows}
    assert estimates[("AB", "plain")] == (3, 452, 45, 1.5)
    assert estimates[("A", "plain")] == (3, None, None, None)
    assert status.total(found) == (
        "18 requests to send, about 452 prompt tokens, prompt tokens of 15 requests unknown, about 45 completion tokens, "
        "completion tokens of 15 requests unknown, about 1.5000 dollars, dollars of 15 requests unknown"
    )
    assert path.read_bytes() == before
