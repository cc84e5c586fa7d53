"""The paper's literal rules: what a completion's final text must look like for a label to be read."""

from __future__ import annotations

import pytest

from tests.sql.calls import Row, body, call, fields, session

PARITY, FLOW, FILMS, VIEWS = "isobench/math_parity", "isobench/graph_maxflow", "mmimdb", "goldenview"
MISSING, EMPTY, TWICE, RANGE, MALFORMED = "missing", "empty", "duplicate_label", "out_of_range", "malformed"
REASONS = {MISSING, EMPTY, TWICE, RANGE, MALFORMED}

# task, template, text, and what ANSWER is: its value, or the reason why it is lost
ANSWERS = [
    # FIELD_CASES
    (VIEWS, "plain", "**ANSWER:** B", MISSING),
    (VIEWS, "plain", "***Answer***: *B*", MISSING),
    (VIEWS, "plain", "ANSWER: $B$", MALFORMED),
    (VIEWS, "plain", "Answer seems odd.\nANSWER: A", "A"),
    (VIEWS, "plain", "ANSWER: E", RANGE),
    (VIEWS, "plain", "ANSWER: B or C", MALFORMED),
    (VIEWS, "plain", "ANSWER: A\nANSWER: B", TWICE),
    (FILMS, "assess", 'ANSWER: ["Drama", "Drama", "Crime"]', '["Crime","Drama"]'),
    (FILMS, "assess", "ANSWER: ['Drama', 'Crime']", MALFORMED),
    (FILMS, "assess", 'ANSWER: ["Drama", "News"]', RANGE),
    (FILMS, "assess", "ANSWER: []", EMPTY),
    (VIEWS, "plain", "work work</think>ANSWER: B", "B"),
    (PARITY, "plain", "prose\r\nANSWER: odd\r\n", "odd"),
    (PARITY, "plain", "ANSWER: odd\u00a0", MALFORMED),
    (VIEWS, "plain", "ANSWER\uff1a\uff22", MISSING),
    (PARITY, "plain", "I am not sure.", MISSING),
    # a line that starts with the literal label and holds a value
    (PARITY, "plain", " ANSWER: odd", MISSING),
    (PARITY, "plain", "so ANSWER: odd", MISSING),
    (PARITY, "plain", "answer: odd", MISSING),
    (PARITY, "plain", "ANSWER : odd", MISSING),
    (PARITY, "plain", "ANSWER:odd", "odd"),
    (PARITY, "plain", "ANSWER:\t odd \t\r", "odd"),
    (PARITY, "plain", "ANSWER: odd\x0b\x0c", "odd"),
    (PARITY, "plain", "", MISSING),
    (PARITY, "plain", "ANSWER:", EMPTY),
    (PARITY, "plain", "ANSWER: \t\r\n", EMPTY),
    (PARITY, "plain", "ANSWER: .", EMPTY),
    (PARITY, "plain", "ANSWER:\nANSWER: odd", "odd"),
    (PARITY, "plain", "ANSWER:\n\nodd", EMPTY),
    # one trailing full stop, no regard to case
    (PARITY, "plain", "ANSWER: Odd.", "odd"),
    (PARITY, "plain", "ANSWER: Odd .", "odd"),
    (PARITY, "plain", "ANSWER: odd. \r", "odd"),
    (PARITY, "plain", "ANSWER: odd..", MALFORMED),
    (PARITY, "plain", "ANSWER: NEITHER", "neither"),
    (PARITY, "plain", "ANSWER: periodic", RANGE),
    (PARITY, "plain", "ANSWER: neither even nor odd", MALFORMED),
    (VIEWS, "plain", "ANSWER: b.", "B"),
    (VIEWS, "plain", "ANSWER: AB", RANGE),
    (VIEWS, "plain", "ANSWER: (B)", MALFORMED),
    (VIEWS, "plain", "ANSWER: B.\nANSWER: b", "B"),
    # lines that disagree, an unreadable one included
    (PARITY, "plain", "ANSWER: odd\nANSWER: ODD.", "odd"),
    (PARITY, "plain", "ANSWER: odd\nANSWER: maybe", TWICE),
    (PARITY, "plain", "ANSWER: perhaps\nANSWER: maybe", TWICE),
    (PARITY, "plain", "ANSWER: maybe?\nANSWER: maybe?", MALFORMED),
    (PARITY, "plain", "ANSWER: odd\nprose\nANSWER: even", TWICE),
    # integers
    (FLOW, "plain", "ANSWER: 7", "7"),
    (FLOW, "plain", "ANSWER: +5", "5"),
    (FLOW, "plain", "ANSWER: 05", "5"),
    (FLOW, "plain", "ANSWER: -0", "0"),
    (FLOW, "plain", "ANSWER: 000", "0"),
    (FLOW, "plain", "ANSWER: -007", "-7"),
    (FLOW, "plain", "ANSWER: 12.", "12"),
    (FLOW, "plain", "ANSWER: +7\nANSWER: 07", "7"),
    (FLOW, "plain", "ANSWER: 5.0", MALFORMED),
    (FLOW, "plain", "ANSWER: 1,000", MALFORMED),
    (FLOW, "plain", "ANSWER: seven", MALFORMED),
    (FLOW, "plain", "ANSWER: +-5", MALFORMED),
    (FLOW, "plain", "ANSWER: \u0667", MALFORMED),
    (FLOW, "plain", "ANSWER: 123456789012345678901234567890", "123456789012345678901234567890"),
    # genres behind a label
    (FILMS, "assess", 'ANSWER: ["film-noir","SCI-FI", "War"]', '["Film-Noir","Sci-Fi","War"]'),
    (FILMS, "assess", 'ANSWER: ["Music", "Musical"].', '["Music","Musical"]'),
    (FILMS, "assess", 'ANSWER: ["Crime", "Drama"]\nANSWER: ["drama","crime"]', '["Crime","Drama"]'),
    (FILMS, "assess", 'ANSWER: ["Sci\\u002dFi"]', '["Sci-Fi"]'),
    (FILMS, "assess", 'ANSWER: ["\\ud800"]', RANGE),
    (FILMS, "assess", 'ANSWER: ["a\\"war"]', RANGE),
    (FILMS, "assess", 'ANSWER: ["Drama,Crime"]', RANGE),
    (FILMS, "assess", 'ANSWER: [" Drama"]', RANGE),
    (FILMS, "assess", 'ANSWER: [""]', RANGE),
    (FILMS, "assess", 'ANSWER: ["Drama",]', MALFORMED),
    (FILMS, "assess", 'ANSWER: ["Drama", NaN]', MALFORMED),
    (FILMS, "assess", 'ANSWER: ["Drama", 3]', MALFORMED),
    (FILMS, "assess", 'ANSWER: [["Drama"]]', MALFORMED),
    (FILMS, "assess", 'ANSWER: ["Drama"] because', MALFORMED),
    (FILMS, "assess", 'ANSWER: "Drama"', MALFORMED),
    (FILMS, "assess", "ANSWER: Drama", MALFORMED),
    (FILMS, "assess", "ANSWER: [ ]", EMPTY),
    (FILMS, "assess", 'ANSWER: []\nANSWER: ["Drama"]', TWICE),
    # a plain prompt for genres asks for a bare array: the last span that is valid JSON
    (FILMS, "plain", '["Drama", "Crime"]', '["Crime","Drama"]'),
    (FILMS, "plain", 'I say ["Drama"], no: ["Crime"] is it.', '["Crime"]'),
    (FILMS, "plain", '["Drama"] as in [the plot]', '["Drama"]'),
    (FILMS, "plain", '["Drama"] as in [1]', MALFORMED),
    (FILMS, "plain", '["Drama"] []', EMPTY),
    (FILMS, "plain", '["Drama"] [{"a": 1}]', MALFORMED),
    (FILMS, "plain", '["Drama"] [NaN]', '["Drama"]'),
    (FILMS, "plain", '["Drama"] ["Crime",]', '["Drama"]'),
    (FILMS, "plain", '["Drama"] [{"a": 1,}]', '["Drama"]'),
    (FILMS, "plain", '["Drama"] [{"a": NaN}]', '["Drama"]'),
    (FILMS, "plain", '["Drama"] [{"a": ",} NaN"}]', MALFORMED),
    (FILMS, "plain", '```json\n[\n  "Drama",\n  "Crime"\n]\n```', '["Crime","Drama"]'),
    (FILMS, "plain", '[["Drama"]]', '["Drama"]'),
    (FILMS, "plain", "['Drama']", MISSING),
    (FILMS, "plain", "Drama", MISSING),
    (FILMS, "plain", '["Drama"', MISSING),
    (FILMS, "plain", 'ANSWER: ["Drama"]', '["Drama"]'),
    (FILMS, "plain", '["News"]', RANGE),
]


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, str], Row]:
    calls = [call(str(place), body(text), task, "A", template) for place, (task, template, text, _) in enumerate(ANSWERS)]
    return fields(session(calls))


@pytest.mark.parametrize("place", range(len(ANSWERS)), ids=[f"{task} {text!r}" for task, _, text, _ in ANSWERS])
def test_an_answer_is_read_to_the_letter(answers: dict[tuple[str, str], Row], place: int) -> None:
    field, wanted = answers[str(place), "ANSWER"], ANSWERS[place][3]
    if wanted in REASONS:
        assert (field["ok"], field["value"], field["reason"]) == (False, None, wanted)
    else:
        assert (field["ok"], field["value"], field["reason"]) == (True, wanted, None)


FLAGS = [
    ("SUFFICIENCY: SUFFICIENT", "SUFFICIENT"),
    ("SUFFICIENCY: insufficient.", "INSUFFICIENT"),
    ("SUFFICIENT", MISSING),
    ("SUFFICIENCY: SUFFICIENT or INSUFFICIENT", MALFORMED),
    ("SUFFICIENCY: maybe", RANGE),
    ("SUFFICIENCY: not sufficient", MALFORMED),
    ("SUFFICIENCY:", EMPTY),
    ("Sufficiency: SUFFICIENT", MISSING),
    ("SUFFICIENCY: SUFFICIENT\nSUFFICIENCY: INSUFFICIENT", TWICE),
]


def test_a_flag_is_one_of_two_words() -> None:
    read = fields(session(call(text, body(f"ANSWER: odd\n{text}"), template="assess") for text, _ in FLAGS))
    assert [(read[text, "SUFFICIENCY"]["value"] or read[text, "SUFFICIENCY"]["reason"]) for text, _ in FLAGS] == [
        wanted for _, wanted in FLAGS
    ]


def test_a_label_is_read_beside_the_others() -> None:
    text = 'ANSWER: ["War"]\nPlot alone: ["Drama"]\nPLOT_ALONE: ["Crime"]\nPOSTER_ALONE: \nPOSTER: ["Drama"]\nWITH_PLOT: ["Drama"]'
    read = fields(session([call("c", body(text), "mmimdb", "AB", "assess")]))
    assert {label: row["value"] or row["reason"] for (_, label), row in read.items()} == {
        "ANSWER": '["War"]',
        "PLOT_ALONE": '["Crime"]',
        "POSTER_ALONE": "empty",
    }


def test_letters_are_those_the_item_offers() -> None:
    offered = [
        {"item_id": "two", "task": "goldenview", "cluster_id": "two", "annotation": {"options": {"A": "left", "b": "right"}}},
        {"item_id": "none", "task": "goldenview", "cluster_id": "none", "annotation": {}},
    ]
    calls = [call(f"{item} {said}", body(f"ANSWER: {said}"), "goldenview", item_id=item) for item in ("two", "none") for said in "BCE"]
    read = fields(session(calls, offered))
    assert {key: row["value"] or row["reason"] for (key, _), row in read.items()} == {
        "two B": "B",
        "two C": RANGE,
        "two E": RANGE,
        "none B": "B",
        "none C": "C",
        "none E": RANGE,
    }


@pytest.mark.parametrize(
    ("task", "arm", "template", "labels"),
    [
        ("mmimdb", "AB", "assess", ["ANSWER", "PLOT_ALONE", "POSTER_ALONE"]),
        ("mmimdb", "A", "assess", ["ANSWER", "WITH_POSTER", "SUFFICIENCY"]),
        ("mmimdb", "B", "assess", ["ANSWER", "WITH_PLOT", "SUFFICIENCY"]),
        ("mmimdb", "title", "plain", ["ANSWER"]),
        ("mmimdb", "title", "assess", []),
        ("isobench/math_parity", "AB", "assess", ["ANSWER", "TEXT_ALONE", "IMAGE_ALONE"]),
        ("isobench/graph_maxflow", "A", "assess", ["ANSWER", "WITH_IMAGE", "SUFFICIENCY"]),
        ("isobench/graph_maxflow", "B", "assess", ["ANSWER", "WITH_TEXT", "SUFFICIENCY"]),
        ("isobench/math_parity", "title", "plain", []),
        ("goldenview", "AB", "assess", ["ANSWER", "SET_A_ALONE", "SET_B_ALONE"]),
        ("goldenview", "A", "assess", ["ANSWER", "WITH_SET_B", "SUFFICIENCY"]),
        ("goldenview", "B", "assess", ["ANSWER", "WITH_SET_A", "SUFFICIENCY"]),
        ("goldenview", "B", "plain", ["ANSWER"]),
        ("vstar", "A", "plain", []),
    ],
)
def test_a_prompt_asks_for_these_labels_in_this_order(task: str, arm: str, template: str, labels: list[str]) -> None:
    rows = session([]).rows(
        "SELECT label FROM parse.label WHERE task = ? AND arm = ? AND template = ? ORDER BY position", [task, arm, template]
    )
    assert [row["label"] for row in rows] == labels


def test_what_was_written_is_kept_beside_what_it_means() -> None:
    read = fields(session([call("once", body("ANSWER:  Odd. ")), call("twice", body("ANSWER: odd\nANSWER: x y"))]))
    once, twice = read["once", "ANSWER"], read["twice", "ANSWER"]
    assert (once["raw_value"], once["value"], once["rule"]) == ("Odd", "odd", "strict")
    assert (twice["raw_value"], twice["value"], twice["rule"]) == ("odd | x y", None, "strict")
