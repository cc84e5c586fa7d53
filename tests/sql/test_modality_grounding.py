"""Attribution and self-knowledge against annotated evidence."""

import json
from typing import Any

import pytest

from tests.sql.literal import run
from tests.sql.rows import Row, answer, item, only

SETS = {"set_a": ["CAM_FRONT_LEFT", "CAM_BACK"], "set_b": ["CAM_FRONT", "CAM_BACK_LEFT"]}
GOLDENVIEW = {"task": "goldenview", "gold": "C"}


def question(item_id: str, **annotation: Any) -> Row:
    return {"item_id": item_id, "task": "goldenview", "cluster_id": item_id, "annotation": json.dumps({**SETS, **annotation})}


@pytest.mark.parametrize(
    ("annotation", "evidence"),
    [
        ({"golden_view": "CAM_BACK"}, ["A"]),
        ({"golden_view": "CAM_FRONT"}, ["B"]),  # a name that begins another's
        ({"golden_view": "NONE_OF_THE_ABOVE"}, []),
        ({"golden_view": "CAM_BACK_RIGHT"}, []),
        ({"golden_view": "CAM_BACK", "set_b": ["CAM_BACK"]}, []),
        ({"golden_view": None}, []),
        ({}, []),
    ],
)
def test_evidence_is_the_one_set_that_holds_the_annotated_camera(annotation: dict[str, Any], evidence: list[str]) -> None:
    assert [row["evidence"] for row in run("modality.evidence", {"raw.item": [question("q", **annotation)]})] == evidence


def attributed(item_id: str, stated: str | None, executed: str, **columns: Any) -> Row:
    """A question answered `A` from both sets, whose alone-answers attribute it as named; stated None: a report was lost."""
    alone = {"A": ("A", "B"), "B": ("B", "A"), "both": ("B", "B"), "either": ("A", "A")}
    said = alone[stated] if stated else (None, "A")
    return item(
        item_id,
        ab_assess_answer="A",
        ab_plain_answer="A",
        ab_assess_alone_a=said[0],
        ab_assess_alone_b=said[1],
        **{"a_plain_answer": alone[executed][0], "b_plain_answer": alone[executed][1], **GOLDENVIEW, **columns},
    )


def test_alignment_is_the_share_of_attributions_that_are_exactly_the_evidence_set() -> None:
    held_by_a = [question(f"{n}", golden_view="CAM_BACK") for n in range(6)]
    rows = [
        *(attributed("0", "A", "A"), attributed("1", "A", "either"), attributed("2", "B", "A"), attributed("3", "either", "both")),
        *(attributed("4", None, "A"), attributed("no evidence known", "A", "A")),
    ]
    (row,) = run("modality.grounding", {"raw.item": held_by_a, "arm.item": rows, "arm.answer": []})
    assert (row["n_annotated"], row["n_included"], row["n_clusters"]) == (5, 4, 4)
    assert (row["alignment_stated"], row["alignment_executed"], row["alignment_delta"]) == (0.5, 0.5, 0.0)
    assert (row["single_stated"], row["single_executed"]) == (0.75, 0.5)
    assert (row["golden_given_single_stated"], row["golden_given_single_executed"]) == (2 / 3, 1.0)


def test_golden_given_single_is_unknown_where_no_attribution_names_one_set() -> None:
    rows = [attributed("0", "either", "both")]
    (row,) = run("modality.grounding", {"raw.item": [question("0", golden_view="CAM_BACK")], "arm.item": rows, "arm.answer": []})
    assert (row["single_stated"], row["golden_given_single_stated"], row["golden_given_single_executed"]) == (0.0, None, None)


def test_accuracy_is_paired_by_the_set_that_holds_the_evidence_and_a_lost_answer_is_wrong() -> None:
    items = [question("a", golden_view="CAM_BACK"), question("b", golden_view="CAM_FRONT"), question("c", golden_view="CAM_BACK")]
    said = {"a": ("C", "D"), "b": ("C", None), "c": ("C", "D")}
    answers = [
        answer(name, arm, "plain", value, **GOLDENVIEW) for name, values in said.items() for arm, value in zip("AB", values, strict=True)
    ]
    answers[-1]["outcome"] = None  # c was never asked from the other set, and counts on neither side
    (row,) = run("modality.grounding", {"raw.item": items, "arm.item": [item(name, **GOLDENVIEW) for name in said], "arm.answer": answers})
    assert (row["n_annotated"], row["n_scored"], row["n_included"]) == (3, 2, 0)
    assert (row["accuracy_golden"], row["accuracy_other"], row["accuracy_delta"]) == (0.5, 0.5, 0.0)
    assert (row["alignment_stated"], row["alignment_delta"]) == (None, None)


def test_a_task_without_annotated_evidence_has_no_grounding() -> None:
    assert run("modality.grounding", {"arm.item": [item("i")], "arm.answer": []}) == []


def test_the_prospective_measures_split_by_whether_the_set_shown_holds_the_evidence() -> None:
    shown_golden = {"a_assess_answer": "A", "a_assess_with_other": "A", "a_assess_sufficiency": "SUFFICIENT"}
    shown_other = {"b_assess_answer": "B", "b_assess_with_other": "B", "b_assess_sufficiency": "INSUFFICIENT"}
    rows = [
        item("0", ab_plain_answer="A", **shown_golden, **shown_other, **GOLDENVIEW),
        item("1", ab_plain_answer="A", **{**shown_other, "b_assess_answer": "A", "b_assess_sufficiency": None}, **GOLDENVIEW),
    ]
    items = [question("0", golden_view="CAM_BACK"), question("1", golden_view="CAM_BACK")]
    found = run("modality.grounding_prospective", {"raw.item": items, "arm.item": rows})
    golden, other = only(found, shown="golden"), only(found, shown="other")
    assert (golden["n_items"], golden["executed_change"], golden["claimed_insufficient"], golden["precision"]) == (1, 0.0, 0.0, None)
    assert (other["n_items"], other["predicted_change"], other["executed_change"], other["gap"]) == (2, 0.5, 0.5, 0.0)
    assert (other["n_flagged"], other["claimed_insufficient"], other["precision"], other["recall"]) == (1, 1.0, 1.0, 1.0)


def test_a_split_asked_for_without_an_item_is_a_row_of_nulls() -> None:
    rows = run(
        "modality.grounding_prospective", {"raw.item": [question("0", golden_view="CAM_BACK")], "arm.item": [item("0", **GOLDENVIEW)]}
    )
    assert {(row["shown"], row["n_items"], row["gap"], row["missed"]) for row in rows} == {
        ("golden", 0, None, None),
        ("other", 0, None, None),
    }
