"""Completions of a real model that was asked for no labels, read by the forgiving rules and held against the verdicts stored with them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.sql.calls import Row, body, call, fields, session

ARMS = {"text": "A", "image": "B"}
CORRECT = {
    ("isobench/math_parity", "A"): (378, 384),
    ("isobench/math_parity", "B"): (276, 384),
    ("isobench/graph_maxflow", "A"): (128, 128),
    ("isobench/graph_maxflow", "B"): (77, 128),
}

# The log's own reader (a language model) says 1 for each of these; none is a right answer either way, so no verdict differs.
REFUSED = "asks for an edge list and states no answer"
UNREAD = {
    "isobench/graph_maxflow B 40": REFUSED,
    "isobench/graph_maxflow B 80": REFUSED,
    "isobench/graph_maxflow B 113": REFUSED,
}
MISREAD = {
    "isobench/graph_maxflow B 41": "says `Answer: 33` on its first line and 33 again on its last",
    "isobench/graph_maxflow B 126": "says `Maximum flow value: 25` on its first line and 25 again in its last paragraph",
}


@pytest.fixture(scope="module")
def log(shared: Path) -> dict[str, Row]:
    path = shared / "data/field/isobench_eval.gpt-5-nano.jsonl"
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {f"isobench/{entry['task_name']} {ARMS[entry['modality']]} {entry['sample_index']}": entry["evaluation"] for entry in entries}


def read(log: dict[str, Row], rules: str) -> dict[str, Row]:
    calls = []
    for key, entry in log.items():
        task, arm, _ = key.split()
        calls.append(call(key, body(entry["model_response"]), task, arm))
    return {key: row for (key, _), row in fields(session(calls, settings={"parse.rules": rules})).items()}


def told(value: Any) -> str:
    return str(value)


def test_accuracy_is_the_logs_own(log: dict[str, Row]) -> None:
    answers = read(log, "lenient")
    right: Counter[tuple[str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    for key, entry in log.items():
        task, arm, _ = key.split()
        asked[task, arm] += 1
        right[task, arm] += answers[key]["value"] == told(entry["ground_truth"])
    assert {cell: (right[cell], asked[cell]) for cell in asked} == CORRECT


def test_every_answer_is_the_logs_own_but_for_those_explained(log: dict[str, Row]) -> None:
    answers = read(log, "lenient")
    differ = {key: answers[key]["value"] for key, entry in log.items() if answers[key]["value"] != told(entry["parsed_prediction"])}
    assert differ == {**dict.fromkeys(UNREAD), "isobench/graph_maxflow B 41": "33", "isobench/graph_maxflow B 126": "25"}
    assert differ.keys() == UNREAD.keys() | MISREAD.keys()
    assert all((answers[key]["value"] == told(entry["ground_truth"])) == entry["is_correct"] for key, entry in log.items())


def test_to_the_letter_each_is_unparsed_and_none_is_wrong(log: dict[str, Row]) -> None:
    answers = read(log, "strict")
    assert len(answers) == len(log) == 1024
    assert not any(row["ok"] or row["value"] for row in answers.values())
    assert {row["reason"] for row in answers.values()} == {"missing"}
