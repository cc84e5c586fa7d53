"""The mm-IMDb loader, and its twin in the same form."""

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from analysis.errors import DataError
from generator import images
from generator.items import Item, load, mmimdb
from generator.items.synth import mmimdb as synth


def poster(colour: str = "navy", size: tuple[int, int] = (20, 30)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "JPEG")
    return stream.getvalue()


def record(**other: object) -> dict[str, object]:
    return {"title": "Harbour Lights", "year": 1951, "genres": ["Romance", "Drama"], "plot": ["Short one.", "A longer synopsis."], **other}


def write(folder: Path, films: dict[str, dict[str, object]], test: list[object] | None = None) -> Path:
    (folder / "dataset").mkdir(parents=True, exist_ok=True)
    for film_id, film in films.items():
        (folder / "dataset" / f"{film_id}.json").write_text(json.dumps(film))
        (folder / "dataset" / f"{film_id}.jpeg").write_bytes(poster())
    (folder / "split.json").write_text(json.dumps({"train": ["9"], "dev": ["8"], "test": list(films) if test is None else test}))
    return folder


def loaded(source: Path, n: int | None = None) -> list[Item]:
    return list(load(mmimdb.TASK, str(source), images.Store(source / "store"), n))


def test_a_film_is_one_item_and_one_per_summary_all_of_one_cluster(tmp_path: Path) -> None:
    film, first, second = loaded(write(tmp_path, {"0062622": record()}))
    assert [item.item_id for item in (film, first, second)] == ["mmimdb/0062622", "mmimdb/0062622/0", "mmimdb/0062622/1"]
    assert {item.cluster_id for item in (film, first, second)} == {"mmimdb/0062622"}
    assert film.inputs.keys() == {"title", "image"}
    assert second.inputs == {**film.inputs, "plot": "A longer synopsis."}
    assert film.gold == first.gold == ["Drama", "Romance"]
    assert (first.annotation, second.annotation["plot_index"]) == ({"year": 1951, "genres": ["Romance", "Drama"], "plot_index": 0}, 1)
    assert film.source == "mmimdb/dataset/0062622.json"


def test_films_come_in_the_order_of_the_split_and_n_counts_films(tmp_path: Path) -> None:
    source = write(tmp_path, {"3": record(), "1": record(), "2": record()}, test=["2", "3", "1"])
    assert list(dict.fromkeys(item.cluster_id for item in loaded(source))) == ["mmimdb/2", "mmimdb/3", "mmimdb/1"]
    assert list(dict.fromkeys(item.cluster_id for item in loaded(source, n=2))) == ["mmimdb/2", "mmimdb/3"]
    with pytest.raises(DataError, match="holds 3, fewer than the n of 4"):
        loaded(source, n=4)


def test_films_after_the_last_that_is_asked_for_are_not_even_opened(tmp_path: Path) -> None:
    source = write(tmp_path, {"1": record()}, test=["1", "missing"])
    assert len(loaded(source, n=1)) == 3
    with pytest.raises(DataError, match="missing.json cannot be read"):
        loaded(source)


def test_the_first_300_are_taken_unless_more_are_asked_for(tmp_path: Path) -> None:
    source = write(tmp_path, {f"{place:07d}": record(plot=["One."]) for place in range(302)})
    assert len(loaded(source)) == 600
    assert len(loaded(source, n=302)) == 604


def test_genres_outside_the_23_are_ignored_and_spelling_is_the_standard_one(tmp_path: Path) -> None:
    genres = ["News", "sci-fi", "Drama", "Drama", " Film-Noir", "Adult"]
    assert loaded(write(tmp_path, {"1": record(genres=genres)}))[0].gold == ["Drama", "Film-Noir", "Sci-Fi"]


@pytest.mark.parametrize("without", [{"genres": ["News", "Adult"]}, {"genres": []}, {"plot": []}, {"plot": ["", " \n"]}])
def test_a_record_without_a_genre_or_a_plot_is_skipped_and_not_counted(tmp_path: Path, without: dict[str, object]) -> None:
    source = write(tmp_path, {"1": record(**without), "2": record(), "3": record()})
    assert {item.cluster_id for item in loaded(source, n=2)} == {"mmimdb/2", "mmimdb/3"}
    lacking = {key: value for key, value in record().items() if key not in without}
    (source / "dataset" / "1.json").write_text(json.dumps(lacking))
    assert {item.cluster_id for item in loaded(source, n=2)} == {"mmimdb/2", "mmimdb/3"}


def test_an_empty_summary_leaves_the_place_of_the_others(tmp_path: Path) -> None:
    items = loaded(write(tmp_path, {"1": record(plot=["", "Second.", "Third.\u2028Same."])}))
    assert [(item.item_id, item.inputs["plot"]) for item in items[1:]] == [("mmimdb/1/1", "Second."), ("mmimdb/1/2", "Third.\u2028Same.")]


def test_white_space_around_an_id_is_taken_off(tmp_path: Path) -> None:
    assert loaded(write(tmp_path, {"0062622": record()}, test=[" 0062622\n"]))[0].item_id == "mmimdb/0062622"


@pytest.mark.parametrize(
    ("twice", "says"), [([1, "1"], r"1 and '1' in `test` are the same"), (["1", " 1"], r"'1' and ' 1' in `test` are the same")]
)
def test_one_id_twice_is_refused_and_both_are_named(tmp_path: Path, twice: list[object], says: str) -> None:
    with pytest.raises(DataError, match=says):
        loaded(write(tmp_path, {"1": record()}, test=twice))


def test_the_folder_above_the_unpacked_archive_will_do(tmp_path: Path) -> None:
    write(tmp_path / "mmimdb", {"1": record()})
    assert len(loaded(tmp_path)) == 3


@pytest.mark.parametrize(
    ("film", "says"),
    [
        (record(genres="Drama"), "1.json: genres is no list of names"),
        (record(plot="Once."), "1.json: plot is no list of texts"),
        (record(plot=[1]), "1.json: plot is no list of texts"),
        (record(title=None), "1.json has no title"),
        (record(plot=["\ud800"]), "1.json is no valid JSON .*surrogate"),
        ([1], "1.json is no JSON object"),
    ],
)
def test_a_malformed_record_is_one_line(tmp_path: Path, film: dict[str, object], says: str) -> None:
    with pytest.raises(DataError, match=says):
        loaded(write(tmp_path, {"1": film}))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("split.json", None, "split.json cannot be read: No such file"),
        ("split.json", b"{", "split.json is no valid JSON"),
        ("split.json", b"[]", "split.json has no list `test`"),
        ("split.json", b'{"test": ["../../etc/passwd"]}', r"'../../etc/passwd' is no film id"),
        ("dataset/1.json", None, "1.json cannot be read"),
        ("dataset/1.json", b"\xff\xfe{", "1.json is no valid JSON"),
        ("dataset/1.json", b'{"genres": NaN}', "1.json is no valid JSON .NaN"),
        ("dataset/1.jpeg", None, "1.jpeg cannot be read .*take the film out of split.json"),
        ("dataset/1.jpeg", poster()[:200], "^mmimdb/1: the image"),
    ],
)
def test_a_missing_or_damaged_file_is_one_line(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    source = write(tmp_path, {"1": record()})
    (source / name).unlink() if content is None else (source / name).write_bytes(content)
    with pytest.raises(DataError, match=says) as refused:
        loaded(source)
    assert "\n" not in str(refused.value)


# -- the twin


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mmimdb")
    synth.write(folder, 200, seed=3)
    return folder


def test_every_poster_shows_and_every_summary_cues_exactly_the_gold(twin: Path) -> None:
    items = loaded(twin)
    shown = {path.stem: images.truth(path.read_bytes()) for path in (twin / "store").iterdir()}
    assert all(shown[item.inputs["image"]] == {"task": "mmimdb", "gold": item.gold} for item in items)
    assert all(synth.cued(item.inputs["plot"]) == item.gold for item in items if "plot" in item.inputs)
    assert not any(synth.cued(item.inputs["title"]) for item in items)


def test_the_twin_is_distributed_as_the_paper_says(twin: Path) -> None:
    items = loaded(twin)
    films = [item for item in items if "plot" not in item.inputs]
    assert len(films) == 200
    assert 1.85 < (len(items) - 200) / 200 < 2.35  # 2.08 summaries a film, at most 6
    assert 2.2 < sum(len(item.gold) for item in films) / 200 < 2.75  # 2.46 genres a film, at most 7
    heads = [genre for genre, _ in Counter(genre for item in films for genre in item.gold).most_common(3)]
    assert heads[0] == "Drama"
    assert any("News" in item.annotation["genres"] for item in films)


def test_every_genre_has_one_cue_and_no_cue_is_read_as_another() -> None:
    assert tuple(synth.CUES) == mmimdb.GENRES
    assert synth.WEIGHTS.keys() == synth.CUES.keys()
    assert all(synth.cued(sentence) == [genre] for genre, sentence in synth.CUES.items())


def test_posters_are_sent_with_their_truth_also_where_they_are_scaled_down(twin: Path) -> None:
    store = images.Store(twin / "again")
    list(load(mmimdb.TASK, str(twin), store))
    changed = [row for row in store.rows.values() if row["changes"] != "[]"]
    assert 0 < len(changed) < len(store.rows)
    assert all(max(row["width"], row["height"]) <= 768 for row in store.rows.values())
    assert all(images.truth(path.read_bytes())["task"] == "mmimdb" for path in (twin / "again").iterdir())


def test_a_seed_draws_the_same_films(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        synth.write(tmp_path / name, 5, seed)
    a, b, c = ([path.read_bytes() for path in sorted((tmp_path / name).rglob("*.*"))] for name in "abc")
    assert a == b != c
