"""Which input a model credits for its joint answer, against which input alone reproduces it."""

from typing import Any

import pytest

from tests.sql.literal import run
from tests.sql.rows import Row, item, only, pick

ALONE = {"A": ("odd", "even"), "B": ("even", "odd"), "both": ("even", "neither"), "either": ("odd", "odd")}


def attributed(item_id: str, stated: str, executed: str, assess: str | None = None, **columns: Any) -> Row:
    """An item whose joint answer is `odd` under both templates, and whose alone-answers attribute it as named."""
    alone = {"ab_assess_alone_a": ALONE[stated][0], "ab_assess_alone_b": ALONE[stated][1]}
    plain = {"a_plain_answer": ALONE[executed][0], "b_plain_answer": ALONE[executed][1]}
    under_assess = {"a_assess_answer": ALONE[assess][0], "b_assess_answer": ALONE[assess][1]} if assess else {}
    return item(item_id, **{"ab_assess_answer": "odd", "ab_plain_answer": "odd", **alone, **plain, **under_assess, **columns})


@pytest.mark.parametrize("stated", ALONE)
@pytest.mark.parametrize("executed", ALONE)
def test_an_attribution_names_the_inputs_whose_answers_alone_reproduce_the_joint_one(stated: str, executed: str) -> None:
    (row,) = run("modality.retrospective_item", {"arm.item": [attributed("i", stated, executed)]})
    assert (row["stated"], row["executed"]) == (stated, executed)


def test_each_side_is_held_against_the_joint_answer_of_its_own_template() -> None:
    (row,) = run("modality.retrospective_item", {"arm.item": [attributed("i", "A", "A", ab_plain_answer="even")]})
    assert (row["stated"], row["executed"]) == ("A", "B")


SIX = ["ab_assess_answer", "ab_assess_alone_a", "ab_assess_alone_b", "ab_plain_answer", "a_plain_answer", "b_plain_answer"]


@pytest.mark.parametrize("lost", SIX)
def test_an_item_counts_on_neither_side_where_one_of_its_six_answers_is_lost(lost: str) -> None:
    assert run("modality.retrospective_item", {"arm.item": [{**attributed("i", "A", "B"), lost: None}]}) == []


def test_the_eight_rows_of_a_group_hold_shares_of_zero_too() -> None:
    rows = [attributed("1", "A", "both"), attributed("2", "A", "A"), attributed("3", "either", "either"), attributed("4", "A", "either")]
    found = [row for row in run("modality.retrospective", {"arm.item": rows}) if row["model_id"] == "m"]
    assert pick(found, "side", "attribution", "n_items", "n_clusters", "n", "share") == [
        ("executed", "A", 4, 4, 1, 0.25),
        ("executed", "B", 4, 4, 0, 0.0),
        ("executed", "both", 4, 4, 1, 0.25),
        ("executed", "either", 4, 4, 2, 0.5),
        ("stated", "A", 4, 4, 3, 0.75),
        ("stated", "B", 4, 4, 0, 0.0),
        ("stated", "both", 4, 4, 0, 0.0),
        ("stated", "either", 4, 4, 1, 0.25),
    ]


def test_pooled_counts_item_times_model_and_keeps_the_item_as_cluster() -> None:
    rows = [attributed("1", "A", "A"), attributed("1", "B", "A", model_id="n"), attributed("2", "B", "A", model_id="n")]
    pooled = only(run("modality.retrospective", {"arm.item": rows}), model_id="pooled", side="stated", attribution="B")
    assert (pooled["n_items"], pooled["n_clusters"], pooled["n"], pooled["share"]) == (3, 2, 2, 2 / 3)


def test_thinking_modes_are_pooled_apart() -> None:
    rows = [attributed("1", "A", "A"), attributed("1", "B", "A", thinking=True)]
    found = run("modality.retrospective", {"arm.item": rows})
    shares = {
        row["thinking"]: row["share"]
        for row in found
        if row["model_id"] == "pooled" and row["side"] == "stated" and row["attribution"] == "B"
    }
    assert shares == {False: 0.0, True: 1.0}


def test_a_group_asked_for_without_an_item_keeps_its_rows_with_unknown_shares() -> None:
    rows = run("modality.retrospective", {"arm.item": [item("i")]})
    assert len(rows) == 16
    assert {(row["n_items"], row["n"], row["share"]) for row in rows} == {(0, 0, None)}


def test_a_model_that_was_not_asked_the_joint_report_has_no_group() -> None:
    assert run("modality.retrospective", {"arm.item": [item("i", ab_assess_asked=False)]}) == []


def test_equal_marginals_can_agree_on_no_item_and_the_table_shows_it() -> None:
    rows = [attributed("1", "A", "B"), attributed("2", "B", "A")]
    found = [row for row in run("modality.attribution_agreement", {"arm.item": rows}) if row["model_id"] == "m"]
    assert len(found) == 16
    assert {row["agreement"] for row in found} == {0.0}
    assert pick([row for row in found if row["n"]], "stated", "executed", "n", "share") == [("A", "B", 1, 0.5), ("B", "A", 1, 0.5)]


def test_agreement_is_the_share_of_the_diagonal() -> None:
    rows = [attributed("1", "A", "A"), attributed("2", "both", "both"), attributed("3", "either", "A"), attributed("4", "B", "A")]
    found = run("modality.attribution_agreement", {"arm.item": rows})
    assert {(row["model_id"], row["n_items"], row["agreement"]) for row in found} == {("m", 4, 0.5), ("pooled", 4, 0.5)}


def test_an_empty_agreement_table_is_unknown() -> None:
    rows = run("modality.attribution_agreement", {"arm.item": [item("i")]})
    assert {(row["n_items"], row["n"], row["share"], row["agreement"]) for row in rows} == {(0, 0, None, None)}


def test_the_wirings_rebuild_the_executed_side_from_each_template_on_the_items_that_have_both() -> None:
    rows = [
        attributed("1", "A", "either", assess="both"),
        attributed("2", "A", "A", assess="A"),
        attributed("3", "B", "B", a_assess_answer="odd"),
    ]
    found = [row for row in run("modality.retrospective_wiring", {"arm.item": rows}) if row["model_id"] == "m"]
    assert [tuple(row) for row in pick(found, "wiring", "attribution", "n", "share", "stated_share") if row[2]] == [
        ("assess", "A", 1, 0.5, 1.0),
        ("assess", "both", 1, 0.5, 0.0),
        ("plain", "A", 1, 0.5, 1.0),
        ("plain", "either", 1, 0.5, 0.0),
    ]
    assert {row["n_items"] for row in found} == {2}


def test_a_group_without_wired_items_keeps_its_rows_with_unknown_shares() -> None:
    rows = run("modality.retrospective_wiring", {"arm.item": [attributed("1", "A", "A")]})
    assert {(row["model_id"], row["n_items"], row["share"], row["stated_share"]) for row in rows} == {
        ("m", 0, None, None),
        ("pooled", 0, None, None),
    }
