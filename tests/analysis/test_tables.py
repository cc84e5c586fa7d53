"""The paper's tables: laid out as printed, from rows as the views give them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis import configuration, tables
from analysis.errors import UsageError
from analysis.modality_tables import TABLES, require
from analysis.render import TEXT, Format
from tests.analysis.conftest import Said

MEDIANS = {"predicted_change": (0.088, 0.005, 0.382), "executed_change": (0.721, 0.51, 0.926), "gap": (0.601, 0.3, 0.9)}
TASK_ROW: dict[str, Any] = {
    "task": "mmimdb", "n_cells": 16, "n_items": 4844, "n_above": 16, "n_on": 0, "n_below": 0,
    **{f"{name}{end}": value for name, values in MEDIANS.items() for end, value in zip(("", "_min", "_max"), values, strict=True)},
}  # fmt: skip


def lines(number: int, rows: list[dict[str, Any]], form: Format = Format.csv) -> list[str]:
    parts = tables.sections(require(number), [defaultdict(lambda: None, row) for row in rows])  # nothing published beside them
    return [line for part in parts for line in TEXT[form](tables.layout(require(number), part)).splitlines()]


def test_table_3_reads_as_printed() -> None:
    gone = dict.fromkeys(TASK_ROW) | {"task": "isobench/graph_maxflow", "n_cells": 0, "n_items": 0, "n_above": 0, "n_on": 0, "n_below": 0}
    assert lines(3, [gone, TASK_ROW], Format.md)[2:] == [
        "| mm-IMDb | 16 | 4,844 | 8.8 (0.5–38.2) | 72.1 (51.0–92.6) | +60.1 | 16, 0, 0 |",
        "| IsoBench max-flow | 0 | 0 | — | — | — | 0, 0, 0 |",
    ]


def test_table_2_has_a_group_of_columns_for_each_task_of_the_study() -> None:
    rows = [
        {"task": task, "attribution": attribution, "n_items": n, "stated": stated, "executed": executed, "delta": executed - stated}
        for task, n, shares in [
            ("isobench/math_parity", 2919, {"either": (0.921, 0.792), "A": (0.055, 0.194), "B": (0.023, 0.01), "both": (0.001, 0.003)}),
            ("mmimdb", 4844, {"A": (0.475, 0.263), "B": (0.091, 0.158), "both": (0.148, 0.418), "either": (0.285, 0.16)}),
        ]
        for attribution, (stated, executed) in shares.items()
    ]
    assert lines(2, rows) == [
        ',"mm-IMDb, n=4,844 stated","mm-IMDb, n=4,844 exec.","mm-IMDb, n=4,844 Δ",'
        '"IsoBench parity, n=2,919 stated","IsoBench parity, n=2,919 exec.","IsoBench parity, n=2,919 Δ"',
        "text / A,47.5,26.3,−21.2,5.5,19.4,+13.9",
        "image / B,9.1,15.8,+6.7,2.3,1.0,−1.3",
        "both (neither alone),14.8,41.8,+27.0,0.1,0.3,+0.2",
        "either suffices,28.5,16.0,−12.5,92.1,79.2,−12.9",
    ]


def test_models_stand_in_the_registry_s_order_then_by_name() -> None:
    rows = [
        {
            "task": "goldenview",
            "metric": "accuracy",
            "model_id": model,
            "thinking": False,
            "arm": "A",
            "template": "plain",
            "score": 0.5,
            "n_attempted": 55,
        }
        for model in ["zeta", "sim/mixed", "google/gemma-4-E2B-it", "Qwen/Qwen3.5-9B", "alpha", "Qwen/Qwen3.5-4B"]
    ]
    assert [line.split(",")[0] for line in lines(7, rows)[1:]] == [
        "Qwen/Qwen3.5-4B", "Qwen/Qwen3.5-9B", "google/gemma-4-E2B-it", "sim/mixed", "alpha", "zeta",
    ]  # fmt: skip


def test_table_14_sets_models_across_and_leaves_what_was_not_asked() -> None:
    def row(template: str, arm: str, model: str, thinking: bool, usable: float, n: int) -> dict[str, Any]:
        return {
            "template": template,
            "task": "mmimdb",
            "arm": arm,
            "thinking": thinking,
            "model_id": model,
            "n_attempted": n,
            "usable": usable,
        }

    rows = [row("plain", "A", "m", False, 1.0, 625), row("plain", "A", "m", True, 0.08, 625), row("plain", "AB", "m", False, 0.5, 10)]
    rows += [row("assess", "A", "k", False, 0.0, 4)]
    assert lines(14, rows) == [
        ",n,m,m (think)",
        '"mm-IMDb, text + image",10,50.0,—',
        '"mm-IMDb, text",625,100.0,8.0',
        ",n,k",
        '"mm-IMDb, text",4,0.0',
    ]


def test_repetition_is_not_available_where_nothing_detects_it() -> None:
    row = {
        "task": "mmimdb",
        "thinking": False,
        "model_id": "m",
        "n_attempted": 1550,
        "repetition": None,
        "parse_failure_of_completed": None,
    }
    row |= dict.fromkeys(("truncated", "provider_error", "unparsed_answer", "unparsed_report", "usable"), 0.0)
    assert lines(15, [row])[1] == 'm,"1,550",0.0,0.0,n/a,0.0,0.0,0.0,—'


def test_a_difference_carries_its_interval_and_its_sign() -> None:
    row = {"model_id": "m", "thinking": False, "n_included": 39, "n_annotated": 52, "alignment_delta": -0.051}
    row |= {"alignment_delta_low": -0.205, "alignment_delta_high": 0.077, "golden_given_single_executed": None}
    row |= dict.fromkeys(("alignment_stated", "alignment_executed", "single_stated", "single_executed", "golden_given_single_stated"), 1.0)
    assert lines(11, [row])[1] == 'm,39/52,100.0,100.0,"−5.1 [−20.5, +7.7]",100.0,100.0,100.0,—'


def test_table_10_reads_as_printed() -> None:
    cost = {"cost": -0.184, "cost_min": -0.484, "cost_max": -0.047, "answer_moved": 0.194, "n_lower": 8, "n_higher": 0}
    row = {"task": "isobench/graph_maxflow", "arm_type": "joint", "n_cells": 8, **cost}
    assert lines(10, [row])[1] == '"IsoBench max-flow, joint",8,"−18.4 (−48.4, −4.7)",8,0,19.4'


def test_table_13_has_the_paper_s_23_prompts() -> None:
    rows = configuration.prompts()
    assert len(rows) == 25
    assert len({row["prompt"] for row in rows}) == 23
    assert len({row["prompt"] for row in rows if (row["task"], row["template"]) == ("goldenview", "plain")}) == 1


def test_table_16_has_the_paper_s_eight_models_and_no_simulated_one() -> None:
    models = lines(16, list(require(16).source()))  # type: ignore[operator]
    assert len(models) == 1 + 8
    assert "Qwen/Qwen3.5-4B,Qwen/Qwen3.5-4B,4B,dense,local (vllm),bf16" in models
    assert 'qwen/qwen3.5-35b-a3b,qwen/qwen3.5-35b-a3b,"35B total, 3B active",mixture,Parasail,fp8' in models


@pytest.mark.parametrize("number", [13, 16])
def test_a_table_of_the_configuration_needs_no_warehouse(run: Callable[..., Said], number: int) -> None:
    Path("data/warehouse.duckdb").unlink()
    assert run("table", str(number)).code == 0


def test_an_unknown_table_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no table 99: there are 2, 3"):
        require(99)


@pytest.mark.parametrize("number", TABLES)
def test_every_table_is_written_in_every_format(run: Callable[..., Said], number: int) -> None:
    for form in ("table", "md", "latex", "csv", "json"):
        said = run("table", str(number), "--format", form)
        assert (said.code, said.err) == (0, "")
    for row in json.loads(run("table", str(number), "--format", "json").out):
        assert all(not isinstance(value, float) or -1 <= value <= 1 for value in row.values())


def test_the_small_study_s_tables_hold_what_its_models_did(run: Callable[..., Said]) -> None:
    (parity,) = json.loads(run("table", "3", "--format", "json").out)
    assert (parity["n_cells"], parity["n_items"], parity["n_above"], parity["n_on"]) == (4, 12, 2, 2)
    assert (parity["predicted_change"], parity["executed_change"], parity["gap"]) == (0.5, 1.0, 0.5)
    assert "IsoBench parity" in run("table", "3").out
    usable = json.loads(run("table", "14", "--format", "json").out)
    assert {row["usable"] for row in usable} == {1.0}


def test_a_table_without_rows_says_so(run: Callable[..., Said]) -> None:
    assert "No rows" in run("table", "7").out
    assert run("table", "7", "--format", "json").out == "[]\n"
