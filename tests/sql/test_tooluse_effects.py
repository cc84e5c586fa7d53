"""What the tool, and each intervention on what it returns, does to accuracy; and how rollouts behave."""

import json
from typing import Any

import pytest

from tests.sql.literal import run
from tests.sql.rollouts import Study
from tests.sql.rows import only, pick

FAST = {"stat.resamples": "50"}
RIGHT, WRONG = "<answer>A</answer>", "<answer>B</answer>"


def outcomes(study: Study, item: str, arm: str, *said: str, template: str = "free", **columns: Any) -> None:
    """One rollout a replicate."""
    for replicate, text in enumerate(said):
        name = f"{item}/{arm}/{template}/{replicate}"
        study.rollout(name, text, item_id=item, arm=arm, template=template, replicate=replicate, **columns)


def test_the_policy_effect_is_the_mean_over_items_of_paired_means_over_replicates() -> None:
    study = Study()
    for item, tool, direct in [
        ("a", [RIGHT, RIGHT, WRONG], [WRONG]),
        ("b", [RIGHT], [RIGHT, WRONG]),
        ("c", [RIGHT], []),
        ("d", [], [RIGHT]),
    ]:
        study.item(item)
        outcomes(study, item, "tool", *tool, n_calls=1, completion_tokens=30)
        outcomes(study, item, "direct", *direct, completion_tokens=10)
    (row,) = run("tooluse.policy_effect", study.given, FAST)
    assert (row["n_items"], row["n_clusters"], row["tokens_tool"], row["tokens_direct"], row["calls_tool"]) == (2, 2, 60.0, 10.0, 1.0)
    assert [row[name] for name in ("accuracy_tool", "accuracy_direct", "ate")] == [
        pytest.approx(x, abs=1e-12) for x in (5 / 6, 1 / 4, 7 / 12)
    ]
    assert row["ate_low"] <= row["ate"] <= row["ate_high"]


def test_an_answer_that_is_not_known_is_left_out_of_an_item_s_mean() -> None:
    study = Study()
    study.item("a")
    outcomes(study, "a", "tool", RIGHT)
    outcomes(study, "a", "direct", WRONG)
    study.rollout("broke off", WRONG, item_id="a", replicate=1, end_reason="error")
    (row,) = run("tooluse.policy_effect", study.given, FAST)
    assert (row["accuracy_tool"], row["ate"]) == (1.0, 1.0)


def test_a_model_run_under_one_policy_is_a_row_without_an_effect() -> None:
    study = Study()
    study.item("a")
    outcomes(study, "a", "direct", RIGHT)
    (row,) = run("tooluse.policy_effect", study.given, FAST)
    assert (row["n_items"], row["n_clusters"], row["ate"], row["accuracy_direct"], row["ate_low"]) == (0, 0, None, None, None)


def test_rotations_of_a_question_share_its_cluster() -> None:
    study = Study()
    for question in range(3):
        for rotation in range(4):
            study.item(f"hr/{question}/{rotation}", cluster_id=f"hr/{question}")
            outcomes(study, f"hr/{question}/{rotation}", "tool", RIGHT)
            outcomes(study, f"hr/{question}/{rotation}", "direct", WRONG if question else RIGHT)
    (row,) = run("tooluse.policy_effect", study.given, FAST)
    assert (row["n_items"], row["n_clusters"]) == (12, 3)


def test_a_trajectory_effect_is_against_the_clean_rollouts_also_where_an_answer_is_forced() -> None:
    study = Study()
    study.item("a")
    study.item("b")
    for item in ("a", "b"):
        outcomes(study, item, "tool", RIGHT, WRONG, n_calls=1)
        outcomes(study, item, "direct", RIGHT)
    outcomes(study, "a", "random_crop", WRONG, n_calls=12, end_reason="call_limit")
    outcomes(study, "b", "random_crop", RIGHT, RIGHT, n_calls=3)
    outcomes(study, "a", "random_crop", RIGHT, template="force_answer", n_calls=12)
    outcomes(study, "b", "tool", RIGHT, template="force_answer", n_calls=2)
    rows = run("tooluse.trajectory_effect", study.given, FAST)
    columns = ("arm", "template", "n_items", "accuracy_clean", "accuracy_intervened", "ate", "n_rollouts", "mean_calls", "mean_calls_clean")
    assert pick(rows, *columns) == [
        ("random_crop", "force_answer", 1, 0.5, 1.0, 0.5, 1, 12.0, 1.0),
        ("random_crop", "free", 2, 0.5, 0.5, 0.0, 3, 6.0, 1.0),
        ("tool", "force_answer", 1, 0.5, 1.0, 0.5, 1, 2.0, 1.0),
    ]
    assert pick(rows, "arm", "template", "hit_max") == [
        ("random_crop", "force_answer", 1.0), ("random_crop", "free", pytest.approx(1 / 3)), ("tool", "force_answer", 0.0),
    ]  # fmt: skip


def test_the_limit_is_reached_by_shown_calls_and_one_that_broke_off_tells_nothing() -> None:
    study = Study()
    study.item("a")
    outcomes(study, "a", "tool", RIGHT)
    for replicate, (n_calls, max_calls, end_reason) in enumerate(
        [(2, 2, "call_limit"), (1, 2, "answer"), (1, 2, "error"), (0, 0, "answer")]
    ):
        study.rollout(
            f"r{replicate}", RIGHT, n_calls, item_id="a", arm="noise", replicate=replicate, max_calls=max_calls, end_reason=end_reason
        )
    assert pick(run("tooluse.rollout", study.given), "rollout_id", "n_calls", "hit_max")[1:] == [
        ("r0", 2, True), ("r1", 1, False), ("r2", 1, None), ("r3", 0, False),
    ]  # fmt: skip
    row = only(run("tooluse.trajectory_effect", study.given, FAST), arm="noise")
    assert (row["hit_max"], row["n_rollouts"], row["mean_calls"]) == (pytest.approx(1 / 3), 3, 1.0)


def test_seeds_are_averaged_with_their_sample_standard_deviation() -> None:
    study = Study()
    for item, said in {"a": [RIGHT, RIGHT, WRONG], "b": [RIGHT, WRONG, WRONG]}.items():
        study.item(item)
        outcomes(study, item, "blank", *said)
    (row,) = run("tooluse.replicate_spread", study.given)
    assert (row["quantity"], row["n_replicates"], row["lowest"], row["highest"]) == ("accuracy", 3, 0.0, 1.0)
    assert (row["mean"], row["sd"]) == (pytest.approx(0.5, abs=1e-12), pytest.approx(0.5, abs=1e-12))


# Behaviour


def boxes(*executed: dict[str, Any]) -> Study:
    """One rollout with these executed boxes, on an image of 1000 by 500 pixels."""
    study = Study()
    study.item("a", inputs=json.dumps({"image": "sha"}))
    study.tables["image"].append({"image_sha256": "sha", "width": 1000, "height": 500})
    study.rollout("r", RIGHT, n_calls=len(executed), item_id="a", max_calls=len(executed))
    for row, box in zip(study.tables["observation"], executed, strict=True):
        row["executed"] = json.dumps(box)
    return study


def test_a_crop_is_small_near_or_inside_the_one_before() -> None:
    study = boxes(
        {"bbox_2d": [100, 100, 300, 199]},
        {"bbox_2d": [130, 85, 330, 184]},
        {"bbox_2d": [140, 90, 320, 180]},
        {"bbox_2d": [600, 300, 900, 450]},
    )
    rows = sorted(run("tooluse.crop", study.given), key=lambda row: row["call_number"])
    assert [(row["is_small"], row["is_near"], row["is_inside"]) for row in rows] == [
        (True, None, None), (True, True, False), (True, True, True), (False, False, False),
    ]  # fmt: skip
    (row,) = run("tooluse.behaviour", study.given, FAST)
    counts = ("n_crops", "n_sized", "n_small", "n_moves", "n_near", "n_inside", "n_restarts", "commits_last")
    assert [row[name] for name in counts] == [4, 4, 3, 3, 2, 1, 2, True]


def test_a_crop_of_a_crop_is_placed_in_the_original_and_one_of_noise_nowhere() -> None:
    study = boxes(
        {"bbox_2d": [0, 0, 400, 400], "source": 0, "source_size": [4000, 2000], "original_bbox_2d": [0, 0, 400, 400]},
        {"bbox_2d": [10, 10, 20, 20], "source": 1, "source_size": [400, 400], "original_bbox_2d": [10, 10, 20, 20]},
        {"bbox_2d": [10, 10, 20, 20], "source": 2, "source_size": [10, 10], "original_bbox_2d": None},
    )
    rows = sorted(run("tooluse.crop", study.given), key=lambda row: row["call_number"])
    placed = [(row["x2"], row["width"], row["height"], row["is_inside"]) for row in rows]
    assert placed == [(400.0, 4000.0, 2000.0, None), (20.0, 4000.0, 2000.0, True)]


def test_a_failed_call_has_no_crop_and_an_image_of_unknown_size_no_small_one() -> None:
    study = boxes({"bbox_2d": [1, 2, 3, 4]}, {"bbox_2d": [1, 2, 3, 4]}, {})
    study.tables["observation"][1]["error"] = "zero_area"
    study.tables["image"].clear()
    (row,) = run("tooluse.behaviour", study.given, FAST)
    assert [row[name] for name in ("n_calls", "n_crops", "n_sized", "n_small", "n_moves")] == [3, 1, 0, 0, 0]


def test_behaviour_is_summed_by_part_and_accuracy_by_number_of_calls() -> None:
    study = boxes({"bbox_2d": [100, 100, 300, 199]}, {"bbox_2d": [130, 85, 330, 184]})
    study.rollout("s", WRONG, n_calls=1, item_id="a", replicate=1)
    study.rollout("t", "hm", n_calls=2, item_id="a", replicate=2, max_calls=2)
    rows = run("tooluse.behaviour_share", study.given, FAST)
    assert pick(rows, "part", "n_rollouts", "accuracy", "committed", "restart", "commits_last") == [
        ("all", 3, pytest.approx(1 / 3), 0.0, 0.5, 0.5), ("hit_max", 2, 0.5, 0.0, 0.5, 0.5),
    ]  # fmt: skip
    assert pick(run("tooluse.calls_accuracy", study.given), "n_calls", "n_rollouts", "accuracy") == [(1, 1, 0.0), (2, 2, 0.5)]
