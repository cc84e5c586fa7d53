"""What is joined to the measures: the models' dimensions, what the calls cost, what lost answers could do."""

from __future__ import annotations

from typing import Any

import pytest

from generator import models
from tests.sql.literal import run
from tests.sql.rows import Row, item, only


def test_the_models_are_those_of_the_registry() -> None:
    registry = {name: model for name, model in models.load({}).items() if model.family in ("Qwen3.5", "Gemma 4")}
    rows = {row["model_id"]: row for row in run("modality.model", {})}
    assert rows.keys() == registry.keys()
    for name, row in rows.items():
        model = registry[name]
        assert (row["family"], row["size"], row["architecture"]) == (model.family, model.size, model.architecture)
        assert (row["architecture"] == "mixture") == (row["billions_active"] < row["billions"])
        assert f"{row['billions']}B" in row["size"]
        assert f"{row['billions_active']}B" in row["size"]


# -- the worst case


def shown_a(item_id: str, said: str | None, claimed: str | None, joint: str | None, **more: Any) -> Row:
    report = {"a_assess_answer": said, "a_assess_with_other": claimed, "ab_plain_answer": joint}
    return item(item_id, **report, b_assess_asked=False, **more)


@pytest.mark.parametrize(
    ("said", "claimed", "joint", "bounds"),
    [
        ("even", "even", "odd", (1, 1)),
        ("even", "odd", "even", (-1, -1)),
        ("even", "even", None, (0, 1)),
        ("even", "odd", None, (-1, 0)),
        ("even", None, "odd", (0, 1)),
        ("even", None, "even", (-1, 0)),
        ("even", None, None, (-1, 1)),
        (None, "even", "odd", (-1, 1)),
    ],
)
def test_what_was_read_stays_and_the_rest_could_be_anything(said: str, claimed: str, joint: str, bounds: tuple[int, int]) -> None:
    (row,) = run("modality.worst_case_item", {"arm.item": [shown_a("i", said, claimed, joint)]})
    assert (row["least"], row["most"], row["is_read"]) == (*bounds, bounds[0] == bounds[1])


def test_lost_answers_are_imputed_against_the_sign_of_the_gap() -> None:
    rows = [
        *(shown_a(f"up {n}", "even", "even", "odd") for n in range(3)),
        *(shown_a(f"lost {n}", None, None, None) for n in range(2)),
        *(shown_a(f"down {n}", "even", "odd", "even", model_id="down") for n in range(2)),
        *(shown_a(f"lost {n}", None, None, None, model_id="down") for n in range(2)),
    ]
    found = run("modality.prospective_worst_case", {"arm.item": rows})
    up, down = only(found, model_id="m"), only(found, model_id="down")
    assert (up["n_asked"], up["n_lost"], up["gap"], up["gap_worst"], up["gap_most"], up["sign_holds"]) == (5, 2, 1.0, 0.2, 1.0, True)
    assert (down["gap"], down["gap_worst"], down["gap_least"], down["sign_holds"]) == (-1.0, 0.0, -1.0, False)


def test_a_gap_of_0_has_no_side_to_impute_against_and_an_unread_cell_knows_only_its_bounds() -> None:
    (still,) = run("modality.prospective_worst_case", {"arm.item": [shown_a("i", "even", "even", "even")]})
    assert (still["gap"], still["gap_worst"], still["sign_holds"]) == (0.0, None, None)
    (lost,) = run("modality.prospective_worst_case", {"arm.item": [shown_a("i", None, None, None)]})
    assert (lost["gap"], lost["gap_least"], lost["gap_most"], lost["gap_worst"]) == (None, -1.0, 1.0, None)


# -- what the calls cost


def call(key: str, attempt: int = 1, **more: Any) -> Row:
    about = {
        "protocol": "modality",
        "model_id": "m",
        "thinking": False,
        "task": "t",
        "item_id": key,
        "arm": "A",
        "template": "plain",
        "replicate": 0,
    }
    return {"completion_id": f"{key}/{attempt}", "request_key": key, "attempt": attempt, "run_id": "r", **about, **more}


def asked(*keys: str) -> list[Row]:
    about = {
        "study": "s",
        "grid_id": "g",
        "protocol": "modality",
        "model_id": "m",
        "thinking": False,
        "task": "t",
        "arm": "A",
        "template": "plain",
    }
    return [{**about, "request_key": key, "item_id": key, "replicate": 0} for key in keys]


def test_every_attempt_is_paid_for_and_what_no_provider_says_is_null() -> None:
    calls = [
        call("i", 1, prompt_tokens=10, completion_tokens=5, cost_usd=0.1),
        call("i", 2, prompt_tokens=10, completion_tokens=7, cost_usd=0.2),
        call("j", prompt_tokens=30),
        call("of another study", prompt_tokens=1000),
    ]
    (row,) = run("modality.cost", {"arm.request": asked("i", "j"), "raw.completion": calls})
    assert (row["n_calls"], row["n_requests"]) == (3, 2)
    assert (row["n_prompt_tokens"], row["prompt_tokens"], row["prompt_tokens_per_call"]) == (3, 50, 50 / 3)
    assert (row["n_completion_tokens"], row["completion_tokens"], row["completion_tokens_per_call"]) == (2, 12, 6.0)
    assert (row["n_reasoning_tokens"], row["reasoning_tokens"], row["reasoning_tokens_per_call"]) == (0, None, None)
    assert (row["n_cost_usd"], row["cost_usd"], row["cost_usd_per_call"]) == (2, 0.3, 0.15)
    assert (row["n_latency"], row["latency_s_per_call"]) == (0, None)
