"""The MME-RealWorld-Lite loader, over its three packagings."""

import csv
import hashlib
import json
from pathlib import Path

import polars
import pytest

from analysis.errors import DataError
from generator.items import Item
from tests.generator.items.pictures import cell, loaded, picture, sizes

TASK = "mme_realworld_lite"
OPTIONS = ["(A) one", "(B) two", "\uff08C\uff09three", "(D) four (or so)", "(E) The image does not feature it."]
LETTERED = {"A": "one", "B": "two", "C": "three", "D": "four (or so)", "E": "The image does not feature it."}


def record(number: int = 1, **other: object) -> dict[str, object]:
    return {
        "Question_id": f"perception/monitoring/Vehicle/counting/{number:04d}",
        "Question Type": "Multiple Choice",
        "Image": f"{number}.jpg",
        "Text": "How many cars are there?",
        "Answer choices": OPTIONS,
        "Ground truth": "C",
        "Category": "Vehicle",
        "Subtask": "Monitoring",
        "Task": "Perception",
        **other,
    }


def row(index: object = 1, image: str | None = None, **other: object) -> dict[str, object]:
    return {
        "index": index,
        "image": cell() if image is None else image,
        "question": "How many cars are there?",
        "multi-choice options": OPTIONS,
        "answer": "C",
        "category": "Perception/Monitoring",
        "l2-category": "Vehicle",
        **other,
    }


def write_json(folder: Path, records: object) -> Path:
    (folder / "data" / "imgs").mkdir(parents=True)
    (folder / "data" / "MME-RealWorld-Lite.json").write_text(json.dumps(records, ensure_ascii=False))
    for number in (1, 2):
        (folder / "data" / "imgs" / f"{number}.jpg").write_bytes(picture(number))
    return folder


def write_tsv(folder: Path, rows: list[dict[str, object]]) -> Path:
    folder.mkdir(exist_ok=True)
    with (folder / "mme_realworld_lite.tsv").open("w", newline="", encoding="utf-8") as stream:
        lines = csv.DictWriter(stream, row().keys(), delimiter="\t")
        lines.writeheader()
        lines.writerows({**each, "multi-choice options": str(each["multi-choice options"])} for each in rows)
    return folder


def write_parquet(folder: Path, shards: list[list[dict[str, object]]], of: int | None = None) -> Path:
    (folder / "data").mkdir(parents=True)
    for place, rows in enumerate(shards):
        renamed = [{"bytes" if name == "image" else name: value for name, value in each.items()} for each in rows]
        polars.DataFrame(renamed).write_parquet(folder / "data" / f"train-{place:05d}-of-{of or len(shards):05d}.parquet")
    return folder


def check(item: Item, item_id: str, image: int) -> None:
    assert (item.item_id, item.cluster_id, item.gold) == (item_id, item_id, "C")
    assert item.inputs == {"question": "How many cars are there?", "image": hashlib.sha256(picture(image)).hexdigest()}
    assert item.annotation["options"] == LETTERED


def test_the_json_packaging(tmp_path: Path) -> None:
    first, second = loaded(TASK, write_json(tmp_path / "set", [record(), record(2, Image="imgs/2.jpg")]), tmp_path / "store")
    check(first, f"{TASK}/perception/monitoring/Vehicle/counting/0001", 1)
    check(second, f"{TASK}/perception/monitoring/Vehicle/counting/0002", 2)
    assert first.annotation == {"options": LETTERED, "category": "Vehicle", "subtask": "Monitoring", "capability": "Perception"}
    assert first.source == "yifanzhang114/MME-RealWorld-Lite/MME-RealWorld-Lite.json"
    assert sizes(tmp_path / "store") == {(1000, 800)}


def test_the_tsv_packaging(tmp_path: Path) -> None:
    first, second = loaded(TASK, write_tsv(tmp_path / "set", [row(10, cell(3)), row(11, cell(3))]), tmp_path / "store")
    check(first, f"{TASK}/10", 3)
    check(second, f"{TASK}/11", 3)
    assert first.annotation == {"options": LETTERED, "category": "Perception/Monitoring", "subtask": "Vehicle"}


@pytest.mark.parametrize("index", [7, "seven"])
def test_the_parquet_packaging(tmp_path: Path, index: object) -> None:
    source = write_parquet(tmp_path / "set", [[row(index, cell(4))], [row(8 if index == 7 else "eight", cell(5))]])
    first, second = loaded(TASK, source, tmp_path / "store")
    check(first, f"{TASK}/{index}", 4)
    assert second.inputs["image"] == hashlib.sha256(picture(5)).hexdigest()
    assert second.source == "yifanzhang114/MME-RealWorld-Lite/train-00001-of-00002.parquet"


def test_a_missing_shard_is_one_line(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "set", [[row()]], of=4)
    with pytest.raises(DataError, match="holds 1 of 4 parquet files"):
        loaded(TASK, source, tmp_path / "store")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([row(1), row(1)], "the id '1' occurs before as '1'"),
        ([row(question="")], f"{TASK}/1: there is no question"),
        ([row(answer="F")], f"{TASK}/1: the answer 'F' is none of the options A, B, C, D, E"),
        ([row(**{"multi-choice options": "__import__('os').system('true')"})], f"{TASK}/1: the options are no list"),
        ([row(**{"multi-choice options": "[" * 5000})], f"{TASK}/1: the options are no list"),
        ([row(**{"multi-choice options": ["(A) one", "two"]})], f"{TASK}/1: 'two' is no option like"),
        ([row(**{"multi-choice options": ["(A) one", 2]})], f"{TASK}/1: 2 is no option like"),
        ([row(image="not base64!")], f"{TASK}/1: the image cell is no base64 text"),
    ],
)
def test_a_malformed_row_is_one_line(tmp_path: Path, rows: list[dict[str, object]], says: str) -> None:
    with pytest.raises(DataError, match=says) as refused:
        loaded(TASK, write_tsv(tmp_path / "set", rows), tmp_path / "store")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("records", "says"),
    [
        ({}, "is no list of questions"),
        ([1], "question 0 is no JSON object"),
        ([record(Question_id="")], "question 0: Question_id is empty"),
        ([record(Image="none.jpg")], "none.jpg cannot be read"),
        ([record(Image="../../x.jpg")], "leads out of"),
        ([record(**{"Answer choices": None})], "the options are no list"),
    ],
)
def test_a_malformed_question_is_one_line(tmp_path: Path, records: object, says: str) -> None:
    with pytest.raises(DataError, match=says) as refused:
        loaded(TASK, write_json(tmp_path / "set", records), tmp_path / "store")
    assert "\n" not in str(refused.value)


def test_a_folder_without_any_packaging_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has none of data/MME-RealWorld-Lite.json"):
        loaded(TASK, tmp_path, tmp_path / "store")
