"""Calls are read out of text by a grammar, and only by it."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.tools import Call, Malformed, grammar, interface

CALL = '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [1, 2, 3, 4]}}'


def read(text: str) -> list[object]:
    return [call.requested if isinstance(call, Call) else call.reason for call in grammar.calls(text, "tool_call")]


def test_a_call_is_read_with_its_place() -> None:
    text = f"<think>closer</think>\n<tool_call>\n{CALL}\n</tool_call> and so on"
    (call,) = grammar.calls(text, "tool_call")
    assert call == Call(json.loads(CALL), index=0, start=text.index("<tool_call>"))


def test_two_calls_in_a_turn_are_two_with_text_before_between_and_after() -> None:
    text = f"First: <tool_call>{CALL}</tool_call> then <tool_call>{CALL}</tool_call><answer>A</answer>"
    assert [call.index for call in grammar.calls(text, "tool_call")] == [0, 1]
    assert read(text) == [json.loads(CALL)] * 2


def test_malformed_calls_keep_their_place_among_the_others() -> None:
    found = grammar.calls(f"<tool_call>oh</tool_call><tool_call>{CALL}</tool_call>", "tool_call")
    assert [(type(call), call.index) for call in found] == [(Malformed, 0), (Call, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no call",
        f"<think>I could say <tool_call>{CALL}</tool_call></think> but do not",
        f"<think>cut while thinking <tool_call>{CALL}</tool_call>",
        f"the prompt opened the block <tool_call>{CALL}</tool_call></think> done",
        f"<think>a</think> b <tool_call>{CALL}</tool_call> c</think> two blocks closed, one opened",
        f"<grounding>{CALL}</grounding>",
    ],
)
def test_what_is_thought_or_tagged_otherwise_is_no_call(text: str) -> None:
    assert read(text) == []


def test_a_family_whose_calls_end_the_turn_may_call_in_an_open_think_block() -> None:
    call = '<grounding>{"bbox_2d": [0, 0, 1, 1], "source": "original_image"}</grounding>'
    assert len(interface("mini_o3").calls(f"<think>not closed {call}")) == 1
    assert len(interface("mini_o3").calls(f"<think>closed {call}</think>")) == 0


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "no JSON object"),
        ("[1, 2]", "it is list"),
        ('"a text"', "it is str"),
        ("{'name': 'single quotes'}", "no JSON object"),
        (f"{CALL} {CALL}", "Extra data"),
        ("__import__('os').system('true')", "no JSON object"),
        ("[" * 100_000, "no JSON object"),
        ('{"a": ' + "9" * 5000 + "}", "no JSON object"),
    ],
)
def test_what_is_no_json_object_is_malformed(body: str, says: str) -> None:
    (malformed,) = grammar.calls(f"<tool_call>{body}</tool_call>", "tool_call")
    assert isinstance(malformed, Malformed)
    assert malformed.text == body
    assert malformed.reason.startswith("malformed: ")
    assert says in malformed.reason
    assert "\n" not in malformed.reason


def test_a_call_that_was_cut_is_malformed_even_where_it_reads_well() -> None:
    assert read(f"<tool_call>{CALL}") == ["malformed: the call is not closed by </tool_call>"]
    assert read(f"<tool_call>{CALL} <tool_call>{CALL}</tool_call>") == [
        "malformed: the call is not closed by </tool_call>",
        json.loads(CALL),
    ]


def test_arguments_may_be_a_json_text_of_json() -> None:
    assert grammar.arguments({"arguments": '{"bbox_2d": [1, 2, 3, 4]}'}) == {"bbox_2d": [1, 2, 3, 4]}


@pytest.mark.parametrize("arguments", [None, 3, [1], "[1]", "no json", '"twice"'])
def test_other_arguments_are_refused(arguments: object) -> None:
    with pytest.raises(ValueError):
        grammar.arguments({"arguments": arguments})


def test_numbers_that_are_none_are_kept_as_text_so_that_the_call_can_be_stored() -> None:
    (call,) = read('<tool_call>{"a": [NaN, Infinity, -Infinity, 1e400, 1.5]}</tool_call>')
    assert call == {"a": ["NaN", "Infinity", "-Infinity", "1e400", 1.5]}
    json.dumps(call, allow_nan=False)


@given(st.lists(st.sampled_from([*"<>/{}[]\"',:1a \n", "<tool_call>", "</tool_call>", "<think>", "</think>", CALL])).map("".join))
def test_any_text_is_read_without_a_fault_and_places_are_right(text: str) -> None:
    for index, call in enumerate(grammar.calls(text, "tool_call")):
        assert call.index == index
        assert text.startswith("<tool_call>", call.start)


def test_nothing_is_evaluated() -> None:
    def refuse(event: str, *_: object) -> None:
        if armed and event in ("os.system", "subprocess.Popen", "open", "import", "exec", "compile"):
            raise AssertionError(event)

    armed = False
    sys.addaudithook(refuse)
    for name in ("qwen3_vl", "deepeyes", "mini_o3", "pixel_reasoner"):
        tool = interface(name)
        armed = True
        found = tool.calls(f"<{tool.tag}>__import__('os').system('true')</{tool.tag}>")  # type: ignore[attr-defined]
        error = tool.execute(found[0], []).error
        armed = False
        assert error is not None
        assert error.startswith("malformed")
