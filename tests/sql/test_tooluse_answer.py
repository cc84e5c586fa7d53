"""What a rollout answered, whether that is right, and who said so."""

from typing import Any

import pytest

from tests.sql.literal import run
from tests.sql.rollouts import OPTIONS, Study, reply

FAST = {"stat.resamples": "20"}


def answered(said: str | None, **columns: Any) -> tuple[Any, ...]:
    """Answer, verdict and ruling of a rollout on an item whose options are A red, B blue, C green, D white and whose gold is A."""
    study = Study()
    study.item()
    study.rollout("r", said, **columns)
    (row,) = run("tooluse.rollout", study.given)
    return row["answer"], row["correct"], row["ruling"]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("<answer>A</answer>", "A"),
        ("<answer> a. </answer>", "A"),
        ("<answer>\n(A)\n</answer>", "A"),
        ("<answer>(A) red</answer>", "A"),
        ("<answer>A. blue</answer>", "A"),
        ("<answer>A: it is blue</answer>", "A"),
        ("<answer>A) blue</answer>", "A"),
        ("<answer>Red!</answer>", "A"),
        ("<answer>red\u00a0</answer>", "A"),
        ("<answer>B</answer> no, <answer>A</answer>", "A"),
        ("<answer>A</answer> or <answer>B", "A"),
        ("<answer><answer>A</answer>", "A"),
        ("<think>is it <answer>B</answer>?</think><answer>A</answer>", "A"),
        ("work</think>\\boxed{A}", "A"),
        ("\\boxed{B} no, \\boxed{A}", "A"),
        ("\\boxed{\\boxed{A}}", "A"),
        ("\\boxed{A} and \\boxed{\\text{B}", "A"),
        ("<answer>A</answer> \\boxed{B}", "A"),
        ("an answer tag is closed </answer> but not opened: \\boxed{A}", "A"),
        ("<answer>B</answer>", "B"),
        ("\\boxed{\\text{A}}", "\\text{a}"),
        ("<answer>E</answer>", "e"),
        ("<answer>A or B</answer>", "a or b"),
        ("<answer>(A</answer>", "(a"),
        ("<answer>a kite</answer>", "a kite"),
        ("<answer></answer>", None),
        ("A", None),
        ("<think>again</think>", None),
        ("<think>so <answer>A</answer>", None),
        (None, None),
    ],
)
def test_an_answer_is_the_last_one_stated_and_is_reduced_to_an_offered_letter(said: str | None, answer: str | None) -> None:
    ruling = "no_answer" if answer is None else "exact" if answer in OPTIONS else "none"
    assert answered(said) == (answer, answer == "A", ruling)


def test_a_text_that_two_options_share_names_neither() -> None:
    study = Study()
    study.item(options={"A": "red", "B": "Red."})
    study.rollout("r", "<answer>red</answer>")
    (row,) = run("tooluse.rollout", study.given)
    assert (row["answer"], row["correct"], row["ruling"]) == ("red", False, "none")


@pytest.mark.parametrize(
    ("said", "correct"), [("<answer>Forty-Two.</answer>", True), ("\\boxed{forty-two}", True), ("<answer>A</answer>", False)]
)
def test_a_free_answer_is_right_where_it_equals_the_gold_text_after_trimming(said: str, correct: bool) -> None:
    study = Study()
    study.item(gold="forty-two", options=None)
    study.rollout("r", said)
    (row,) = run("tooluse.rollout", study.given)
    assert (row["correct"], row["ruling"]) == (correct, "exact" if correct else "none")


@pytest.mark.parametrize(("end_reason", "said", "correct"), [
    ("error", "<answer>A</answer>", None), ("call_limit", None, False), ("truncated", "<think>so", False), ("no_answer", "hm", False),
    ("call_limit", "<answer>A</answer>", True), (None, "<answer>A</answer>", True),
])  # fmt: skip
def test_no_final_answer_is_wrong_and_one_that_broke_off_is_not_known(end_reason: str, said: str | None, correct: bool | None) -> None:
    assert answered(said, end_reason=end_reason)[1] is correct


def test_without_a_gold_answer_nothing_is_right_or_wrong() -> None:
    study = Study()
    study.item(gold="A")
    study.tables["item"][0]["gold"] = None
    study.rollout("r", "<answer>A</answer>")
    (row,) = run("tooluse.rollout", study.given)
    assert (row["correct"], row["ruling"]) == (None, "no_gold")


@pytest.mark.parametrize(
    ("verdict", "correct", "ruling"),
    [
        ("correct", True, "judge"),
        ("The two agree.\n**Correct**", True, "judge"),
        ("Incorrect.", False, "judge"),
        ("<think>correct?</think>INCORRECT", False, "judge"),
        ("it is not correct", None, "pending"),
        ("correct or incorrect", None, "pending"),
        (None, None, "pending"),
    ],
)
def test_a_judge_rules_on_what_exact_match_cannot_read(verdict: str | None, correct: bool | None, ruling: str) -> None:
    study = Study()
    study.item()
    study.rollout("r", "<answer>the reddish one</answer>")
    study.turn("r", 1, verdict, protocol="judge", model_id="judge", request_key="j")
    (row,) = run("tooluse.rollout", study.given)
    assert (row["correct"], row["ruling"], row["n_turns"], row["model_id"]) == (correct, ruling, 1, "m")


def test_a_judge_that_the_study_asks_for_and_that_has_not_ruled_leaves_the_answer_open() -> None:
    study = Study()
    study.item()
    for rollout, said in (("unread", "<answer>reddish</answer>"), ("read", "<answer>B</answer>"), ("none", "hm")):
        study.rollout(rollout, said, replicate={"unread": 0, "read": 1, "none": 2}[rollout])
    study.tables["grid"].append({**study.tables["grid"][0], "protocol": "judge", "request_key": "j"})
    rows = {row["rollout_id"]: (row["correct"], row["ruling"]) for row in run("tooluse.rollout", study.given)}
    assert rows == {"unread": (None, "pending"), "read": (False, "exact"), "none": (False, "no_answer")}


def test_the_latest_ruling_counts() -> None:
    study = Study()
    study.item()
    study.rollout("r", "<answer>reddish</answer>")
    study.turn("r", 1, "incorrect", protocol="judge", request_key="j")
    study.turn("r", 1, "correct", protocol="judge", request_key="j", attempt=2)
    (row,) = run("tooluse.rollout", study.given)
    assert row["correct"] is True


def test_the_latest_finished_attempt_of_a_rollout_counts_and_an_unfinished_one_is_not_shown() -> None:
    study = Study()
    study.item()
    study.rollout("first", "<answer>B</answer>", n_calls=1)
    study.rollout("second", "<answer>A</answer>", attempt=2)
    study.rollout("third", "<answer>C</answer>", attempt=3)
    study.tables["rollout"].pop()
    (row,) = run("tooluse.rollout", study.given)
    assert (row["rollout_id"], row["attempt"], row["n_calls"], row["answer"]) == ("second", 2, 0, "A")


def test_the_latest_attempt_of_a_turn_counts() -> None:
    study = Study()
    study.item()
    study.rollout("r", "<answer>B</answer>", n_calls=1)
    study.turn("r", 2, "<answer>A</answer>", attempt=2)
    study.turn("r", 1, "<answer>C</answer>", attempt=2)
    (row,) = run("tooluse.rollout", study.given)
    assert (row["answer"], row["n_turns"]) == ("A", 2)


def test_a_rollout_belongs_to_the_study_that_asks_for_one_of_its_turns() -> None:
    study = Study()
    study.item()
    study.rollout("asked in one turn", n_calls=2)
    study.rollout("another study's", replicate=1)
    study.tables["grid"] = [row for row in study.tables["grid"] if row["request_key"] == "asked in one turn/1"]
    (row,) = run("tooluse.rollout", study.given)
    assert (row["rollout_id"], row["n_turns"], row["cluster_id"]) == ("asked in one turn", 3, "i")


def test_tokens_and_cost_are_summed_and_not_known_where_a_turn_does_not_say() -> None:
    study = Study()
    study.item()
    study.rollout("r", n_calls=1, completion_tokens=5, cost_usd=0.1)
    study.rollout("s", n_calls=1, replicate=1, completion_tokens=5)
    study.tables["completion"][-1]["completion_tokens"] = None
    rows = {row["rollout_id"]: (row["completion_tokens"], row["cost_usd"]) for row in run("tooluse.rollout", study.given)}
    assert rows == {"r": (10, 0.2), "s": (None, None)}


@pytest.mark.parametrize(
    ("thought", "letter"),
    [
        ("Hm. I think it's blue. The answer should be A.", "B"),
        ("The answer is (C) green, but let me look", "C"),
        ("I think it is important to look; the answer must be D because", "D"),
        ("let me look", None),
        ("the answer is not clear", None),
    ],
)
def test_an_answer_stated_before_the_first_call_is_the_first_that_names_an_option(thought: str, letter: str | None) -> None:
    study = Study()
    study.item()
    study.rollout("r", "<answer>B</answer>", n_calls=1)
    study.tables["completion"][0]["response"] = reply(f"<think>{thought}</think>I think it's A <tool_call>1</tool_call>")
    (row,) = run("tooluse.behaviour", study.given, FAST)
    assert (row["stated_before"], row["committed"]) == (letter, letter == "B")
