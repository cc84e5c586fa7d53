"""What a model predicts that a withheld input would do, against what it does."""

from typing import Any

import pytest

from tests.sql.literal import run
from tests.sql.rows import Row, answer, item, only, pick


def shown_a(item_id: str, said: str | None, claimed: str | None, joint: str | None, flag: str | None = "SUFFICIENT", **columns: Any) -> Row:
    """An item of which only input A's report matters: B was not asked a report."""
    report = {"a_assess_answer": said, "a_assess_with_other": claimed, "a_assess_sufficiency": flag}
    return item(item_id, ab_plain_answer=joint, b_assess_asked=False, **report, **columns)


# One item of every kind: (claims a change, changes).
KINDS = [
    shown_a("copies and is right to", "even", "even", "even"),
    shown_a("copies and is wrong to", "even", "even", "odd"),
    shown_a("predicts a change that comes", "even", "odd", "odd"),
    shown_a("predicts a change that does not come", "even", "odd", "even"),
    shown_a("changes to something else than predicted", "even", "odd", "neither"),
]


def test_a_claim_that_differs_from_the_answer_predicts_a_change_and_a_joint_answer_that_differs_is_one() -> None:
    rows = run("modality.prospective_item", {"arm.item": KINDS})
    assert pick(rows, "item_id", "predicted_changed", "executed_changed") == [
        ("changes to something else than predicted", True, True),
        ("copies and is right to", False, False),
        ("copies and is wrong to", False, True),
        ("predicts a change that comes", True, True),
        ("predicts a change that does not come", True, False),
    ]


def test_the_gap_is_executed_minus_predicted_on_one_item_set() -> None:
    (cell,) = run("modality.prospective_cell", {"arm.item": KINDS})
    assert (cell["model_id"], cell["thinking"], cell["task"], cell["arm"]) == ("m", False, "isobench/math_parity", "A")
    assert (cell["n_asked"], cell["n_items"], cell["n_clusters"]) == (5, 5, 5)
    assert (cell["n_predicted_changed"], cell["n_executed_changed"]) == (3, 3)
    assert (cell["predicted_change"], cell["executed_change"], cell["gap"]) == (0.6, 0.6, 0.0)


@pytest.mark.parametrize("lost", ["a_assess_answer", "a_assess_with_other", "ab_plain_answer"])
def test_an_item_counts_on_neither_side_where_one_of_its_three_answers_is_lost(lost: str) -> None:
    rows = [shown_a("kept", "even", "even", "even"), {**shown_a("cut", "even", "odd", "odd"), lost: None}]
    (cell,) = run("modality.prospective_cell", {"arm.item": rows})
    assert (cell["n_asked"], cell["n_items"], cell["predicted_change"], cell["executed_change"]) == (2, 1, 0.0, 0.0)


def test_a_lost_flag_costs_no_item_and_is_no_claim() -> None:
    (row,) = run("modality.prospective_item", {"arm.item": [shown_a("i", "even", "odd", "odd", flag=None)]})
    assert (row["predicted_changed"], row["executed_changed"], row["claimed_insufficient"]) == (True, True, None)


def test_the_mirror_reads_the_other_input() -> None:
    a = {"a_assess_answer": "even", "a_assess_with_other": "even", "a_assess_sufficiency": "SUFFICIENT"}
    b = {"b_assess_answer": "odd", "b_assess_with_other": "even", "b_assess_sufficiency": "INSUFFICIENT"}
    rows = [item("i", ab_plain_answer="even", **a, **b)]
    found = run("modality.prospective_item", {"arm.item": rows})
    assert pick(found, "arm", "predicted_changed", "executed_changed", "claimed_insufficient") == [
        ("A", False, False, False),
        ("B", True, True, True),
    ]


def test_a_cell_asked_for_without_an_item_is_a_row_of_nulls_and_one_not_asked_for_is_none() -> None:
    (cell,) = run("modality.prospective_cell", {"arm.item": [shown_a("i", "even", None, "odd")]})
    assert (cell["arm"], cell["n_asked"], cell["n_items"], cell["n_clusters"]) == ("A", 1, 0, 0)
    assert (cell["predicted_change"], cell["executed_change"], cell["gap"]) == (None, None, None)


def test_two_summaries_of_a_film_are_two_items_of_one_cluster() -> None:
    rows = [shown_a(f"mmimdb/7/{n}", '["Crime"]', '["Crime"]', '["Crime","Drama"]', task="mmimdb", cluster_id="mmimdb/7") for n in (0, 1)]
    (cell,) = run("modality.prospective_cell", {"arm.item": rows})
    assert (cell["n_items"], cell["n_clusters"], cell["executed_change"]) == (2, 1, 1.0)


def test_thinking_modes_models_and_tasks_are_cells_of_their_own() -> None:
    rows = [
        shown_a("i", "even", "even", "odd"),
        shown_a("i", "even", "even", "even", thinking=True),
        shown_a("i", "even", "odd", "even", model_id="n"),
        shown_a("j", "1", "1", "1", task="isobench/graph_maxflow"),
    ]
    cells = run("modality.prospective_cell", {"arm.item": rows})
    assert pick(cells, "model_id", "thinking", "task", "gap") == [
        ("m", False, "isobench/graph_maxflow", 0.0),
        ("m", False, "isobench/math_parity", 1.0),
        ("m", True, "isobench/math_parity", 0.0),
        ("n", False, "isobench/math_parity", -1.0),
    ]


def of_model(model_id: str, n: int, predicted: int, executed: int) -> list[Row]:
    """A cell of n items, of which the first `predicted` claim a change and the first `executed` change."""
    return [
        shown_a(f"{i}", "even", "odd" if i < predicted else "even", "odd" if i < executed else "even", model_id=model_id) for i in range(n)
    ]


def test_a_task_is_the_median_and_range_of_its_cells_and_its_gap_the_median_of_their_gaps() -> None:
    # predicted 0, 1/4, 1/2; executed 1/2, 1/4, 1: the medians 1/4 and 1/2 differ by 1/4, the gaps 1/2, 0, 1/2 have median 1/2
    rows = [*of_model("a", 4, 0, 2), *of_model("b", 4, 1, 1), *of_model("c", 4, 2, 4)]
    (task,) = run("modality.prospective_task", {"arm.item": rows})
    assert (task["n_cells"], task["n_empty_cells"], task["n_items"], task["n_clusters"]) == (3, 0, 12, 4)
    assert (task["predicted_change"], task["predicted_change_min"], task["predicted_change_max"]) == (0.25, 0.0, 0.5)
    assert (task["executed_change"], task["executed_change_min"], task["executed_change_max"]) == (0.5, 0.25, 1.0)
    assert (task["gap"], task["gap_min"], task["gap_max"]) == (0.5, 0.0, 0.5)


def test_an_even_number_of_cells_has_the_mean_of_the_middle_two_as_median() -> None:
    (task,) = run("modality.prospective_task", {"arm.item": [*of_model("a", 4, 0, 1), *of_model("b", 4, 0, 2)]})
    assert task["executed_change"] == 0.375


def test_cells_are_counted_above_on_and_below_the_diagonal_and_a_cell_without_change_is_on_it() -> None:
    rows = [*of_model("above", 3, 0, 1), *of_model("on", 3, 1, 1), *of_model("still", 3, 0, 0), *of_model("below", 3, 2, 1)]
    (task,) = run("modality.prospective_task", {"arm.item": rows})
    assert (task["n_above"], task["n_on"], task["n_below"]) == (1, 2, 1)


def test_medians_skip_empty_cells_which_lie_nowhere() -> None:
    rows = [*of_model("a", 4, 0, 2), shown_a("0", None, None, None, model_id="lost")]
    (task,) = run("modality.prospective_task", {"arm.item": rows})
    assert (task["n_cells"], task["n_empty_cells"], task["gap"]) == (1, 1, 0.5)
    assert (task["n_above"], task["n_on"], task["n_below"]) == (1, 0, 0)


def test_a_task_whose_cells_are_all_empty_is_a_row_of_nulls() -> None:
    (task,) = run("modality.prospective_task", {"arm.item": [shown_a("i", None, None, None)]})
    assert (task["n_cells"], task["n_empty_cells"], task["n_items"], task["predicted_change"], task["gap"]) == (0, 1, 0, None, None)


# -- wirings


def rewired(item_id: str, single: tuple[str | None, str | None], joint: tuple[str | None, str | None], **columns: Any) -> Row:
    """An item by its (assess, plain) answers from A alone and from both; the claim repeats the answer."""
    alone = {"a_assess_answer": single[0], "a_plain_answer": single[1], "a_assess_with_other": single[0]}
    return item(item_id, **{**alone, "ab_assess_answer": joint[0], "ab_plain_answer": joint[1], "b_assess_asked": False, **columns})


WIRED = [
    rewired("stays", ("even", "even"), ("even", "even")),
    rewired("template moves it", ("odd", "even"), ("odd", "even")),
    rewired("input moves it", ("even", "even"), ("odd", "odd")),
]


def test_mixed_crosses_the_templates_and_the_matched_wirings_do_not() -> None:
    rows = run("modality.prospective_wiring", {"arm.item": WIRED})
    assert {row["wiring"]: (row["n_items"], row["n_executed_changed"]) for row in rows} == {
        "mixed": (3, 2),
        "assess": (3, 1),
        "plain": (3, 1),
    }


@pytest.mark.parametrize("lost", ["a_assess_answer", "a_plain_answer", "ab_assess_answer", "ab_plain_answer"])
def test_wirings_share_the_items_whose_four_answers_were_read(lost: str) -> None:
    rows = run("modality.prospective_wiring", {"arm.item": [*WIRED, {**rewired("cut", ("even", "even"), ("odd", "odd")), lost: None}]})
    assert [row["n_items"] for row in rows] == [3, 3, 3]


def test_a_wiring_needs_no_claim_and_predicted_change_stays_that_of_table_3() -> None:
    unclaimed = rewired("unclaimed", ("even", "even"), ("odd", "odd"), a_assess_with_other=None)
    changed = rewired("claims a change", ("even", None), ("odd", "odd"), a_assess_with_other="odd")
    rows = run("modality.prospective_wiring", {"arm.item": [unclaimed, changed]})
    mixed = only(rows, wiring="mixed")
    assert (mixed["n_items"], mixed["executed_change"], mixed["n_predicted"], mixed["predicted_change"]) == (1, 1.0, 1, 1.0)


def test_a_cell_without_wired_items_is_three_rows_of_nulls() -> None:
    rows = run("modality.prospective_wiring", {"arm.item": [rewired("i", ("even", None), ("odd", "odd"))]})
    assert pick(rows, "wiring", "n_items", "executed_change") == [("assess", 0, None), ("mixed", 0, None), ("plain", 0, None)]


def test_wired_tasks_count_cells_exactly_though_their_item_sets_differ() -> None:
    # predicted 1 of 3 on one set, executed 2 of 6 on another: on the diagonal, whatever 1/3 and 2/6 are as doubles
    claims = [
        *(rewired(f"{i}", ("even", "even"), ("odd" if i < 2 else "even",) * 2, a_assess_with_other=None) for i in range(6)),
        *(shown_a(f"c{i}", "even", "odd" if i < 1 else "even", "even") for i in range(3)),
    ]
    rows = run("modality.prospective_wiring_task", {"arm.item": claims})
    mixed = only(rows, task="isobench/math_parity", wiring="mixed")
    assert (mixed["n_cells"], mixed["n_above"], mixed["n_on"], mixed["n_below"], mixed["n_positive"]) == (1, 0, 1, 0, 1)
    assert (mixed["predicted_change"], mixed["executed_change"]) == (1 / 3, 2 / 6)


def test_wirings_correlate_over_the_cells_of_all_tasks_and_not_at_all_where_nothing_varies() -> None:
    rows = [
        *(rewired(f"{i}", ("even", "even"), ("odd" if i < 1 else "even",) * 2) for i in range(4)),
        *(rewired(f"f{i}", ("1", "1"), ("2" if i < 3 else "1",) * 2, task="isobench/graph_maxflow") for i in range(4)),
    ]
    found = run("modality.prospective_wiring_task", {"arm.item": rows})
    assert only(found, task="all", wiring="plain")["correlation_with_mixed"] == 1.0
    assert only(found, task="all", wiring="plain")["n_at_least_mixed"] == 2
    assert only(found, task="isobench/math_parity", wiring="plain")["correlation_with_mixed"] is None


# -- replicates


def test_the_headline_is_compared_over_replicates_on_the_items_that_all_of_them_read() -> None:
    def replicate(number: int, item_id: str, said: str | None, claimed: str, joint: str) -> list[Row]:
        return [
            answer(item_id, "A", "assess", said, with_other=claimed, replicate=number),
            answer(item_id, "AB", "plain", joint, replicate=number),
        ]

    rows = [
        *replicate(0, "i", "even", "even", "odd"),
        *replicate(1, "i", "even", "even", "even"),
        *replicate(0, "j", "even", "odd", "odd"),
        *replicate(1, "j", "even", "odd", "odd"),
        *replicate(0, "read once", "even", "odd", "odd"),
        *replicate(1, "read once", None, "odd", "odd"),
    ]
    found = run("modality.noise_headline", {"arm.answer": rows})
    assert pick(found, "measure", "n_replicates", "n_items", "value_min", "value_max", "spread") == [
        ("executed_change", 2, 2, 0.5, 1.0, 0.5),
        ("gap", 2, 2, 0.0, 0.5, 0.5),
        ("predicted_change", 2, 2, 0.5, 0.5, 0.0),
    ]
