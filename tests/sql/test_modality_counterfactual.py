"""Stated against executed answers, beside what chance and a copied answer would reach."""

from typing import Any

from tests.sql.literal import run
from tests.sql.rows import Row, item, only


def restored(item_id: str, said: str | None, claimed: str | None, executed: str | None, gold: str | None = "even", **columns: Any) -> Row:
    return item(
        item_id, a_assess_answer=said, a_assess_with_other=claimed, ab_plain_answer=executed, gold=gold, b_assess_asked=False, **columns
    )


def test_a_claim_agrees_where_it_names_the_answer_that_was_then_given() -> None:
    rows = [
        restored("repeats, rightly", "even", "even", "even"),
        restored("foresees the change", "even", "odd", "odd"),
        restored("foresees another", "even", "odd", "neither"),
        restored("repeats, wrongly", "even", "even", "odd"),
    ]
    cell = only(run("modality.counterfactual_agreement", {"arm.item": rows}), arm="A", claim="with_other")
    assert (cell["n_items"], cell["n_agreed"], cell["agreement"]) == (4, 2, 0.5)
    assert (cell["n_copied"], cell["copy_baseline"]) == (1, 0.25)


def test_the_alone_claims_are_held_against_the_plain_answer_of_that_input() -> None:
    rows = [
        item(
            "i",
            ab_assess_answer="odd",
            ab_assess_alone_a="even",
            ab_assess_alone_b="even",
            a_plain_answer="even",
            b_plain_answer="odd",
        )
    ]
    found = run("modality.counterfactual_agreement", {"arm.item": rows})
    a, b = only(found, claim="alone_a"), only(found, claim="alone_b")
    assert (a["arm"], a["agreement"], a["copy_baseline"]) == ("AB", 1.0, 0.0)
    assert (b["arm"], b["agreement"], b["copy_baseline"]) == ("AB", 0.0, 1.0)


def test_agreement_and_baseline_share_the_items_with_all_three_answers() -> None:
    rows = [
        restored("kept", "even", "even", "even"),
        *(restored(f"{n}", *said) for n, said in enumerate([(None, "odd", "odd"), ("odd", None, "odd")])),
    ]
    cell = only(run("modality.counterfactual_agreement", {"arm.item": rows}), arm="A")
    assert (cell["n_items"], cell["agreement"], cell["copy_baseline"]) == (1, 1.0, 1.0)


def test_the_floors_are_what_two_independent_draws_agree_on() -> None:
    # labels: 3 even, 1 odd; claims: 2 even, 2 odd; answers: 1 even, 3 odd
    rows = [
        restored("1", "even", "even", "even", gold="even"),
        restored("2", "even", "even", "odd", gold="even"),
        restored("3", "even", "odd", "odd", gold="even"),
        restored("4", "even", "odd", "odd", gold="odd"),
    ]
    cell = only(run("modality.counterfactual_agreement", {"arm.item": rows}), arm="A")
    assert cell["chance_labels"] == (3 * 3 + 1 * 1) / 16
    assert cell["chance_answers"] == (2 * 1 + 2 * 3) / 16


def test_unknown_labels_leave_only_the_floor_of_the_answers() -> None:
    cell = only(run("modality.counterfactual_agreement", {"arm.item": [restored("1", "even", "even", "even", gold=None)]}), arm="A")
    assert (cell["agreement"], cell["chance_labels"], cell["chance_answers"]) == (1.0, None, 1.0)


def test_claims_asked_for_and_never_read_are_rows_of_nulls() -> None:
    rows = run("modality.counterfactual_agreement", {"arm.item": [item("i")]})
    assert sorted((row["arm"], row["claim"]) for row in rows) == [
        ("A", "with_other"),
        ("AB", "alone_a"),
        ("AB", "alone_b"),
        ("B", "with_other"),
    ]
    unknown = ("n_items", "agreement", "copy_baseline", "chance_labels", "chance_answers")
    assert {tuple(row[name] for name in unknown) for row in rows} == {(0, None, None, None, None)}
