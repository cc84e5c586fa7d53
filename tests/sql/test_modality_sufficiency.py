"""The sufficiency flag as a detector of executed change, and against the model's own counterfactual answer."""

from typing import Any

from tests.sql.literal import run
from tests.sql.rows import Row, item


def flagged(item_id: str, flag: str | None, predicted: bool, executed: bool, **columns: Any) -> Row:
    said = {"a_assess_answer": "even", "a_assess_with_other": "odd" if predicted else "even", "a_assess_sufficiency": flag}
    return item(item_id, **{**said, "ab_plain_answer": "odd" if executed else "even", "b_assess_asked": False, **columns})


FLAGS = [
    flagged("flagged and changed, 1", "INSUFFICIENT", True, True),
    flagged("flagged and changed, 2", "INSUFFICIENT", True, True),
    flagged("flagged, the same", "INSUFFICIENT", False, False),
    flagged("silent failure, 1", "SUFFICIENT", False, True),
    flagged("silent failure, 2", "SUFFICIENT", True, True),
    flagged("silent failure, 3", "SUFFICIENT", False, True),
    flagged("sufficient, the same, 1", "SUFFICIENT", False, False),
    flagged("sufficient, the same, 2", "SUFFICIENT", False, False),
    flagged("flag lost", None, True, True),
]


def test_every_measure_of_the_flag_over_the_items_whose_flag_was_read() -> None:
    (cell,) = run("modality.sufficiency_cell", {"arm.item": FLAGS})
    counts = ("n_items", "n_clusters", "n_claimed_insufficient", "n_executed_changed", "n_flagged_changed")
    assert tuple(cell[name] for name in counts) == (8, 8, 3, 5, 2)
    assert (cell["claimed_insufficient"], cell["precision"], cell["recall"]) == (3 / 8, 2 / 3, 2 / 5)
    assert (cell["base_rate"], cell["silent_failure"], cell["missed"]) == (5 / 8, 3 / 8, 3 / 5)
    assert (cell["insufficient_yet_same"], cell["sufficient_yet_changed"], cell["self_contradiction"]) == (1 / 8, 1 / 8, 2 / 8)


def test_precision_is_unknown_where_nothing_was_flagged() -> None:
    (cell,) = run("modality.sufficiency_cell", {"arm.item": [flagged("i", "SUFFICIENT", False, True)]})
    assert (cell["claimed_insufficient"], cell["precision"], cell["recall"], cell["missed"]) == (0.0, None, 0.0, 1.0)


def test_recall_is_unknown_where_nothing_changed() -> None:
    (cell,) = run("modality.sufficiency_cell", {"arm.item": [flagged("i", "INSUFFICIENT", True, False)]})
    assert (cell["precision"], cell["recall"], cell["missed"], cell["silent_failure"]) == (0.0, None, None, 0.0)


def test_a_cell_without_a_flag_is_a_row_of_nulls() -> None:
    (cell,) = run("modality.sufficiency_cell", {"arm.item": [flagged("i", None, True, True)]})
    assert (cell["n_items"], cell["claimed_insufficient"], cell["base_rate"], cell["self_contradiction"]) == (0, None, None, None)


def test_a_flag_on_an_item_outside_the_prospective_set_does_not_count() -> None:
    (cell,) = run("modality.sufficiency_cell", {"arm.item": [flagged("i", "INSUFFICIENT", True, True, a_assess_with_other=None)]})
    assert cell["n_items"] == 0


def test_a_task_takes_each_median_over_the_cells_in_which_it_exists() -> None:
    rows = [
        *(flagged(f"{i}", "INSUFFICIENT", True, i < 1, model_id="half right") for i in range(2)),
        *(flagged(f"{i}", "INSUFFICIENT", True, True, model_id="right") for i in range(2)),
        *(flagged(f"{i}", "SUFFICIENT", False, False, model_id="never flags, never changes") for i in range(2)),
        flagged("0", None, True, True, model_id="flag lost"),
    ]
    (task,) = run("modality.sufficiency_task", {"arm.item": rows})
    assert (task["n_cells"], task["n_empty_cells"], task["n_items"], task["n_clusters"]) == (3, 1, 6, 2)
    assert (task["n_cells_precision"], task["precision"], task["precision_min"], task["precision_max"]) == (2, 0.75, 0.5, 1.0)
    assert (task["n_cells_recall"], task["recall"]) == (2, 1.0)
    assert (task["claimed_insufficient"], task["claimed_insufficient_min"], task["claimed_insufficient_max"]) == (1.0, 0.0, 1.0)
    assert (task["silent_failure"], task["missed"], task["base_rate"]) == (0.0, 0.0, 0.5)
