"""The VisualProbe loader."""

import hashlib
import json
from pathlib import Path

import pytest

from analysis.errors import DataError
from tests.generator.items.pictures import loaded, picture, sizes


def question(doc_id: object = "vp_hard_1", place: int = 1, **other: object) -> dict[str, object]:
    return {
        "images": [f"VisualProbe_Hard/data/000{place}.jpg"],
        "doc_id": doc_id,
        "problem": "<image>\nWhat number is on the small sign?",
        "solution": "42",
        "data_source": "visual_probe_hard",
        **other,
    }


def write(folder: Path, questions: object) -> Path:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "val.json").write_text(json.dumps(questions))
    for place in (1, 2):
        (folder / f"data/000{place}.jpg").write_bytes(picture(place))
    return folder


def test_an_item_holds_the_question_without_its_mark_and_the_free_text_gold(tmp_path: Path) -> None:
    write(tmp_path / "VisualProbe_Hard", [question(), question("vp_hard_2", 2, solution=" a red bus ")])
    items = loaded("visualprobe/hard", tmp_path, tmp_path / "store")
    assert [(item.item_id, item.cluster_id, item.gold) for item in items] == [
        ("visualprobe/hard/vp_hard_1", "visualprobe/hard/vp_hard_1", "42"),
        ("visualprobe/hard/vp_hard_2", "visualprobe/hard/vp_hard_2", "a red bus"),
    ]
    assert items[0].inputs == {"question": "What number is on the small sign?", "image": hashlib.sha256(picture(1)).hexdigest()}
    assert items[0].annotation == {"data_source": "visual_probe_hard"}
    assert items[0].source == "Mini-o3/VisualProbe_Hard/val.json"
    assert sizes(tmp_path / "store") == {(1000, 800)}


@pytest.mark.parametrize("given_as", [".", "VisualProbe_Hard", "VisualProbe_Hard/val.json"])
def test_questions_are_found_from_the_levels_folder_or_from_above(tmp_path: Path, given_as: str) -> None:
    write(tmp_path / "VisualProbe_Hard", [question()])
    assert len(loaded("visualprobe/hard", tmp_path / given_as, tmp_path / "store")) == 1


@pytest.mark.parametrize("image", ["VisualProbe_Hard/data/0001.jpg", "data/0001.jpg"])
def test_a_level_that_was_downloaded_alone_may_have_any_name(tmp_path: Path, image: str) -> None:
    write(tmp_path / "renamed", [question(images=[image])])
    (item,) = loaded("visualprobe/hard", tmp_path / "renamed", tmp_path / "store")
    assert item.inputs["image"] == hashlib.sha256(picture(1)).hexdigest()


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        ({"a": 1}, "is no list of questions"),
        ([3], "question 0 is no JSON object"),
        ([question(1), question("1")], "question 1: the doc_id '1' occurs before as 1"),
        ([question(None)], "question 0: there is no doc_id"),
        ([question(images=[])], "question 0: images must name exactly one file"),
        ([question(images=["a.jpg", "b.jpg"])], "question 0: images must name exactly one file"),
        ([question(problem="What?")], "question 0: there is no problem with the mark <image>"),
        ([question(solution="")], "question 0: there is no solution"),
        ([question(images=["data/none.jpg"])], "visualprobe/hard/vp_hard_1: .*none.jpg cannot be read"),
        ([question(images=["data/../../secret.jpg"])], "visualprobe/hard/vp_hard_1: the path .* leads out of"),
    ],
)
def test_a_malformed_question_is_one_line(tmp_path: Path, questions: object, says: str) -> None:
    with pytest.raises(DataError, match=says) as refused:
        loaded("visualprobe/hard", write(tmp_path / "VisualProbe_Hard", questions).parent, tmp_path / "store")
    assert "\n" not in str(refused.value)


def test_a_level_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    write(tmp_path / "VisualProbe_Hard", [question()])
    with pytest.raises(DataError, match="has no VisualProbe_Easy/val.json"):
        loaded("visualprobe/easy", tmp_path, tmp_path / "store")
