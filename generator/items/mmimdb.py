"""mm-IMDb: films with a poster, plot summaries and genres, from `split.json` and `dataset/<id>.json`, `dataset/<id>.jpeg`.

Seed 000, B.1: the films of the test split in the split's order, the first 300 where nothing else is asked. A film is one item of its own
(`mmimdb/0062622`: title and poster) and one per plot summary (`mmimdb/0062622/2`: title, that summary, poster), all of one cluster. Gold
is the film's genres that are among the 23 standard classes, in their spelling, sorted; other genres (News, Adult, Talk-Show, Reality-TV)
are ignored, as by the data set's authors.

As in the authors' own pipeline, a record without a plot summary or without any of the 23 is skipped and counts as none of the n. A
record or a poster that is not there is an error instead: skipping it would make other films the first 300 without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.errors import DataError
from generator.images import Store
from generator.items import table
from generator.items.item import Item

TASK = "mmimdb"
GENRES = (
    "Action", "Adventure", "Animation", "Biography", "Comedy", "Crime", "Documentary", "Drama", "Family", "Fantasy", "Film-Noir", "History",
    "Horror", "Music", "Musical", "Mystery", "Romance", "Sci-Fi", "Short", "Sport", "Thriller", "War", "Western",
)  # fmt: skip
TITLES = ("title", "smart canonical title", "long imdb title")  # keys of a record, the first that it has

_SPELLING = {genre.casefold(): genre for genre in GENRES}


def load(source: Path, store: Store) -> Iterator[list[Item]]:
    """The items of each film: the film's own, then one per plot summary. `source` holds `split.json`, or `mmimdb/split.json`."""
    folder = source if (source / "split.json").is_file() or not (source / "mmimdb").is_dir() else source / "mmimdb"
    for film_id in _test_films(folder / "split.json"):
        path = folder / "dataset" / f"{film_id}.json"
        record = table.json_file(path)
        if not isinstance(record, dict):
            raise DataError(f"{path} is no JSON object")
        gold, plots = _genres(record, path), _plots(record, path)
        if gold and plots:
            yield _film(film_id, record, gold, plots, path, store)


def _film(film_id: str, record: dict[str, Any], gold: list[str], plots: dict[int, str], path: Path, store: Store) -> list[Item]:
    name = f"{TASK}/{film_id}"
    shown = {"title": _title(record, path), "image": store.add(_poster(path.with_suffix(".jpeg")), name)}
    known = {"year": record.get("year"), "genres": record["genres"]}
    digest = table.digest(path)

    def item(item_id: str, inputs: dict[str, Any], annotation: dict[str, Any]) -> Item:
        return Item(item_id, TASK, name, gold, inputs, annotation, f"mmimdb/dataset/{path.name}", digest)

    summaries = [item(f"{name}/{place}", {**shown, "plot": plot}, {**known, "plot_index": place}) for place, plot in plots.items()]
    return [item(name, shown, known), *summaries]


def _test_films(path: Path) -> list[str]:
    """The ids of the test split in order, white space taken off; DataError where one is no file name or occurs twice."""
    split = table.json_file(path)
    listed = split.get("test") if isinstance(split, dict) else None
    if not isinstance(listed, list):
        raise DataError(f"{path} has no list `test` of film ids")
    films: dict[str, object] = {}
    for given in listed:
        film_id = str(given).strip()
        if not re.fullmatch(r"[0-9A-Za-z_-]+", film_id):
            raise DataError(f"{path}: {given!r} is no film id")
        if film_id in films:
            raise DataError(f"{path}: {films[film_id]!r} and {given!r} in `test` are the same film id")
        films[film_id] = given
    return list(films)


def _genres(record: dict[str, Any], path: Path) -> list[str]:
    given = record.get("genres", [])
    if not isinstance(given, list) or not all(isinstance(genre, str) for genre in given):
        raise DataError(f"{path}: genres is no list of names")
    return sorted({_SPELLING[key] for genre in given if (key := genre.strip().casefold()) in _SPELLING})


def _plots(record: dict[str, Any], path: Path) -> dict[int, str]:
    """The summaries by their place in the record, verbatim; empty ones left out."""
    given = record.get("plot", [])
    if not isinstance(given, list) or not all(isinstance(plot, str) for plot in given):
        raise DataError(f"{path}: plot is no list of texts")
    return {place: plot for place, plot in enumerate(given) if plot.strip()}


def _title(record: dict[str, Any], path: Path) -> str:
    for key in TITLES:
        if isinstance(title := record.get(key), str) and title.strip():
            return title
    raise DataError(f"{path} has no title (keys {', '.join(TITLES)})")


def _poster(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise DataError(f"{path} cannot be read ({fault.strerror}); complete the copy, or take the film out of split.json") from None
