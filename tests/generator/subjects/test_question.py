"""A subject finds task, arm, labels and inputs in what the request carries, and nothing anywhere else."""

from typing import Any

import pytest

from generator.subjects.question import MalformedError, read
from tests.generator.subjects.asking import CONDITIONS, GOLD, TASKS, body, question

LABELS = {
    "mmimdb": (("PLOT_ALONE", "POSTER_ALONE"), "WITH_POSTER", "WITH_PLOT"),
    "isobench/math_parity": (("TEXT_ALONE", "IMAGE_ALONE"), "WITH_IMAGE", "WITH_TEXT"),
    "isobench/graph_maxflow": (("TEXT_ALONE", "IMAGE_ALONE"), "WITH_IMAGE", "WITH_TEXT"),
    "goldenview": (("SET_A_ALONE", "SET_B_ALONE"), "WITH_SET_B", "WITH_SET_A"),
}


@pytest.mark.parametrize(("task", "arm", "template"), CONDITIONS)
def test_each_condition_is_told_by_its_words(task: str, arm: str, template: str) -> None:
    found = question(task, arm, template)
    assert (found.task, found.arm, found.template) == (task, arm, template)
    alone, with_b, with_a = LABELS[task]
    if template == "plain":
        assert found.labels == (() if task == "mmimdb" else ("ANSWER",))
    elif arm == "AB":
        assert found.labels == ("ANSWER", *alone)
    else:
        assert found.labels == ("ANSWER", with_b if arm == "A" else with_a, "SUFFICIENCY")


@pytest.mark.parametrize("task", TASKS)
def test_an_input_has_one_content_in_every_condition(task: str) -> None:
    contents: dict[str, set[str]] = {}
    for asked, arm, template in CONDITIONS:
        if asked == task:
            for letter, content in question(task, arm, template).contents.items():
                contents.setdefault(letter, set()).add(content)
    assert {letter: len(found) for letter, found in contents.items()} == dict.fromkeys(contents, 1)
    assert len(set().union(*contents.values())) == len(contents)


@pytest.mark.parametrize(
    ("task", "arm", "truth"),
    [
        ("isobench/math_parity", "A", "even"),
        ("isobench/math_parity", "B", "even"),
        ("isobench/graph_maxflow", "A", "6"),
        ("isobench/graph_maxflow", "AB", "6"),
        ("goldenview", "A", "C"),
        ("goldenview", "B", None),
        ("goldenview", "AB", "C"),
        ("mmimdb", "A", '["Comedy", "War"]'),
        ("mmimdb", "B", '["Comedy", "War"]'),
        ("mmimdb", "title", None),
    ],
)
def test_the_truth_is_known_where_an_input_holds_it(task: str, arm: str, truth: str | None) -> None:
    assert question(task, arm, "plain").truth() == truth


def test_what_may_move_a_reply_moves_the_identity() -> None:
    def identity(**fields: Any) -> str:
        return question("isobench/math_parity", "AB", fields.pop("template", "plain"), fields.pop("n", 0), **fields).identity

    alike = {identity(), identity(max_tokens=9)}
    others = [identity(n=1), identity(template="assess"), identity(thinking=True), identity(seed=1), identity(model="other")]
    assert len(alike) == 1
    assert len({*alike, *others}) == 6


def test_thinking_is_read_in_either_form() -> None:
    plain = body("isobench/math_parity", "A", "plain")
    assert not read(plain).thinking
    assert read({**plain, "chat_template_kwargs": {"enable_thinking": True}}).thinking
    assert read({**plain, "chat_template_kwargs": None, "reasoning": {"enabled": True}}).thinking


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


SOUND = body("isobench/math_parity", "A", "plain")
SYSTEM = SOUND["messages"][0]


@pytest.mark.parametrize(
    "fields",
    [
        {"model": None},
        {"messages": None},
        {"messages": []},
        {"messages": "hello"},
        {"messages": [*SOUND["messages"], {"role": "user", "content": "more"}]},
        {"messages": [SYSTEM, user({"type": "audio"})]},
        {"messages": [SYSTEM, user({"type": "image_url", "image_url": {"url": "https://h/x.png"}})]},
        {"messages": [SYSTEM, user({"type": "image_url", "image_url": {"url": "data:image/png;base64,?"}})]},
        {"messages": [SYSTEM, user()]},
        {"messages": [{"role": "system", "content": "You are a pirate."}, SOUND["messages"][1]]},
        {"messages": [body("goldenview", "A", "plain")["messages"][0], user({"type": "text", "text": "Why?"})]},
        {"seed": "one"},
        {"max_tokens": 1.5},
        {"stream": True},
    ],
    ids=lambda fields: str(fields)[:60],
)
def test_what_no_server_would_take_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        read({**SOUND, **fields})
    with pytest.raises(MalformedError):
        read([SOUND])


def test_the_truth_of_the_made_up_items_is_what_the_tests_say() -> None:
    assert question("isobench/math_parity", "A", "plain").truth() == GOLD["isobench/math_parity"]
