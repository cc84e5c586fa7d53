"""Small picture files for the loaders' tests, and the loading itself."""

import base64
import io
from pathlib import Path

from PIL import Image

from generator import images
from generator.items import Item, load


def picture(level: int = 0, size: tuple[int, int] = (1000, 800), form: str = "JPEG") -> bytes:
    """A picture of one colour that no other level has; larger than the 768 pixels of other tasks."""
    stream = io.BytesIO()
    Image.new("RGB", size, (level, 255 - level, 7)).save(stream, form)
    return stream.getvalue()


def cell(level: int = 0) -> str:
    """The same in base64."""
    return base64.b64encode(picture(level)).decode()


def loaded(task: str, source: Path, store: Path, n: int | None = None) -> list[Item]:
    """The items of a source."""
    return list(load(task, str(source), images.Store(store), n))


def sizes(store: Path) -> set[tuple[int, int]]:
    """Width and height of every image that was kept."""
    found = set()
    for path in store.iterdir():
        with Image.open(path) as image:
            found.add(image.size)
    return found
