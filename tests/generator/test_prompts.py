"""The wording is the instrument: every system prompt is a literal file here, and every sentence of it stands in the paper."""

import re
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import DataError
from generator.items import Item
from generator.prompts import Image, Text, render, wordings

GOLDEN = Path(__file__).parent / "golden"
MAXFLOW_INPUTS = {
    "text": "[[0, 2], [0, 0]]",
    "image": "d1",
    "source_node": 0,
    "sink_node": 3,
    "source_node_color": "red",
    "sink_node_color": "blue",
}
CAMERAS = ("CAM_FRONT", "CAM_FRONT_RIGHT", "CAM_BACK_RIGHT", "CAM_BACK", "CAM_BACK_LEFT", "CAM_FRONT_LEFT")
OPTIONS = {"B": "A red light ahead", "A": "A pedestrian", "C": "A bus", "D": "Nothing"}
QUESTION = """Why would the ego slow down here?
A. A pedestrian
B. A red light ahead
C. A bus
D. Nothing"""


def an_item(task: str, inputs: dict[str, Any], annotation: dict[str, Any] | None = None) -> Item:
    return Item(f"{task}/7", task, f"{task}/7", None, inputs, annotation or {}, "synth", "0" * 64)


ITEMS = {
    "isobench/math_parity": an_item("isobench/math_parity", {"text": "$$f(x) = x^{3}$$", "code": "f(x) = x**3", "image": "p1"}),
    "isobench/graph_maxflow": an_item("isobench/graph_maxflow", MAXFLOW_INPUTS),
    "mmimdb": an_item("mmimdb", {"title": "Harbour Lights", "plot": "A longer synopsis.", "image": "m1"}),
    "goldenview": an_item(
        "goldenview",
        {"question": "Why would the ego slow down here?", "images": {camera: camera.lower() for camera in CAMERAS}},
        {
            "set_a": ["CAM_FRONT", "CAM_BACK", "CAM_FRONT_LEFT"],
            "set_b": ["CAM_BACK_LEFT", "CAM_FRONT_RIGHT", "CAM_BACK_RIGHT"],
            "options": OPTIONS,
        },
    ),
}
CONDITIONS = [(task, arm, template) for task in ITEMS for arm, template in wordings()[task].conditions()]


def golden_name(task: str, arm: str, template: str) -> str:
    if task == "goldenview" and template == "plain":
        return "goldenview.plain.txt"
    return f"{task.replace('/', '_')}.{arm}.{template}.txt"


def system(task: str, arm: str, template: str) -> str:
    return render(task, arm, template, ITEMS[task]).system


@pytest.mark.parametrize(("task", "arm", "template"), CONDITIONS)
def test_a_system_prompt_is_its_golden_file_to_the_byte(task: str, arm: str, template: str) -> None:
    assert system(task, arm, template) == (GOLDEN / golden_name(task, arm, template)).read_bytes().decode()


def test_thirteen_conditions_make_25_pairs_and_23_distinct_prompts() -> None:
    assert len({(task, arm) for task, arm, _ in CONDITIONS}) == 13
    assert len(CONDITIONS) == 25  # the title has no assess prompt
    assert ("mmimdb", "title", "assess") not in CONDITIONS
    distinct = {task: {system(*condition) for condition in CONDITIONS if condition[0] == task} for task in ITEMS}
    assert {task: len(texts) for task, texts in distinct.items()} == {
        "mmimdb": 7,
        "isobench/math_parity": 6,
        "isobench/graph_maxflow": 6,
        "goldenview": 4,
    }
    assert len(set().union(*distinct.values())) == 23
    assert len(list(GOLDEN.iterdir())) == 23


def test_no_prompt_asks_the_same_with_and_without_a_self_report() -> None:
    for task, arm, template in CONDITIONS:
        if template == "assess":
            assert system(task, arm, "plain") != system(task, arm, "assess")


def test_the_three_plain_goldenview_conditions_share_one_prompt() -> None:
    assert len({system("goldenview", arm, "plain") for arm in ("AB", "A", "B")}) == 1


LABELS = {
    ("mmimdb", "AB"): ["ANSWER", "PLOT_ALONE", "POSTER_ALONE"],
    ("mmimdb", "A"): ["ANSWER", "WITH_POSTER", "SUFFICIENCY"],
    ("mmimdb", "B"): ["ANSWER", "WITH_PLOT", "SUFFICIENCY"],
    ("isobench/math_parity", "AB"): ["ANSWER", "TEXT_ALONE", "IMAGE_ALONE"],
    ("isobench/math_parity", "A"): ["ANSWER", "WITH_IMAGE", "SUFFICIENCY"],
    ("isobench/math_parity", "B"): ["ANSWER", "WITH_TEXT", "SUFFICIENCY"],
    ("isobench/graph_maxflow", "AB"): ["ANSWER", "TEXT_ALONE", "IMAGE_ALONE"],
    ("isobench/graph_maxflow", "A"): ["ANSWER", "WITH_IMAGE", "SUFFICIENCY"],
    ("isobench/graph_maxflow", "B"): ["ANSWER", "WITH_TEXT", "SUFFICIENCY"],
    ("goldenview", "AB"): ["ANSWER", "SET_A_ALONE", "SET_B_ALONE"],
    ("goldenview", "A"): ["ANSWER", "WITH_SET_B", "SUFFICIENCY"],
    ("goldenview", "B"): ["ANSWER", "WITH_SET_A", "SUFFICIENCY"],
}


@pytest.mark.parametrize(("task", "arm"), LABELS)
def test_an_assess_prompt_ends_in_its_three_labels_in_order(task: str, arm: str) -> None:
    last_lines = system(task, arm, "assess").splitlines()[-3:]
    assert [line.partition(":")[0] for line in last_lines] == LABELS[task, arm]


def test_the_matrix_convention_and_the_colours_stand_only_where_that_input_is_supplied() -> None:
    for template in ("plain", "assess"):
        both, text, image = (system("isobench/graph_maxflow", arm, template) for arm in ("AB", "A", "B"))
        assert ("entry (i, j)" in text, "filled red" in text) == (True, False)
        assert ("entry (i, j)" in image, "filled red" in image) == (False, True)
        assert ("entry (i, j)" in both, "filled red and the sink node is filled blue" in both) == (True, True)
        assert all("from node 0 to node 3." in prompt for prompt in (both, text, image))


WITHHELD_NAMES = {"mmimdb": ("plot", "poster"), "isobench/math_parity": ("LaTeX", "plot"), "isobench/graph_maxflow": ("matrix", "drawing")}


def test_a_plain_prompt_never_names_an_input_that_is_withheld() -> None:
    for task, names in WITHHELD_NAMES.items():
        assert names[1] not in system(task, "A", "plain")
        assert names[0] not in system(task, "B", "plain")


def test_per_instance_spans_follow_the_item() -> None:
    item = an_item("isobench/graph_maxflow", {**MAXFLOW_INPUTS, "sink_node": 4, "sink_node_color": "green"})
    text = render(item.task, "B", "plain", item).system
    assert "from node 0 to node 4." in text
    assert "the sink node is filled green;" in text


def test_a_user_message_is_the_raw_inputs_with_the_image_first() -> None:
    item = ITEMS["isobench/graph_maxflow"]
    assert render(item.task, "AB", "plain", item).parts == (Image("d1"), Text("[[0, 2], [0, 0]]"))
    assert render(item.task, "A", "assess", item).parts == (Text("[[0, 2], [0, 0]]"),)
    assert render(item.task, "B", "plain", item).parts == (Image("d1"),)
    film = ITEMS["mmimdb"]
    assert render("mmimdb", "AB", "assess", film).parts == (Image("m1"), Text("A longer synopsis."))
    assert render("mmimdb", "title", "plain", film).parts == (Text("Harbour Lights"),)


@pytest.mark.parametrize("template", ["plain", "assess"])
def test_a_goldenview_message_introduces_each_image_and_names_the_withheld_cameras_under_one_set(template: str) -> None:
    item = ITEMS["goldenview"]
    set_a = (
        Text("Set A, CAM_FRONT:"),
        Image("cam_front"),
        Text("Set A, CAM_BACK:"),
        Image("cam_back"),
        Text("Set A, CAM_FRONT_LEFT:"),
        Image("cam_front_left"),
    )
    set_b = (
        Text("Set B, CAM_FRONT_RIGHT:"),
        Image("cam_front_right"),
        Text("Set B, CAM_BACK_RIGHT:"),
        Image("cam_back_right"),
        Text("Set B, CAM_BACK_LEFT:"),
        Image("cam_back_left"),
    )
    without_b = "Withheld cameras: CAM_FRONT_RIGHT, CAM_BACK_RIGHT, CAM_BACK_LEFT."
    without_a = "Withheld cameras: CAM_FRONT, CAM_BACK, CAM_FRONT_LEFT."
    assert render("goldenview", "AB", template, item).parts == (*set_a, *set_b, Text(QUESTION))
    assert render("goldenview", "A", template, item).parts == (*set_a, Text(f"{without_b}\n\n{QUESTION}"))
    assert render("goldenview", "B", template, item).parts == (*set_b, Text(f"{without_a}\n\n{QUESTION}"))


def test_the_digest_covers_system_and_text_and_not_the_image() -> None:
    item = ITEMS["isobench/math_parity"]
    digest = render(item.task, "AB", "plain", item).prompt_sha256
    for change, same in (({"image": "p2"}, True), ({"text": "$$f(x) = x$$"}, False)):
        changed = an_item(item.task, {**item.inputs, **change})
        assert (render(item.task, "AB", "plain", changed).prompt_sha256 == digest) is same
    assert render(item.task, "AB", "assess", item).prompt_sha256 != digest


def test_an_item_that_lacks_an_input_is_named() -> None:
    item = an_item("isobench/math_parity", {"text": "x"})
    with pytest.raises(DataError, match="item isobench/math_parity/7 has no input 'image', which arm B sends"):
        render(item.task, "B", "plain", item)


def squeezed(text: str) -> str:
    """Without white space, mark-up of varying spans and typographic quotes: what survives the paper's extraction."""
    text = re.sub(r"@\[(.*?)\]@", r"\1", text)
    return re.sub(r"\s+", "", text.replace("’", "'").replace("“", '"').replace("”", '"'))


@pytest.mark.parametrize(("task", "arm", "template"), CONDITIONS)
def test_every_sentence_of_a_prompt_stands_in_the_paper(shared: Path, task: str, arm: str, template: str) -> None:
    paper = squeezed(next((shared / "seeds").glob("000_*.txt")).read_text(encoding="utf-8"))
    sentences = [part for line in system(task, arm, template).splitlines() for part in re.split(r"(?<=\.) (?=[A-Z])", line) if part]
    assert len(sentences) >= 2
    assert [sentence for sentence in sentences if squeezed(sentence) not in paper] == []


@pytest.mark.parametrize(("task", "arm", "template"), CONDITIONS)
def test_a_prompt_is_a_description_and_a_closing_block_of_the_paper(shared: Path, task: str, arm: str, template: str) -> None:
    paper = squeezed(next((shared / "seeds").glob("000_*.txt")).read_text(encoding="utf-8"))
    wording = wordings()[task]
    closing = wording.closing[template]
    assert squeezed(closing if isinstance(closing, str) else closing[arm]) in paper
    assert wording.conditions().count((arm, template)) == 1
