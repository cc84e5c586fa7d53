"""The GoldenViewVQA loader, and its twin in the same form."""

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from analysis.errors import DataError
from generator import images
from generator.items import Item, goldenview, load
from generator.items.synth import goldenview as synth


def view(colour: tuple[int, int, int], size: tuple[int, int] = (160, 90)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "JPEG")
    return stream.getvalue()


def question(question_id: object = "q1", **other: object) -> dict[str, object]:
    return {
        "question_id": question_id,
        "scene_name": "scene-0999",
        "sample_token": "00112233445566778899aabbccddeeff",
        "frame_idx": "f07",
        "time_s": "3.5",
        "question_group": "causality",
        "question": "Why would the ego slow down here?",
        "views": {camera: f"samples/{camera}/n000-x__{camera}__1.jpg" for camera in sorted(goldenview.CAMERAS)},
        "golden_view": "CAM_FRONT",
        "options": {"D": "four", "A": "one", "B": "two", "C": "three"},
        "gold_answer_id": "B",
        "gold_answer_text": "two",
        **other,
    }


def write(folder: Path, questions: list[object], name: str = "data/eval.jsonl", samples: str = "samples") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    lines = [line if isinstance(line, str) else json.dumps(line) for line in questions]
    (folder / name).write_text("\n".join(lines) + "\n")
    for place, camera in enumerate(goldenview.CAMERAS):
        (folder / samples / camera).mkdir(parents=True, exist_ok=True)
        (folder / samples / camera / f"n000-x__{camera}__1.jpg").write_bytes(view((20 * place, 0, 0)))
    return folder


def loaded(source: Path, n: int | None = None) -> list[Item]:
    return list(load(goldenview.TASK, str(source), images.Store(source / "store" if source.is_dir() else source.parent / "store"), n))


def test_an_item_holds_the_question_its_six_images_and_the_annotation(tmp_path: Path) -> None:
    (item,) = loaded(write(tmp_path, [question()]))
    assert (item.item_id, item.cluster_id, item.gold) == ("goldenview/q1", "goldenview/q1", "B")
    assert item.inputs["question"] == "Why would the ego slow down here?"
    assert tuple(item.inputs["images"]) == goldenview.CAMERAS
    assert len(set(item.inputs["images"].values())) == 6
    assert list(item.annotation["options"].items()) == [("A", "one"), ("B", "two"), ("C", "three"), ("D", "four")]
    assert (item.annotation["golden_view"], item.annotation["frame_idx"], item.annotation["time_s"]) == ("CAM_FRONT", "f07", "3.5")
    assert (item.source, len(item.source_sha256 or "")) == ("GoldenViewVQA/data/eval.jsonl", 64)


def test_the_sets_are_the_first_and_last_three_by_digest_in_clockwise_order() -> None:
    # `printf 42:q1:CAM_FRONT | sha256sum` and so on begin fc17 (FRONT), 319a (FRONT_RIGHT), e6ca (BACK_RIGHT), acea (BACK),
    # aacb (BACK_LEFT), 3a97 (FRONT_LEFT)
    assert goldenview.sets("q1") == (
        ["CAM_FRONT_RIGHT", "CAM_BACK_LEFT", "CAM_FRONT_LEFT"],
        ["CAM_FRONT", "CAM_BACK_RIGHT", "CAM_BACK"],
    )


def test_the_partition_does_not_look_at_the_annotation_and_is_even() -> None:
    counts = Counter(camera for place in range(2000) for camera in goldenview.sets(f"q{place}")[0])
    assert all(900 < counts[camera] < 1100 for camera in goldenview.CAMERAS)


@pytest.mark.parametrize(
    ("name", "samples", "given_as"),
    [
        ("data/eval.jsonl", "samples", "."),
        ("eval.jsonl", "samples", "."),
        ("data/eval.jsonl", "nuscenes/samples", "."),
        ("data/eval.jsonl", "samples", "data/eval.jsonl"),
        ("eval.jsonl", "samples", "eval.jsonl"),
    ],
)
def test_questions_and_images_are_found_in_every_layout(tmp_path: Path, name: str, samples: str, given_as: str) -> None:
    write(tmp_path, [question()], name, samples)
    assert len(loaded(tmp_path / given_as)) == 1


def test_a_link_to_the_nuscenes_folder_will_do(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", [])
    write(tmp_path / "set", [question()], samples="unused")
    (tmp_path / "set" / "samples").symlink_to(tmp_path / "elsewhere" / "samples")
    assert len(loaded(tmp_path / "set")) == 1


@pytest.mark.parametrize(("ids", "named"), [([1, "1"], r"'1' is that of line 1 \(1\)"), (["q", "q"], r"'q' is that of line 1 \('q'\)")])
def test_one_question_id_twice_is_refused_and_both_are_named(tmp_path: Path, ids: list[object], named: str) -> None:
    source = write(tmp_path, [question(ids[0]), question(ids[1], question="Another one?")])
    with pytest.raises(DataError, match=f"line 2: the question id {named}"):
        loaded(source)


def test_a_question_whose_view_is_none_of_the_above_is_kept(tmp_path: Path) -> None:
    (item,) = loaded(write(tmp_path, [question(golden_view="NONE_OF_THE_ABOVE")]))
    assert item.annotation["golden_view"] == "NONE_OF_THE_ABOVE"


def without(key: str) -> dict[str, object]:
    return {name: value for name, value in question().items() if name != key}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 1, is no valid JSON"),
        ("[1]", "line 1, is no JSON object"),
        (without("question_id"), "line 1: there is no question_id"),
        (without("gold_answer_id"), "line 1: there is no text gold_answer_id; `eval.jsonl` has it"),
        (question(gold_answer_id="E"), "line 1: gold_answer_id is 'E', not one of A, B, C, D"),
        (question(golden_view="CAM_TOP"), "line 1: golden_view is 'CAM_TOP'"),
        (question(options={"A": "one"}), "line 1: options must have exactly the texts A, B, C, D"),
        (question(views={"CAM_FRONT": "x.jpg"}), "line 1: views must have exactly the texts CAM_FRONT"),
        (question(views=dict.fromkeys(goldenview.CAMERAS, "samples/none.jpg")), "goldenview/q1: .*samples/none.jpg cannot be read"),
        (question(views=dict.fromkeys(goldenview.CAMERAS, "../secret")), "goldenview/q1: the view '../secret' leads out of"),
        (question(views=dict.fromkeys(goldenview.CAMERAS, "/etc/passwd")), "goldenview/q1: the view '/etc/passwd' leads out of"),
    ],
)
def test_a_malformed_question_is_one_line(tmp_path: Path, line: object, says: str) -> None:
    with pytest.raises(DataError, match=says) as refused:
        loaded(write(tmp_path, [line]))
    assert "\n" not in str(refused.value)


def test_a_damaged_view_is_named_by_question_and_camera(tmp_path: Path) -> None:
    source = write(tmp_path, [question()])
    path = source / "samples" / "CAM_BACK" / "n000-x__CAM_BACK__1.jpg"
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match="^goldenview/q1 CAM_BACK: the image"):
        loaded(source)


def test_a_folder_without_questions_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has neither data/eval.jsonl nor eval.jsonl"):
        loaded(tmp_path)


# -- the twin

N = 24


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("goldenview")
    synth.write(folder, N, seed=5)
    return folder


def test_the_answer_is_seen_in_exactly_the_annotated_view(twin: Path) -> None:
    files = {}
    items = loaded(twin)
    for path in (twin / "store").iterdir():
        files[path.stem] = images.truth(path.read_bytes())
    assert len(items) == N
    for item in items:
        said = {camera: files[digest] for camera, digest in item.inputs["images"].items()}
        assert all(told["camera"] == camera for camera, told in said.items())
        seen = {camera: told["gold"] for camera, told in said.items() if "gold" in told}
        golden = item.annotation["golden_view"]
        assert seen == ({} if golden == "NONE_OF_THE_ABOVE" else {golden: item.gold})
        assert item.annotation["options"][item.gold] == item.annotation["gold_answer_text"]
    assert Counter(item.annotation["golden_view"] for item in items).most_common(1)[0][0] == "CAM_FRONT"


def test_views_are_nuscenes_images_and_are_sent_at_768_px(twin: Path) -> None:
    for path in (twin / "samples").rglob("*.jpg"):
        with Image.open(path) as image:
            assert (image.size, image.format) == ((1600, 900), "JPEG")
        assert path.name.split("__")[1] == path.parent.name
    store = images.Store(twin / "again")
    list(load(goldenview.TASK, str(twin), store, n=2))
    assert {(row["width"], row["height"], row["format"]) for row in store.rows.values()} == {(768, 432, "PNG")}


def test_the_fields_are_the_public_ones(twin: Path) -> None:
    record = json.loads((twin / "data" / "eval.jsonl").read_text().splitlines()[0])
    assert record.keys() == question().keys()
    assert all(type(record[key]) is type(value) for key, value in question().items())


def test_a_seed_draws_the_same_scenes(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        synth.write(tmp_path / name, 2, seed)
    a, b, c = ([path.read_bytes() for path in sorted((tmp_path / name).rglob("*.*"))] for name in "abc")
    assert a == b != c
