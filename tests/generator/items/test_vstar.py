"""The V* loader."""

import hashlib
import json
from pathlib import Path

import pytest

from analysis.errors import DataError
from tests.generator.items.pictures import loaded, picture, sizes

ASK = "Answer with the option's letter from the given choices directly."


def question(question_id: object = "7", place: int = 0, **other: object) -> dict[str, object]:
    return {
        "image": f"direct_attributes/sa_{place}.jpg",
        "text": f"What is the color of the kite?\n(A) red\n(B) blue\n(C) green\n(D) white\n{ASK}",
        "category": "direct_attributes",
        "question_id": question_id,
        "label": "B",
        **other,
    }


def write(folder: Path, questions: list[object], targets: object = None) -> Path:
    (folder / "direct_attributes").mkdir(parents=True, exist_ok=True)
    (folder / "test_questions.jsonl").write_text("\n".join(json.dumps(line) for line in questions) + "\n")
    for place in range(3):
        (folder / f"direct_attributes/sa_{place}.jpg").write_bytes(picture(place))
        if targets is not None:
            (folder / f"direct_attributes/sa_{place}.json").write_text(json.dumps(targets))
    return folder


def test_an_item_holds_the_question_its_options_its_gold_letter_and_the_target(tmp_path: Path) -> None:
    targets = {"target_object": ["kite"], "bbox": [[10, 20, 30, 40]], "question": "q", "options": ["blue", "red", "green", "white"]}
    (item,) = loaded("vstar", write(tmp_path / "set", [question()], targets), tmp_path / "store")
    assert (item.item_id, item.task, item.cluster_id, item.gold) == ("vstar/7", "vstar", "vstar/7", "B")
    assert item.inputs == {"question": "What is the color of the kite?", "image": hashlib.sha256(picture(0)).hexdigest()}
    assert item.annotation == {
        "options": {"A": "red", "B": "blue", "C": "green", "D": "white"},
        "category": "direct_attributes",
        "target_object": ["kite"],
        "target_box": [10, 20, 40, 60],
        "target_boxes": [[10, 20, 40, 60]],
    }
    assert (item.source, len(item.source_sha256 or "")) == ("craigwu/vstar_bench/test_questions.jsonl", 64)


def test_images_keep_their_full_size_and_their_bytes(tmp_path: Path) -> None:
    loaded("vstar", write(tmp_path / "set", [question()]), tmp_path / "store")
    assert sizes(tmp_path / "store") == {(1000, 800)}
    assert [path.read_bytes() for path in (tmp_path / "store").iterdir()] == [picture(0)]


def test_several_targets_are_kept_and_enclosed(tmp_path: Path) -> None:
    text = f"Is the dog on the left or right side of the cat?\n(A) left\n(B) right\n{ASK}"
    targets = {"target_object": ["dog", "cat"], "bbox": [[100, 50, 10, 10], [20, 90, 5, 8]]}
    (item,) = loaded("vstar", write(tmp_path / "set", [question(text=text, category="relative_position")], targets), tmp_path / "store")
    assert item.annotation["target_boxes"] == [[100, 50, 110, 60], [20, 90, 25, 98]]
    assert item.annotation["target_box"] == [20, 50, 110, 98]
    assert item.annotation["options"] == {"A": "left", "B": "right"}


def test_without_the_json_beside_the_image_targets_are_unknown(tmp_path: Path) -> None:
    (item,) = loaded("vstar", write(tmp_path / "set", [question()]), tmp_path / "store")
    assert (item.annotation["target_box"], item.annotation["target_object"]) == (None, None)


@pytest.mark.parametrize(
    ("text", "asked", "last"),
    [
        (f"What?\n(A) red\n(B) blue\n{ASK}", "What?", "blue"),
        (f"What?\n(A) red\n(B) blue {ASK}", "What?", "blue"),
        ("What?\n(A) red\n(B) blue", "What?", "blue"),
        ("What?\n(A) red\n(B) blue\nAnswer with the option\u2019s letter from the given choices directly", "What?", "blue"),
        (f"One line.\nWhat (A) thing?\n(A) red\n(B) it is (B) or not\n{ASK}\n", "One line.\nWhat (A) thing?", "it is (B) or not"),
    ],
)
def test_the_sentence_that_asks_for_a_letter_belongs_to_no_option(tmp_path: Path, text: str, asked: str, last: str) -> None:
    (item,) = loaded("vstar", write(tmp_path / "set", [question(text=text)]), tmp_path / "store")
    assert (item.inputs["question"], item.annotation["options"]) == (asked, {"A": "red", "B": last})


def test_ids_may_be_numbers(tmp_path: Path) -> None:
    items = loaded("vstar", write(tmp_path / "set", [question(0), question(1, 1)]), tmp_path / "store")
    assert [item.item_id for item in items] == ["vstar/0", "vstar/1"]


def test_the_file_itself_is_a_source_too(tmp_path: Path) -> None:
    write(tmp_path / "set", [question()])
    assert len(loaded("vstar", tmp_path / "set" / "test_questions.jsonl", tmp_path / "store")) == 1


def without(key: str) -> dict[str, object]:
    return {name: value for name, value in question().items() if name != key}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([question(1), question("1")], r"line 2: the question id '1' is that of line 1 \(1\)"),
        ([without("label")], "line 1: there is no text label; old revisions of craigwu/vstar_bench lack labels"),
        ([without("question_id")], "line 1: there is no question_id"),
        ([question(label="E")], "vstar/7: the answer 'E' is none of the options A, B, C, D"),
        ([question(text=f"What?\n{ASK}")], "vstar/7: there are fewer than two options"),
        ([question(text="What?\n(A) red\n(A) blue")], r"vstar/7: '\(A\) blue' is no option"),
        ([question(text="What?\n(A) red\nblue")], "vstar/7: 'blue' is no option"),
        ([question(image="direct_attributes/none.jpg")], "vstar/7: .*none.jpg cannot be read"),
        ([question(image="../secret.jpg")], "vstar/7: the path '../secret.jpg' leads out of"),
        ([question(image="/etc/passwd")], "vstar/7: the path '/etc/passwd' leads out of"),
        ([[1]], "line 1, is no JSON object"),
    ],
)
def test_a_malformed_question_is_one_line(tmp_path: Path, lines: list[object], says: str) -> None:
    with pytest.raises(DataError, match=says) as refused:
        loaded("vstar", write(tmp_path / "set", lines), tmp_path / "store")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("targets", [[], {}, {"bbox": []}, {"bbox": [1, 2, 3, 4]}, {"bbox": [[1, 2, 3]]}, {"bbox": [[1, 2, 3, "4"]]}])
def test_malformed_targets_are_one_line(tmp_path: Path, targets: object) -> None:
    with pytest.raises(DataError, match=r"sa_0.json: bbox is no list of \[x, y, width, height\]"):
        loaded("vstar", write(tmp_path / "set", [question()], targets), tmp_path / "store")


def test_a_damaged_image_is_named_by_its_item(tmp_path: Path) -> None:
    source = write(tmp_path / "set", [question()])
    (source / "direct_attributes/sa_0.jpg").write_bytes(picture()[: len(picture()) // 2])
    with pytest.raises(DataError, match="^vstar/7: the image is damaged or cut short"):
        loaded("vstar", source, tmp_path / "store")


def test_a_folder_without_questions_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no test_questions.jsonl"):
        loaded("vstar", tmp_path, tmp_path / "store")
