"""Algorithm 1: which group a rollout is in, when that is not known, and how groups add up."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sql.literal import run
from tests.sql.rollouts import Study
from tests.sql.rows import Row, only, pick

FAST = {"stat.resamples": "20"}


def trajectory(rollout_id: str = "r", **columns: Any) -> Row:
    """A rollout of two calls that is calibrated, but for what `columns` say."""
    about = {"rollout_id": rollout_id, "model_id": "m", "thinking": False, "task": "vstar", "item_id": rollout_id, "cluster_id": rollout_id}
    features = {"n_calls": 2, "hit_max": False, "is_cut": False, "gap_first": 0.2, "veg_max": 0.3, "veg_min": 0.1, "n_veg_unread": 0}
    return {**about, "replicate": 0, "correct": True, **features, "gap_later": 0.5, "n_later": 1, "n_later_unread": 0, **columns}


NONE_READ = {"veg_max": None, "veg_min": None}
CASES: list[tuple[Row, bool | None, str | None]] = [
    ({}, False, "calibrated"),
    ({"n_calls": 0, "gap_first": None, **NONE_READ, "gap_later": None, "n_later": 0}, None, "no_call"),
    ({"gap_first": 0.96}, False, "cwl"),
    ({"gap_first": 0.95}, False, "calibrated"),
    ({"veg_max": 0.009}, False, "cwl"),
    ({"veg_max": 0.01}, False, "calibrated"),
    ({"veg_max": -0.4}, False, "cwl"),
    (NONE_READ, False, "cwl"),  # every call ended in a tool error
    ({"hit_max": True}, False, "lwp"),
    ({"gap_later": 0.96}, True, "lwp"),
    ({"gap_later": 0.95}, False, "calibrated"),
    ({"gap_first": 0.97, "gap_later": 0.99}, False, "cwl"),
    ({"hit_max": True, "veg_max": 0.0}, False, "cwl"),
    # what an unreadable checkpoint leaves open
    ({"gap_first": None}, False, None),
    ({"gap_first": None, "veg_max": 0.0}, False, "cwl"),
    ({"gap_first": None, "gap_later": 0.96}, None, None),
    ({"n_veg_unread": 1}, False, "calibrated"),
    ({"n_veg_unread": 1, "veg_max": 0.001}, False, None),
    ({"n_veg_unread": 2, **NONE_READ}, False, None),
    ({"n_veg_unread": 2, **NONE_READ, "gap_first": 0.99}, False, "cwl"),
    ({"n_later_unread": 1}, None, None),
    ({"n_later_unread": 1, "gap_later": 0.96}, True, "lwp"),
    ({"n_later_unread": 1, "gap_later": None, "hit_max": True}, None, "lwp"),
    ({"n_later_unread": 1, "gap_first": 0.96}, False, "cwl"),
    ({"hit_max": None}, False, None),
    ({"hit_max": None, "gap_later": 0.96}, True, "lwp"),
    # what breaks off might have gone on to anything
    ({"n_calls": 0, "is_cut": True, "hit_max": None, "gap_first": None, **NONE_READ, "n_later": 0}, None, None),
    ({"is_cut": True, "hit_max": None}, None, None),
    ({"is_cut": True, "hit_max": None, "gap_first": 0.99}, False, "cwl"),
    ({"is_cut": True, "hit_max": None, "gap_later": 0.99}, True, "lwp"),
    ({"is_cut": True, "hit_max": None, "veg_max": 0.0}, None, None),
]


@pytest.mark.parametrize(("columns", "poer", "mode"), CASES)
def test_a_rollout_s_group_is_known_unless_an_unreadable_checkpoint_decides(columns: Row, poer: bool | None, mode: str | None) -> None:
    (row,) = run("tooluse.diagnosis", {"tooluse.trajectory": [trajectory(**columns)]})
    assert (row["poer"], row["mode"]) == (poer, mode)


@pytest.mark.parametrize(
    ("columns", "mode"),
    [
        ({"hit_max": True, "veg_max": 0.0}, "lwp"),
        ({"hit_max": True, "n_veg_unread": 2, **NONE_READ}, "lwp"),
        ({"hit_max": None, "veg_max": 0.0}, None),
        ({"hit_max": None, "gap_later": 0.96}, "lwp"),
        ({"hit_max": None}, None),
        ({"veg_max": 0.0}, "cwl"),
    ],
)
def test_the_limit_may_be_asked_first(columns: Row, mode: str | None) -> None:
    (row,) = run("tooluse.diagnosis", {"tooluse.trajectory": [trajectory(**columns)]}, {"tooluse.hit_max_first": "true"})
    assert row["mode"] == mode


GAPS = st.none() | st.sampled_from([-0.5, 0.0, 0.2, 0.79, 0.8, 0.85, 0.9, 0.92, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995])
VEGS = st.none() | st.sampled_from([-0.3, 0.0, 0.004, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.3])
FEATURES = st.fixed_dictionaries(
    {
        "n_calls": st.integers(0, 3), "hit_max": st.booleans(), "gap_first": GAPS, "veg_max": VEGS, "n_veg_unread": st.integers(0, 1),
        "gap_later": GAPS, "n_later": st.just(1), "n_later_unread": st.integers(0, 1),
    }
)  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.lists(FEATURES, min_size=30, max_size=60))
def test_raising_epsilon_moves_rollouts_only_into_cwl_and_raising_tau_never(features: list[Row]) -> None:
    rollouts = [trajectory(f"r{number}", **columns) for number, columns in enumerate(features)]
    rows = run("tooluse.grouped", {"tooluse.trajectory": rollouts})
    mode = {(row["rollout_id"], row["tau_sat"], row["epsilon"]): row["mode"] for row in rows}
    for rollout in rollouts:
        by_epsilon = [mode[rollout["rollout_id"], 0.95, epsilon] for epsilon in (0.005, 0.01, 0.02, 0.05)]
        by_tau = [mode[rollout["rollout_id"], tau, 0.01] for tau in (0.8, 0.9, 0.95, 0.97, 0.99)]
        for before, after in zip(by_epsilon, by_epsilon[1:], strict=False):
            assert after in (before, "cwl", None)  # None: that V_max is below the threshold hangs on a call that was not read
            assert before is not None or after in (None, "cwl")
        for before, after in zip(by_tau, by_tau[1:], strict=False):
            assert after != "cwl" or before == "cwl"
            assert before != "calibrated" or after == "calibrated"


def test_thresholds_are_the_sweeps_and_the_chosen_pair() -> None:
    assert len(run("tooluse.threshold", {})) == 8
    rows = run("tooluse.threshold", {}, {"tooluse.tau_sat": "0.5"})
    assert only(rows, is_chosen=True) == {"tau_sat": 0.5, "epsilon": 0.01, "in_grid": False, "is_chosen": True}
    assert sum(row["in_grid"] for row in rows) == 8


# From raw rows


def study_of_groups() -> Study:
    """Five items, one of each group and one whose tool rollout was not probed, run twice under both policies."""
    study = Study()
    for item, gaps in {"calm": (0.1, 0.6), "sure": (0.97, 0.97), "none": None, "long": (0.1, 0.96), "dark": None}.items():
        study.item(item)
        study.rollout(f"{item}/tool", n_calls=0 if item == "none" else 2, item_id=item)
        study.rollout(f"{item}/again", "<answer>B</answer>", item_id=item, replicate=1)
        study.rollout(f"{item}/direct", "<answer>B</answer>" if item != "sure" else "<answer>A</answer>", item_id=item, arm="direct")
        if gaps:
            study.probes(f"{item}/tool", 1, *gaps, 0.1, 0.1, 0.1)
            study.probes(f"{item}/tool", 2, gaps[1], 0.9, 0.9, 0.9, 0.9)
    return study


def test_shares_count_the_undiagnosed_and_groups_that_are_empty() -> None:
    rows = run("tooluse.mode_share", study_of_groups().given, FAST)
    assert pick(rows, "mode", "n", "n_items", "share") == [
        (mode, 1, 5, 0.2) for mode in ("calibrated", "cwl", "lwp", "no_call", "undiagnosed")
    ]  # fmt: skip
    assert all(row["share_low"] <= 0.2 <= row["share_high"] for row in rows)


def test_contributions_are_shares_times_mean_differences_and_add_up() -> None:
    rows = run("tooluse.decomposition", study_of_groups().given, FAST)
    assert pick(rows, "mode", "share", "mean_delta", "contribution") == [
        (mode, 0.2, -0.5 if mode == "cwl" else 0.5, -0.1 if mode == "cwl" else 0.1)
        for mode in ("calibrated", "cwl", "lwp", "no_call", "undiagnosed")
    ]
    (effect,) = run("tooluse.policy_effect", study_of_groups().given, FAST)
    assert effect["ate"] == pytest.approx(sum(row["contribution"] for row in rows), abs=1e-12)
    assert {row["ate"] for row in rows} == {effect["ate"]}


def test_an_empty_group_contributes_nothing_and_has_no_mean() -> None:
    study = study_of_groups()
    study.tables["rollout"] = [row for row in study.tables["rollout"] if not row["rollout_id"].startswith("long")]
    row = only(run("tooluse.decomposition", study.given, FAST), mode="lwp")
    assert (row["n"], row["share"], row["mean_delta"], row["contribution"], row["n_items"]) == (0, 0.0, None, 0.0, 4)


def test_an_item_without_a_labelled_rollout_is_undiagnosed_in_the_decomposition_and_not_in_the_shares() -> None:
    study = study_of_groups()
    study.tables["rollout"] = [row for row in study.tables["rollout"] if row["rollout_id"] != "calm/tool"]
    assert only(run("tooluse.decomposition", study.given, FAST), mode="undiagnosed")["n"] == 2
    assert only(run("tooluse.mode_share", study.given, FAST), mode="undiagnosed")["n_items"] == 4


def test_a_rollout_with_calls_and_no_probe_has_no_diagnosis_and_one_without_calls_has() -> None:
    rows = {row["rollout_id"]: row["mode"] for row in run("tooluse.diagnosis", study_of_groups().given)}
    labelled = {"calm/tool": "calibrated", "sure/tool": "cwl", "none/tool": "no_call", "long/tool": "lwp"}
    assert rows == labelled | {f"{item}/again": "no_call" for item in ("calm", "sure", "none", "long", "dark")}


def test_labels_are_compared_between_the_replicates_that_were_probed() -> None:
    study = study_of_groups()
    assert run("tooluse.label_stability", study.given) == []
    for item, before in (("calm", 0.97), ("sure", 0.97)):
        study.rollout(f"{item}/third", n_calls=1, item_id=item, replicate=2)
        study.probes(f"{item}/third", 1, before, 0.98, 0.9, 0.9, 0.9)
    study.rollout("long/third", n_calls=1, item_id="long", replicate=2)
    (row,) = run("tooluse.label_stability", study.given)
    assert {name: row[name] for name in ("n_replicates", "n_items", "n_changed", "changed", "n_pairs", "n_pairs_left_out")} == {
        "n_replicates": 2, "n_items": 2, "n_changed": 1, "changed": 0.5, "n_pairs": 2, "n_pairs_left_out": 1,
    }  # fmt: skip


def test_two_models_are_compared_by_the_shift_of_groups_on_the_items_of_both() -> None:
    study = study_of_groups()
    study.rollout("calm/better", n_calls=1, item_id="calm", model_id="better")
    study.probes("calm/better", 1, 0.1, 0.6, 0.1, 0.1, 0.1)
    study.rollout("sure/better", n_calls=1, item_id="sure", model_id="better")
    study.probes("sure/better", 1, 0.1, 0.6, 0.1, 0.1, 0.1)
    rows = run("tooluse.comparison", study.given, FAST)
    assert pick(rows, "model_id", "base_model_id", "n_items", "calibrated_shift", "miscalibrated_shift", "improved") == [
        ("better", "m", 2, 0.5, -0.5, True), ("m", "better", 2, -0.5, 0.5, False),
    ]  # fmt: skip


def test_contributions_that_do_not_add_up_are_found() -> None:
    assert run("quality.contribution", study_of_groups().given) == []
    about = {"model_id": "m", "thinking": False, "task": "vstar", "tau_sat": 0.95, "epsilon": 0.01, "ate": 0.3}
    rows = [{**about, "mode": mode, "contribution": part, "share": 0.5} for mode, part in (("cwl", 0.1), ("lwp", 0.1))]
    (found,) = run("quality.contribution", {"tooluse.decomposed": rows})
    assert (found["contributions"], found["ate"], found["shares"]) == (pytest.approx(0.2), 0.3, 1.0)
