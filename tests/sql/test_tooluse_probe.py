"""How a checkpoint is read, and what makes it unreadable; what a call gains."""

import json
import math
import random
from typing import Any

import numpy as np
import pytest

from tests.independent.resampling import weights
from tests.sql.literal import run
from tests.sql.rollouts import Study, gap_reading, reading

EVEN = {39: math.log(0.4), 40: math.log(0.2), 41: math.log(0.1), 42: math.log(0.1)}  # gap 0.25, mass 0.8


def read(response: str | None, **columns: Any) -> dict[str, Any]:
    """One checkpoint of an item whose gold is A."""
    study = Study()
    study.item()
    study.rollout("r", n_calls=1)
    study.probe("r", 1, "before", response, **columns)
    (row,) = run("tooluse.probe", study.given)
    return row


@pytest.mark.parametrize(
    ("response", "options"),
    [
        (reading(EVEN), None),
        (reading({**EVEN, 7: -0.1, 349: -2.5}), None),
        (reading({token: EVEN[token] for token in (42, 41, 39)}, sampled=(40, EVEN[40])), None),
        (reading({**EVEN, 39: math.log(0.3), 77: math.log(0.1)}), {"A": [39, 77], "B": [40], "C": [41], "D": [42]}),
        (reading({39: EVEN[39], 40: EVEN[40], 41: math.log(0.2)}), {"a": [39], "b": [40], "c": [41]}),
    ],
    ids=["plain", "others between", "sampled token not repeated", "a label of two tokens", "labels in lower case"],
)
def test_candidates_are_matched_by_token_id_and_a_label_s_tokens_add_up(response: str, options: dict[str, list[int]] | None) -> None:
    row = read(response, **({"options": json.dumps(options)} if options else {}))
    assert row["gap"] == pytest.approx(0.25, abs=1e-12)
    assert row["mass"] == pytest.approx(0.8, abs=1e-12)
    assert row["reason"] is None


@pytest.mark.parametrize(
    ("response", "columns", "reason"),
    [
        (reading({39: -1, 40: -2, 41: -3}), {}, "no log-probability of option D"),
        (reading({**EVEN, 40: math.nan}), {}, "log-probability of option B is no finite number"),
        (reading({**EVEN, 40: -math.inf}), {}, "log-probability of option B at the floor of -9999"),
        (reading({**EVEN, 41: None}), {}, "log-probability of option C is no finite number"),
        (reading({**EVEN, 39: "high"}), {}, "log-probability of option A is no finite number"),
        (reading({**EVEN, 39: -9999.0}), {}, "log-probability of option A at the floor of -9999"),
        (reading(EVEN), {"options": '{"A": [39, 5], "B": [40]}'}, "no log-probability of option A"),
        (reading(EVEN), {"options": '{"A": [], "B": [40]}'}, "no log-probability of option A"),
        (reading(EVEN), {"options": None}, "no options"),
        (reading(EVEN), {"http_status": 503}, "HTTP status 503"),
        (reading(EVEN), {"error": '{"kind": "timeout"}'}, "transport error"),
        ("<html>busy</html>", {}, "body is not JSON"),
        (None, {}, "body is not JSON"),
        ('{"choices": []}', {}, "no log-probability of option A"),
        (reading(EVEN).replace('"logprob": -0.91', '"log": -0.91'), {}, "a token without a log-probability"),
    ],
)
def test_an_unreadable_checkpoint_has_a_reason_and_no_value(response: str | None, columns: dict[str, Any], reason: str) -> None:
    row = read(response, **columns)
    assert (row["gap"], row["mass"], row["reason"]) == (None, None, reason)


def test_a_gold_answer_that_is_no_option_leaves_the_mass_and_no_gap() -> None:
    row = read(reading(EVEN), options='{"B": [40], "C": [41]}')
    assert (row["gap"], row["mass"], row["reason"]) == (None, near(0.3), "gold is no option")


def test_options_of_next_to_no_mass_keep_their_ratio() -> None:
    row = read(reading({token: value - 2000 for token, value in EVEN.items()}))
    assert row["gap"] == pytest.approx(0.25, abs=1e-12)
    assert row["mass"] == 0.0


def test_the_latest_attempt_of_a_probe_counts() -> None:
    study = Study()
    study.item()
    study.rollout("r", n_calls=1)
    study.probe("r", 1, "before", None, http_status=503)
    study.probe("r", 1, "before", gap_reading(0.5), attempt=2)
    study.probe("r", 1, "real", gap_reading(0.5))
    study.probe("r", 1, "real", None, error='"gone"', attempt=2)
    rows = {row["stage"]: row["gap"] for row in run("tooluse.probe", study.given)}
    assert rows == {"before": pytest.approx(0.5, abs=1e-8), "real": None}


def calls(study: Study, **settings: str) -> list[dict[str, Any]]:
    """The calls of a study, in order."""
    rows = run("tooluse.call", study.given, {name.replace("_", ".", 1): value for name, value in settings.items()})
    return sorted(rows, key=lambda row: (row["rollout_id"], row["call_number"]))


def near(value: float | None) -> Any:
    """The same to what the readings of these tests leave of it."""
    return None if value is None else pytest.approx(value, abs=1e-7)


def test_gains_are_taken_from_the_gap_before_and_evidence_from_the_mean_counterfactual() -> None:
    study = Study()
    study.item()
    study.rollout("r", n_calls=1)
    study.probes("r", 1, 0.1, 0.6, 0.0, 0.2, 0.4)
    (call,) = calls(study)
    assert {name: call[name] for name in ("gap_before", "gap_real", "gap_cf", "gain_real", "gain_cf", "veg")} == {
        "gap_before": near(0.1), "gap_real": near(0.6), "gap_cf": near(0.2), "gain_real": near(0.5), "gain_cf": near(0.1), "veg": near(0.4),
    }  # fmt: skip
    assert (call["saturated"], call["reason"], call["n_checkpoints"]) == (False, None, 5)
    assert call["mass_before"] == call["mass_real"] == call["mass_cf"] == near(1.0)


def test_a_crop_that_was_not_read_leaves_no_evidence_and_the_gap_before_is_not_needed_for_it() -> None:
    study = Study()
    study.item()
    study.rollout("r", n_calls=3)
    study.probes("r", 1, 0.1, 0.6, 0.0, 0.2)
    study.probes("r", 2, 0.1, 0.6, 0.0, 0.2)
    study.probe("r", 2, "counterfactual", "<html>", 3)
    study.probes("r", 3, 0.1, 0.6, 0.0, 0.2, 0.4)
    study.tables["probe"] = [row for row in study.tables["probe"] if (row["turn"], row["stage"]) != (3, "before")]
    assert [(call["gap_cf"], call["veg"], call["gain_real"], call["reason"]) for call in calls(study)] == [
        (None, None, near(0.5), "counterfactual: fewer than three"),
        (None, None, near(0.5), "counterfactual: body is not JSON"),
        (near(0.2), near(0.4), None, "before: not probed"),
    ]


def test_a_call_that_ended_in_a_tool_error_shows_no_evidence() -> None:
    study = Study()
    study.item()
    study.rollout("r", n_calls=1)
    study.tables["observation"][0]["error"] = "zero_area"
    study.probes("r", 1, 0.97, 0.97, 0.97, 0.97, 0.97)
    (call,) = calls(study)
    assert (call["gap_before"], call["saturated"], call["gap_real"], call["gap_cf"], call["veg"]) == (near(0.97), True, None, None, None)
    assert call["reason"] == "tool error"


def test_of_several_calls_in_a_turn_the_first_counts_and_positions_are_turns() -> None:
    study = Study()
    study.item()
    study.rollout("r", n_calls=3)
    study.observation("r", 2, 1)
    study.observation("r", 2, 2)
    study.tables["observation"].append({"rollout_id": "r", "turn": 1, "call_index": 0, "draw": 1})
    shown = [(call["turn"], call["call_number"], call["is_counted"], call["position"]) for call in calls(study)]
    assert shown == [(1, 1, True, 1), (2, 2, True, 2), (2, 3, False, 2), (2, 4, False, 2), (3, 5, True, 3)]
    shown = [(call["turn"], call["call_number"], call["is_counted"], call["position"]) for call in calls(study, tooluse_calls="all")]
    assert shown == [(1, 1, True, 1), (2, 2, True, 2), (2, 3, True, 3), (2, 4, True, 4), (3, 5, True, 5)]


def test_a_turn_without_a_call_is_no_position() -> None:
    study = Study()
    study.item()
    study.rollout("r", n_calls=3)
    study.tables["observation"] = [row for row in study.tables["observation"] if row["turn"] != 1]
    assert [(call["turn"], call["position"]) for call in calls(study)] == [(2, 1), (3, 2)]


def test_an_unprobed_call_is_a_row_that_says_so() -> None:
    study = Study()
    study.item()
    study.rollout("r", n_calls=1, arm="blank")
    (call,) = calls(study)
    assert (call["arm"], call["veg"], call["saturated"], call["n_checkpoints"], call["reason"]) == ("blank", None, None, 0, "not probed")


# Open-ended probes


def scored(tokens: list[int], *entries: dict[str, Any] | None, **columns: Any) -> dict[str, Any]:
    """A reading of the gold text's tokens at the end of the prompt."""
    study = Study()
    study.item(gold="forty two", options=None)
    study.rollout("r", "<answer>forty two</answer>", n_calls=1)
    body = {"choices": [{"message": {"content": "?"}}], "prompt_logprobs": [None, {"1": {"logprob": -9.0}}, *entries]}
    study.probe("r", 1, "before", json.dumps(body), options=json.dumps({"gold": tokens}), **columns)
    assert not run("tooluse.probe", study.given)
    (row,) = run("tooluse.open_probe", study.given)
    return row


def test_the_gold_text_is_scored_by_its_own_tokens_at_the_end_of_the_prompt() -> None:
    row = scored([7, 8], {"7": {"logprob": -1.0, "rank": 3}, "9": {"logprob": -0.1}}, {"8": {"logprob": -2.0}})
    assert (row["score"], row["n_tokens"], row["reason"]) == (-1.5, 2, None)


FLOOR = "log-probability of a gold token is no finite number or at the floor of -9999"


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([{"7": {"logprob": -1.0}}, {"9": {"logprob": -1.0}}], "no log-probability of a gold token"),
        ([{"7": {"logprob": -1.0}}, None], "no log-probability of a gold token"),
        ([{"7": {"logprob": -1.0}}, {"8": {"logprob": math.nan}}], FLOOR),
        ([{"7": {"logprob": -1.0}}, {"8": {"logprob": -9999.0}}], FLOOR),
    ],
)
def test_a_gold_text_of_which_a_token_is_missing_has_no_score(entries: list[dict[str, Any] | None], reason: str) -> None:
    row = scored([7, 8], *entries)
    assert (row["score"], row["reason"]) == (None, reason)


def test_too_short_a_list_and_a_failed_call_have_no_score() -> None:
    assert scored([7, 8, 9, 10])["reason"] == "fewer log-probabilities than gold tokens"
    assert scored([7], {"7": {"logprob": -1.0}}, http_status=500)["reason"] == "HTTP status 500"


def open_ended(*calls: tuple[float, str], n_calls: int = 1) -> Study:
    """An item for each call's score after its observation and the rollout's answer; after other crops the score is -3."""
    study = Study()
    for number, (real, said) in enumerate(calls):
        study.item(f"i{number:02}", gold="x", options=None)
        study.rollout(f"r{number}", f"<answer>{said}</answer>", n_calls=n_calls, item_id=f"i{number:02}")
        for turn in range(1, n_calls + 1):
            for stage, draw, value in (("before", 0, -9.0), ("real", 0, real / turn), *(("counterfactual", n, -3.0) for n in (1, 2, 3))):
                body = json.dumps({"prompt_logprobs": [None, {"7": {"logprob": value}}]})
                study.probe(f"r{number}", turn, stage, body, draw, options='{"gold": [7]}')
    return study


def test_open_ended_evidence_is_a_median_with_its_quartiles() -> None:
    study = open_ended((-1.0, "x"), (-2.0, "x"), (-3.0, "no"), (-5.0, "no"), (-6.0, "x"))
    (row,) = run("tooluse.veg_open", study.given, {"stat.resamples": "20"})
    assert (row["n_calls"], row["n_veg"], row["n_correct"], row["n_incorrect"]) == (5, 5, 3, 2)
    assert (row["veg"], row["veg_iqr"], row["veg_correct"], row["veg_incorrect"], row["veg_incorrect_iqr"]) == (0.0, 3.0, 1.0, -1.0, 1.0)


def test_a_median_s_interval_is_that_of_the_declared_draws() -> None:
    rng = random.Random(3)
    calls = [(-6 * rng.random(), "x" if number % 3 else "no") for number in range(17)]
    (row,) = run("tooluse.veg_open", open_ended(*calls, n_calls=2).given, {"stat.resamples": "200"})
    for name, wanted in (("veg", ("x", "no")), ("veg_correct", ("x",)), ("veg_incorrect", ("no",))):
        vegs = [[3 + real / turn for turn in (1, 2)] if said in wanted else [] for real, said in calls]
        medians = [
            np.median([veg for times, own in zip(drawn, vegs, strict=True) for veg in own * int(times)])
            for drawn in weights(200, len(calls))
            if any(times and own for times, own in zip(drawn, vegs, strict=True))
        ]
        assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(tuple(np.quantile(medians, [0.025, 0.975])), abs=1e-12)


def test_a_median_over_one_cluster_has_no_interval() -> None:
    (row,) = run("tooluse.veg_open", open_ended((-1.0, "x")).given, {"stat.resamples": "20"})
    assert (row["veg"], row["veg_low"], row["veg_high"], row["veg_incorrect"], row["veg_incorrect_low"]) == (2.0, None, None, None, None)


def test_a_step_for_training_is_any_probed_call_under_the_unhindered_tool() -> None:
    study = Study()
    study.item("a", inputs='{"question": "What?", "image": "0f"}')
    study.item("free", gold="red", options=None, inputs='{"question": "Which?"}')
    for rollout_id, replicate in (("r", 0), ("s", 1)):
        study.rollout(rollout_id, n_calls=1, item_id="a", replicate=replicate)
        study.probes(rollout_id, 1, 0.1, 0.6, 0.1, 0.2, 0.3)
    study.rollout("unprobed", n_calls=1, item_id="a", replicate=2)
    study.rollout("hindered", n_calls=1, item_id="a", arm="random_crop")
    study.probes("hindered", 1, 0.1, 0.6, 0.1, 0.2, 0.3)
    study.rollout("open", n_calls=1, item_id="free")
    for stage, draw, value in (("before", 0, -9.0), ("real", 0, -0.5), *(("counterfactual", draw, -float(draw)) for draw in (1, 2, 3))):
        body = json.dumps({"prompt_logprobs": [None, {"7": {"logprob": value}}]})
        study.probe("open", 1, stage, body, draw, options='{"gold": [7]}')
    rows = {row["rollout_id"]: row for row in run("tooluse.step", study.given)}
    assert rows.keys() == {"r", "s", "open"}
    assert {name: (row["replicate"], row["question"], row["gold"], row["image_sha256"]) for name, row in rows.items()} == {
        "r": (0, "What?", "A", "0f"), "s": (1, "What?", "A", "0f"), "open": (0, "Which?", "red", None),
    }  # fmt: skip
    assert (rows["s"]["veg"], rows["s"]["veg_open"], rows["s"]["reason"]) == (pytest.approx(0.4, abs=1e-8), None, None)
    assert (rows["open"]["veg"], rows["open"]["veg_open"], rows["open"]["reason"]) == (None, 1.5, None)
    assert [rows["r"][name] for name in ("x1", "y1", "x2", "y2", "width")] == [1, 2, 3, 4, None]
