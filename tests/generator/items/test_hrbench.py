"""The HR-Bench loader, over TSV and parquet."""

import base64
import csv
import hashlib
import subprocess
import sys
from pathlib import Path

import polars
import pytest

from analysis.errors import DataError
from tests.generator.items.pictures import cell, loaded, picture, sizes

COLUMNS = ("index", "question", "answer", "category", "A", "B", "C", "D", "cycle_category", "image")


def row(index: int, image: str, turn: int = 0, **other: object) -> dict[str, object]:
    """A question about an image with its options turned."""
    options = ["red", "blue", "green", "white"]
    options = options[turn:] + options[:turn]
    letters = dict(zip("ABCD", options, strict=True))
    gold = next(letter for letter, option in letters.items() if option == "green")
    question = 'What colour is\tthe "flag"?\nLook well.'
    texts = {"index": index, "question": question, "answer": gold, "category": "single", **letters, "cycle_category": str(turn)}
    return {**texts, "image": image, **other}


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    if path.suffix == ".parquet":
        polars.DataFrame(rows).write_parquet(path)
        return path
    with path.open("w", newline="") as stream:
        lines = csv.DictWriter(stream, COLUMNS, delimiter="\t")
        lines.writeheader()
        lines.writerows(rows)
    return path


BOTH = pytest.mark.parametrize("form", ["tsv", "parquet"])


@BOTH
def test_the_rotations_of_a_question_are_items_of_one_cluster(tmp_path: Path, form: str) -> None:
    rows = [row(4 * image + turn, cell(image), turn) for image in range(2) for turn in range(4)]
    write(tmp_path / f"hr_bench_4k.{form}", rows)
    items = loaded("hrbench/4k", tmp_path, tmp_path / "store")
    assert [item.item_id for item in items] == [f"hrbench/4k/{index}" for index in range(8)]
    assert [item.cluster_id for item in items] == ["hrbench/4k/0"] * 4 + ["hrbench/4k/4"] * 4
    assert [item.gold for item in items[:4]] == ["C", "B", "A", "D"]
    assert items[1].annotation == {
        "options": {"A": "blue", "B": "green", "C": "white", "D": "red"},
        "category": "single",
        "cycle_category": "1",
    }
    assert items[0].inputs == {"question": 'What colour is\tthe "flag"?\nLook well.', "image": hashlib.sha256(picture(0)).hexdigest()}
    assert items[0].source == f"DreamMr/HR-Bench/hr_bench_4k.{form}"
    assert sizes(tmp_path / "store") == {(1000, 800)}


@BOTH
def test_rotations_that_stand_apart_are_brought_together(tmp_path: Path, form: str) -> None:
    rows = [row(100 * turn + image, cell(image), turn) for turn in range(4) for image in range(3)]
    write(tmp_path / f"hr_bench_8k.{form}", rows)
    items = loaded("hrbench/8k", tmp_path, tmp_path / "store")
    assert [item.item_id.rpartition("/")[2] for item in items[:5]] == ["0", "100", "200", "300", "1"]
    assert len({item.cluster_id for item in items}) == 3


@BOTH
def test_the_first_n_questions_store_the_images_of_no_others(tmp_path: Path, form: str) -> None:
    rows = [row(100 * turn + image, cell(image), turn) for turn in range(4) for image in range(3)]
    write(tmp_path / f"hr_bench_8k.{form}", rows)
    assert len(loaded("hrbench/8k", tmp_path, tmp_path / "store", n=1)) == 4
    assert len(list((tmp_path / "store").iterdir())) == 1


def test_one_question_about_two_images_and_two_about_one_are_two_clusters(tmp_path: Path) -> None:
    rows = [row(0, cell(0)), row(1, cell(1)), row(2, cell(0), question="Another?"), row(3, cell(0), 1)]
    write(tmp_path / "hr_bench_4k.tsv", rows)
    items = loaded("hrbench/4k", tmp_path, tmp_path / "store")
    assert [(item.item_id[-1], item.cluster_id[-1]) for item in items] == [("0", "0"), ("3", "0"), ("2", "2"), ("1", "1")]
    assert len({item.inputs["image"] for item in items}) == 2


@BOTH
def test_a_short_image_cell_names_the_row_that_holds_the_image(tmp_path: Path, form: str) -> None:
    rows = [row(0, "2"), row(1, cell(1)), row(2, cell(0), 1), row(3, "2", 2)]
    write(tmp_path / f"hr_bench_4k.{form}", rows)
    items = loaded("hrbench/4k", tmp_path, tmp_path / "store")
    assert [(item.item_id[-1], item.cluster_id[-1]) for item in items] == [("1", "1"), ("0", "0"), ("2", "0"), ("3", "0")]
    assert items[1].inputs["image"] == hashlib.sha256(picture(0)).hexdigest()


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([row(0, cell()), row(0, cell(), 1)], "row 1: the index 0 occurs twice"),
        ([row(0, "5")], "hrbench/4k/0: its image is that of row '5', which has none"),
        ([row(0, "1"), row(1, "0")], "hrbench/4k/0: its image is that of row '1', which has none"),
        ([row(0, "x" * 65)], "hrbench/4k/0: the image cell is no base64 text"),
        ([row(0, "eHh4" * 20)], "hrbench/4k/0: the image cannot be read"),
        ([row(0, "")], "hrbench/4k/0: image is empty"),
        ([row(0, cell(), B="")], "hrbench/4k/0: B is empty"),
        ([row(0, cell(), answer="E")], "hrbench/4k/0: the answer 'E' is none of the options"),
    ],
)
def test_a_malformed_row_is_one_line(tmp_path: Path, rows: list[dict[str, object]], says: str) -> None:
    write(tmp_path / "hr_bench_4k.tsv", rows)
    with pytest.raises(DataError, match=says) as refused:
        loaded("hrbench/4k", tmp_path, tmp_path / "store")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("form", ["tsv", "parquet"])
def test_a_file_that_is_another_is_one_line(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"hr_bench_4k.{form}"
    path.write_bytes(b"\xff\xfe nothing of the sort")
    with pytest.raises(DataError, match="cannot be read as"):
        loaded("hrbench/4k", tmp_path, tmp_path / "store")
    polars.DataFrame({"index": [1], "question": ["q"]}).write_parquet(path) if form == "parquet" else path.write_text("index\tquestion\n")
    with pytest.raises(DataError, match="has no column answer, category, A, B, C, D, cycle_category, image; it has index, question"):
        loaded("hrbench/4k", tmp_path, tmp_path / "store")


def test_a_version_that_is_not_there_and_a_twin_that_is_none_are_one_line(tmp_path: Path) -> None:
    write(tmp_path / "hr_bench_4k.tsv", [row(0, cell())])
    with pytest.raises(DataError, match="has neither hr_bench_8k.parquet nor .tsv"):
        loaded("hrbench/8k", tmp_path, tmp_path / "store")
    with pytest.raises(DataError, match="hrbench/8k: there is no synthetic twin of it"):
        loaded("hrbench/8k", Path("synth"), tmp_path / "store")


LOAD = """
import resource, sys
from pathlib import Path
from generator import images
from generator.items import hrbench
store = images.Store(Path(sys.argv[2]))
count = sum(len(cluster) for cluster in hrbench.loader("hrbench/8k")(Path(sys.argv[1]), store))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_of_a_tsv_one_image_is_in_memory_at_a_time(tmp_path: Path) -> None:
    """Forty images of 12 million pixels: 36 MB each when decoded, 1.4 GB together."""
    peaks = []
    for n in (1, 40):
        with (tmp_path / "hr_bench_8k.tsv").open("w", newline="") as stream:
            lines = csv.DictWriter(stream, COLUMNS, delimiter="\t")
            lines.writeheader()
            for image in range(n):
                lines.writerow(row(image, base64.b64encode(picture(image, (4000, 3000))).decode()))
        command = [sys.executable, "-c", LOAD, str(tmp_path), str(tmp_path / f"store{n}")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
        count, peak = map(int, done.stdout.split())
        assert count == n
        peaks.append(peak / 1024)
    assert peaks[1] - peaks[0] < 100, peaks
