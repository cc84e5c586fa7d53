"""mm-IMDb's twin: films whose posters and plot summaries tell all of their genres.

A summary cues a genre by one sentence of `CUES`, and `cued` reads them back: that is what a simulated subject sees in a text. A poster
says its genres in its JPEG comment (`generator.images.truth`), as `gold`. So the right answer can be known in every arm but `title`, and
a rate that is planted in a subject has one true value; which input settles an answer is the subject's own doing. Numbers of genres and
summaries are distributed as in seed 000, B.1.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image, ImageDraw

from generator.images import jpeg_bytes
from generator.items.mmimdb import TASK
from generator.items.synth.seeded import drawn, weighted

CUES = {
    "Action": "Cars explode and fists fly from the first minute to the last.",
    "Adventure": "The journey leads across deserts and oceans to a place on no map.",
    "Animation": "Every frame of it is drawn by hand and painted in bright colours.",
    "Biography": "It follows the true life of a famous person from cradle to grave.",
    "Comedy": "One absurd mix-up leads to the next, and nobody can keep a straight face.",
    "Crime": "A gang plans the robbery while two detectives close in on them.",
    "Documentary": "Archive footage and interviews with witnesses tell what really happened.",
    "Drama": "A family must face the grief that it has kept silent about for years.",
    "Family": "Children and their grandparents will enjoy it side by side.",
    "Fantasy": "A wizard guards the gate behind which dragons still live.",
    "Film-Noir": "In rain and cigarette smoke a weary private eye trusts the wrong woman.",
    "History": "The old empire is falling, and its last court prepares to flee the capital.",
    "Horror": "Something in the cellar feeds at night, and the lights go out one by one.",
    "Music": "The band rehearses for the concert that will decide its future.",
    "Musical": "Whenever words fail them, they burst into song and dance in the street.",
    "Mystery": "Nobody knows who wrote the letters, and each clue points another way.",
    "Romance": "They fall in love at the station and promise to meet again.",
    "Sci-Fi": "On a distant planet the ship's computer begins to doubt its orders.",
    "Short": "It tells all this in under fifteen minutes.",
    "Sport": "The underdog trains for the final match of the season.",
    "Thriller": "Someone is following her, and the clock is running out.",
    "War": "The platoon digs in before the enemy's guns open fire at dawn.",
    "Western": "A gunslinger rides into the frontier town to face the cattle baron.",
}

# How often each genre occurs in 300 films: the first five as in seed 000, B.1, the others falling in the public set's order.
WEIGHTS = {
    "Drama": 152, "Comedy": 86, "Thriller": 72, "Romance": 51, "Crime": 50, "Action": 42, "Adventure": 38, "Horror": 34, "Documentary": 30,
    "Mystery": 26, "Sci-Fi": 24, "Fantasy": 22, "Family": 20, "Biography": 18, "War": 16, "History": 14, "Music": 12, "Animation": 11,
    "Musical": 10, "Western": 9, "Sport": 8, "Short": 7, "Film-Noir": 6,
}  # fmt: skip
GENRE_COUNTS = {1: 22, 2: 36, 3: 25, 4: 11, 5: 4, 6: 1, 7: 1}  # percent of films: 2.5 genres on average
PLOT_COUNTS = {1: 42, 2: 30, 3: 14, 4: 8, 5: 4, 6: 2}  # percent of films: 2.08 summaries on average
POSTERS = ((256, 380), (300, 444), (480, 711), (800, 1185))  # width, height in pixels; the last is longer than what is sent

_SOME = ("Silent", "Crimson", "Hollow", "Northern", "Last", "Golden", "Broken", "Distant", "Paper", "Second", "Winter", "Blue")
_THING = ("Harbour", "Orchard", "Window", "Letter", "Garden", "Bridge", "Mirror", "Season", "Lantern", "River", "Station", "Island")
_OPENINGS = (
    "Set over a single summer, this is the story of {title}.",
    "{title} begins with a stranger at the door.",
    "Nothing in the town is as it was once {title} has begun.",
)


def write(folder: Path, n: int, seed: int) -> None:
    """Write n films as `split.json`, `dataset/<id>.json` and `dataset/<id>.jpeg`, all in the test split."""
    random = drawn(TASK, seed)
    (folder / "dataset").mkdir(parents=True, exist_ok=True)
    films = [f"{place:07d}" for place in range(1, n + 1)]
    for place, film_id in enumerate(films):
        record = _film(random)
        (folder / "dataset" / f"{film_id}.jpeg").write_bytes(_poster(random, record["title"], sorted(record["genres"])))
        if place % 50 == 49:
            record["genres"].append("News")  # a genre outside the 23, which the loader ignores
        (folder / "dataset" / f"{film_id}.json").write_text(json.dumps(record, indent=4), encoding="utf-8")
    (folder / "split.json").write_text(json.dumps({"train": [], "dev": [], "test": films}, indent=8), encoding="utf-8")


def cued(plot: str) -> list[str]:
    """The genres whose sentence stands in a plot summary, sorted."""
    return sorted(genre for genre, sentence in CUES.items() if sentence in plot)


def _film(random: Random) -> dict[str, Any]:
    genres = _distinct(random, WEIGHTS, weighted(random, GENRE_COUNTS))
    title = f"The {random.choice(_SOME)} {random.choice(_THING)}"
    return {
        "title": title,
        "kind": "movie",
        "year": random.randint(1925, 2012),
        "genres": genres,
        "plot": [_plot(random, title, genres) for _ in range(weighted(random, PLOT_COUNTS))],
        "votes": random.randint(20, 200_000),
        "rating": round(random.uniform(2, 9), 1),
    }


def _plot(random: Random, title: str, genres: list[str]) -> str:
    """A summary that cues every genre, each summary of a film in an order of its own."""
    sentences = [CUES[genre] for genre in random.sample(genres, len(genres))]
    return " ".join([random.choice(_OPENINGS).format(title=title), *sentences])


def _poster(random: Random, title: str, shown: list[str]) -> bytes:
    """A title over one coloured disc for each genre that is shown."""
    width, height = random.choice(POSTERS)
    poster = Image.new("RGB", (width, height), tuple(random.randint(20, 90) for _ in range(3)))
    draw = ImageDraw.Draw(poster)
    for place, genre in enumerate(shown):
        hue = 360 * list(CUES).index(genre) // len(CUES)
        x, y = width * (1 + 2 * (place % 3)) // 6, height * (2 + place // 3) // 5
        draw.circle((x, y), width // 8, fill=f"hsl({hue}, 80%, 60%)", outline="white", width=width // 100)
    draw.text((width // 2, height * 5 // 6), title, fill="white", anchor="mm", font_size=width // 14)
    return jpeg_bytes(poster, {"task": TASK, "gold": shown})


def _distinct(random: Random, weights: dict[str, int], count: int) -> list[str]:
    chosen: list[str] = []
    while len(chosen) < count:
        left = {name: weight for name, weight in weights.items() if name not in chosen}
        chosen.append(weighted(random, left))
    return chosen
