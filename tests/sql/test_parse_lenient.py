"""The forgiving rules: spelling and prose are read where they are clear, and nothing is guessed."""

from __future__ import annotations

import pytest

from tests.sql.calls import Row, body, call, fields, session

PARITY, FLOW, FILMS, VIEWS = "isobench/math_parity", "isobench/graph_maxflow", "mmimdb", "goldenview"
MISSING, EMPTY, TWICE, RANGE, MALFORMED = "missing", "empty", "duplicate_label", "out_of_range", "malformed"
REASONS = {MISSING, EMPTY, TWICE, RANGE, MALFORMED}

# task, template, text, and what ANSWER is: its value, or the reason why it is lost
CASES = [
    # FIELD_CASES
    (VIEWS, "plain", "**ANSWER:** B", "B"),
    (VIEWS, "plain", "***Answer***: *B*", "B"),
    (VIEWS, "plain", "ANSWER: $B$", "B"),
    (VIEWS, "plain", "Answer seems odd.\nANSWER: A", "A"),
    (VIEWS, "plain", "ANSWER: E", RANGE),
    (VIEWS, "plain", "ANSWER: B or C", MALFORMED),
    (VIEWS, "plain", "ANSWER: A\nANSWER: B", TWICE),
    (VIEWS, "plain", "ANSWER\uff1a\uff22", "B"),
    (VIEWS, "plain", "ANSWER: B\u00a0", "B"),
    (VIEWS, "plain", "ANSWER: B\r\n", "B"),
    (VIEWS, "plain", "I am not sure.", MISSING),
    (FILMS, "assess", "ANSWER: ['Drama', 'Crime']", '["Crime","Drama"]'),
    (FILMS, "assess", 'ANSWER: ["Drama", "News"]', RANGE),
    (FILMS, "assess", "ANSWER: ['Drama', 'News']", RANGE),
    (FILMS, "assess", "ANSWER: []", EMPTY),
    (FLOW, "plain", "\\boxed{\\frac{1}{2}}", MALFORMED),
    (FLOW, "plain", "\\boxed{3} no, \\boxed{4}", "4"),
    # labels of an assess prompt
    (VIEWS, "assess", "**ANSWER:** B", "B"),
    (VIEWS, "assess", "***Answer***: *B*", "B"),
    (VIEWS, "assess", "# Answer: (b)", "B"),
    (VIEWS, "assess", "- **Final answer**: `B`.", "B"),
    (VIEWS, "assess", "2. ANSWER : **B**", "B"),
    (VIEWS, "assess", "ANSWER: $\\boxed{\\text{B}}$", "B"),
    (VIEWS, "assess", "ANSWER: B. The car slows", "B"),
    (VIEWS, "assess", "ANSWER: B or C", MALFORMED),
    (VIEWS, "assess", "ANSWER: B, C", MALFORMED),
    (VIEWS, "assess", "ANSWER: E", RANGE),
    (VIEWS, "assess", "**ANSWER:** A\nANSWER: B", TWICE),
    (VIEWS, "assess", "The answer is B.", MISSING),
    (VIEWS, "assess", "**ANSWER:**", EMPTY),
    (FLOW, "assess", "ANSWER: \\boxed{7}", "7"),
    (FLOW, "assess", "ANSWER: \\boxed{3} no, \\boxed{4}", "4"),
    (FLOW, "assess", "ANSWER: \\boxed{\\frac{1}{2}}", MALFORMED),
    (FLOW, "assess", "ANSWER: 12 units", "12"),
    (FLOW, "assess", "ANSWER: -3", "-3"),
    (FLOW, "assess", "ANSWER: 3*4", MALFORMED),
    (FLOW, "assess", "ANSWER: 5.0", MALFORMED),
    (FLOW, "assess", "ANSWER: \uff11\uff12", "12"),
    (PARITY, "assess", "Answer: an odd function", "odd"),
    (PARITY, "assess", "Answer: neither even nor odd.", "neither"),
    (PARITY, "assess", "Answer: not even", MALFORMED),
    (PARITY, "assess", "Answer: even or odd", MALFORMED),
    (FILMS, "assess", "**ANSWER:** [\u201cDrama\u201d, \u201cCrime\u201d]", '["Crime","Drama"]'),
    (FILMS, "assess", "ANSWER: [Drama, Film-Noir]", '["Drama","Film-Noir"]'),
    (FILMS, "assess", 'ANSWER: `["Drama"]`', '["Drama"]'),
    (FILMS, "assess", 'ANSWER: ["Drama",]', '["Drama"]'),
    (FILMS, "assess", "ANSWER: Drama", MALFORMED),
    # a bare array
    (FILMS, "plain", '["Drama", "Crime"]', '["Crime","Drama"]'),
    (FILMS, "plain", "```json\n['Drama',\n 'Crime']\n```", '["Crime","Drama"]'),
    (FILMS, "plain", "Genres: [Drama, Crime]", '["Crime","Drama"]'),
    (FILMS, "plain", "['News']", RANGE),
    (FILMS, "plain", "[]", EMPTY),
    (FILMS, "plain", "A drama.", MISSING),
    # parity in free text
    (PARITY, "plain", "Answer: even", "even"),
    (PARITY, "plain", "**Answer: even**", "even"),
    (PARITY, "plain", "**Answer:** The function has odd symmetry.", "odd"),
    (PARITY, "plain", "# Answer\n\n**Even**", "even"),
    (PARITY, "plain", "Answer - odd", "odd"),
    (PARITY, "plain", "Answer: odd (f(-x) = -f(x))", "odd"),
    (PARITY, "plain", "The answer is: (b) odd", "odd"),
    (PARITY, "plain", "The correct answer is **odd**", "odd"),
    (PARITY, "plain", "Final answer: neith er", "neither"),
    (PARITY, "plain", "Final answer:-neither", "neither"),
    (PARITY, "plain", "Final answer: be NEITHER.", "neither"),
    (PARITY, "plain", "Choice: 'neither'", "neither"),
    (PARITY, "plain", "even", "even"),
    (PARITY, "plain", "Odd.", "odd"),
    (PARITY, "plain", "neither\n\nReasoning: the terms differ.", "neither"),
    (PARITY, "plain", "The final answer is $\\boxed{Odd Symmetry}$.", "odd"),
    (PARITY, "plain", "$\\boxed{\\text{Neither even nor odd}}$", "neither"),
    (PARITY, "plain", "\\boxed{f(x) \\text{ is odd}}", "odd"),
    (PARITY, "plain", "The function is odd.", "odd"),
    (PARITY, "plain", "The plot represents an **odd** function.", "odd"),
    (PARITY, "plain", "The type of symmetry is: neither", "neither"),
    (PARITY, "plain", "So f(-x) = f(x), which means it is an even function.", "even"),
    (PARITY, "plain", "It shows no symmetry at all. Therefore, it is neither.", "neither"),
    (PARITY, "plain", "f is even", "even"),
    (PARITY, "plain", "So $f(x)$ is **an odd function**.", "odd"),
    (PARITY, "plain", "Hence $f$ is clearly odd, as shown.", "odd"),
    (PARITY, "plain", "Thus it's odd", "odd"),
    (PARITY, "plain", "The function shown in the plot is **ODD**.", "odd"),
    (PARITY, "plain", "The graph exhibits even symmetry", "even"),
    (PARITY, "plain", "**Conclusion:** Neither", "neither"),
    (PARITY, "plain", "Parity: odd", "odd"),
    (PARITY, "plain", "The function is neither even nor odd.", "neither"),
    (PARITY, "plain", "The function is neither an even function nor an odd function.", "neither"),
    (PARITY, "plain", "The function is not even and not odd.", "neither"),
    (PARITY, "plain", "The function has neither even nor odd symmetry", "neither"),
    (PARITY, "plain", "The function isn't even, it's odd.", "odd"),
    (PARITY, "plain", "f is an even function because all powers are even", "even"),
    (PARITY, "plain", "Since the numerator is odd and the denominator is even, the function is odd.", "odd"),
    (PARITY, "plain", "It may look even. On reflection the function is odd.", "odd"),
    (PARITY, "plain", "The function is even.\nWait: x^3 changes sign.\nThus the function is neither even nor odd.", "neither"),
    (
        PARITY,
        "plain",
        "- If f(-x) = f(x), the function is EVEN.\n- If f(-x) = -f(x), the function is ODD.\nHere the function is odd.",
        "odd",
    ),
    (PARITY, "plain", "The function is not even.", MISSING),
    (PARITY, "plain", "The function is even or odd.", MISSING),
    (PARITY, "plain", "The function is odd, even, or neither.", MISSING),
    (PARITY, "plain", "The function is both even and odd.", MISSING),
    (PARITY, "plain", "The function seems odd", MISSING),
    (PARITY, "plain", "If f were even then f(-x)=f(x).", MISSING),
    (PARITY, "plain", "I cannot determine whether the function is even or odd.", MISSING),
    (PARITY, "plain", "The numerator is odd. The denominator is even.", MISSING),
    (PARITY, "plain", "The numerator of f is odd.", MISSING),
    (PARITY, "plain", "This is the definition of an odd function.", MISSING),
    (PARITY, "plain", "The function is symmetric about the y-axis.", MISSING),
    (PARITY, "plain", "Answer: not even", MALFORMED),
    (PARITY, "plain", "Answer: even or odd?", MALFORMED),
    (PARITY, "plain", "Answer: even\nAnswer: odd", TWICE),
    (PARITY, "plain", "Answer: odd\n\nThus the function is even.", TWICE),
    (PARITY, "plain", "The function is odd.\nFinal answer: see above", MALFORMED),
    # max-flow in free text
    (FLOW, "plain", "12", "12"),
    (FLOW, "plain", "Maximum flow: 12", "12"),
    (FLOW, "plain", "$\\boxed{12 \\text{ units}}$", "12"),
    (FLOW, "plain", "\\boxed{\\text{Maximum flow} = 12}", "12"),
    (FLOW, "plain", "Initial state: max flow = 0.\nUpdate: `max_flow = 0 + 4 = 4`.\nThe maximum flow found is **5**.", "5"),
    (FLOW, "plain", "`max_flow = 4`", MISSING),
    (FLOW, "plain", "**Maximum Flow = 10**", "10"),
    (FLOW, "plain", "So the max flow is 12 units", "12"),
    (FLOW, "plain", "Answer: $12$", "12"),
    (FLOW, "plain", "answer: 5 + 7 = 12", "12"),
    (FLOW, "plain", "The answer is 12.", "12"),
    (FLOW, "plain", "The final answer is $\\boxed{16}$.", "16"),
    (FLOW, "plain", "Answer: the maximum flow from source 0 to sink 4 is 17 units.", "17"),
    (FLOW, "plain", "The maximum flow from source s = 0 to sink t = 3 is 12.", "12"),
    (FLOW, "plain", "The maximum flow that can be sent from source node 0 to sink node 2 is **6**.", "6"),
    (FLOW, "plain", "Total max flow = 8 + 7 = 15.", "15"),
    (FLOW, "plain", "The maximum flow is 3 (0\u21922) + 3 (0\u21921\u21922) = 6", "6"),
    (FLOW, "plain", "Maximum flow value: 8 units, achieved by sending 8 along 0 -> 2.", "8"),
    (FLOW, "plain", "a maximum flow of 12 is achieved", "12"),
    (FLOW, "plain", "The maximum flow is 12, which equals the capacity of the cut.", "12"),
    (FLOW, "plain", "Current Max Flow = 0 + 3 = 3.\nCurrent Max Flow = 3 + 9 = 12.\nThe maximum flow is 12.", "12"),
    (FLOW, "plain", "Thus the max flow cannot exceed 9, and we achieved 9.", MISSING),
    (FLOW, "plain", "The max flow is at most 12", MISSING),
    (FLOW, "plain", "The maximum flow is limited by the bottleneck, which is 2", MISSING),
    (FLOW, "plain", "The maximum flow through path 0->1 is 3", MISSING),
    (FLOW, "plain", "The maximum flow is 12.5", MISSING),
    (FLOW, "plain", "If both edges were full, the maximum flow would be 9.", MISSING),
    (FLOW, "plain", "The minimum cut is 12", MISSING),
    (FLOW, "plain", "Answer: 3 or 4", MALFORMED),
    (FLOW, "plain", "Answer: 3\nSo the maximum flow is 4.", TWICE),
    # letters in free text
    (VIEWS, "plain", "B", "B"),
    (VIEWS, "plain", "**(B)**", "B"),
    (VIEWS, "plain", "The answer is B.", "B"),
    (VIEWS, "plain", "The answer is B) slow down", "B"),
    (VIEWS, "plain", "The correct option is C because the car stops.", "C"),
    (VIEWS, "plain", "Answer: B. The car stops", "B"),
    (VIEWS, "plain", "\\boxed{A}", "A"),
    (VIEWS, "plain", "Option C is the correct answer.", "C"),
    (VIEWS, "plain", "the answer is a matter of taste", MISSING),
    (VIEWS, "plain", "Option A is wrong.", MISSING),
    (VIEWS, "plain", "Answer: B, C", MALFORMED),
    (VIEWS, "plain", "Answer: B\nFinal answer: C", TWICE),
]


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, str], Row]:
    calls = [call(str(place), body(text), task, "A", template) for place, (task, template, text, _) in enumerate(CASES)]
    return fields(session(calls, settings={"parse.rules": "lenient"}))


@pytest.mark.parametrize("place", range(len(CASES)), ids=[f"{task} {template} {text!r}" for task, template, text, _ in CASES])
def test_what_is_clear_is_read(answers: dict[tuple[str, str], Row], place: int) -> None:
    field, wanted = answers[str(place), "ANSWER"], CASES[place][3]
    assert (field["value"] or field["reason"]) == wanted
    assert (field["ok"], field["rule"]) == (wanted not in REASONS, "lenient")


def test_a_change_of_mind_among_boxes_is_flagged(answers: dict[tuple[str, str], Row]) -> None:
    flagged = {CASES[int(key)][2] for (key, label), row in answers.items() if label == "ANSWER" and row["reason"] == "changed"}
    assert flagged == {"\\boxed{3} no, \\boxed{4}", "ANSWER: \\boxed{3} no, \\boxed{4}"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SUFFICIENT", "SUFFICIENT"),
        ("**Insufficient.**", "INSUFFICIENT"),
        ("Sufficiency: *sufficient*", "SUFFICIENT"),
        ("SUFFICIENCY: SUFFICIENT - the text settles it", "SUFFICIENT"),
        ("SUFFICIENCY: SUFFICIENT or INSUFFICIENT", MALFORMED),
        ("SUFFICIENCY: not sufficient", MALFORMED),
        ("SUFFICIENCY: SUFFICIENT\nINSUFFICIENT", TWICE),
        ("The text is sufficient.", MISSING),
        ("SUFFICIENT - the text settles it.\nINSUFFICIENT - it does not.", MISSING),
    ],
)
def test_a_sufficiency_word_may_stand_alone(text: str, wanted: str) -> None:
    read = fields(session([call("c", body(f"ANSWER: odd\n{text}"), template="assess")], settings={"parse.rules": "lenient"}))
    assert (read["c", "SUFFICIENCY"]["value"] or read["c", "SUFFICIENCY"]["reason"]) == wanted
    assert read["c", "ANSWER"]["value"] == "odd"


@pytest.mark.parametrize(
    "spelling", ["Plot alone", "plot_alone", "PLOT-ALONE", "**Plot Alone**", "PLOT\\_ALONE", "- Plot alone", "\uff30LOT_ALONE"]
)
def test_a_label_may_be_spelled_freely(spelling: str) -> None:
    read = fields(session([call("c", body(f'{spelling}: ["Drama"]'), "mmimdb", "AB", "assess")], settings={"parse.rules": "lenient"}))
    assert {label: row["value"] for (_, label), row in read.items()} == {"ANSWER": None, "PLOT_ALONE": '["Drama"]', "POSTER_ALONE": None}


def test_both_rule_sets_stand_side_by_side() -> None:
    reading = session([call("c", body("**ANSWER:** odd"))])
    assert fields(reading, "parse.strict")["c", "ANSWER"]["reason"] == MISSING
    assert fields(reading, "parse.lenient")["c", "ANSWER"]["value"] == "odd"
    assert fields(reading)["c", "ANSWER"]["rule"] == "strict"
