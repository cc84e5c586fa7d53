"""The images of conversations, by the digest of the bytes that are sent: as data URLs, decoded, and kept where a tool returned them.

data/images/<image_sha256>.png|jpg        what items show (`vlmaudit items` makes the folder, and empties it of everything else)
data/observations/<image_sha256>.png      what tools returned, and what could have been returned instead
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from PIL import Image

from analysis.errors import DataError
from generator import images, tools
from generator.tools import Interface

MEDIA_TYPES = {".png": "image/png", ".jpg": "image/jpeg"}
OBSERVATIONS = "observations"
URL_BYTES, DECODED_BYTES = 256 << 20, 1 << 30  # held in memory: eight to ten decoded images of 8K
FIRSTS = 1000  # items whose first image is remembered

Value = TypeVar("Value")
Encode = Callable[[Image.Image, dict[str, Any] | None], bytes]


class Pictures:
    """The images under a data folder. Any method may be called from several threads."""

    def __init__(self, data: Path) -> None:
        self.folders = (data / "images", data / OBSERVATIONS)
        self._urls: _Recent[bytes] = _Recent(URL_BYTES)
        self._decoded: _Recent[Image.Image] = _Recent(DECODED_BYTES)
        self._firsts: _Recent[dict[str, Any] | None] = _Recent(FIRSTS)

    def data(self, image_sha256: str) -> tuple[bytes, str]:
        """The bytes of an image and their media type; DataError where it is missing or is not itself."""
        return stored(image_sha256, *self.folders)

    def url(self, image_sha256: str) -> bytes:
        """An image as it stands in a request."""
        return self._urls.get(image_sha256, lambda: _sized(data_url(*self.data(image_sha256)).encode()))

    def image(self, image_sha256: str) -> Image.Image:
        """An image decoded, in RGB. It is shared: nobody may change it."""

        def make() -> tuple[Image.Image, int]:
            picture: Image.Image = Image.open(io.BytesIO(self.data(image_sha256)[0]), formats=("PNG", "JPEG"))
            picture.load()
            picture = picture if picture.mode == "RGB" else picture.convert("RGB")
            return picture, 3 * picture.width * picture.height

        return self._decoded.get(image_sha256, make)

    def first(self, image_sha256: str, tool: Interface) -> dict[str, Any] | None:
        """The row of what a tool's family sends first in place of an item's image; None where it sends that itself."""

        def make() -> tuple[dict[str, Any] | None, int]:
            original = self.image(image_sha256)
            first = tool.first_image(original)
            if first is original:
                return None, 1
            # Made once and sent at every turn of every rollout: worth compressing well.
            return self.keep(first, image_sha256, "resized as the tool's family does", images.png_bytes), 1

        return self._firsts.get(f"{tool.name}/{image_sha256}", make)

    def keep(self, picture: Image.Image, source_sha256: str, change: str, encode: Encode = images.quick_png) -> dict[str, Any]:
        """Write an image that was made from the one named; the row of `raw.image`, which says how in `change`."""
        data = tools.encoded(picture, encode)
        image_sha256 = hashlib.sha256(data).hexdigest()
        self._write(self.folders[1] / f"{image_sha256}.png", data)
        self._urls.get(image_sha256, lambda: _sized(data_url(data, MEDIA_TYPES[".png"]).encode()))  # it is about to be sent
        return {
            "image_sha256": image_sha256,
            "source_sha256": source_sha256,
            "width": picture.width,
            "height": picture.height,
            "mode": picture.mode,
            "format": "PNG",
            "n_bytes": len(data),
            "changes": json.dumps([change]),
        }

    def _write(self, path: Path, data: bytes) -> None:
        if path.exists():
            return
        new = path.with_name(f"{path.name}.{threading.get_ident()}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(data)
            os.replace(new, path)
        except OSError as fault:
            raise DataError(f"{path} cannot be written: {fault.strerror}; make room, or make the folder writable") from None


def stored(image_sha256: str, *folders: Path) -> tuple[bytes, str]:
    """The bytes of an image in one of the folders, and their media type; DataError where it is in none, or is not itself."""
    for folder in folders:
        for suffix, media_type in MEDIA_TYPES.items():
            path = folder / f"{image_sha256}{suffix}"
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue
            if hashlib.sha256(data).hexdigest() != image_sha256:
                raise DataError(f"{path} does not hold the bytes that its name says: make the items again with `vlmaudit items`")
            return data, media_type
    raise DataError(f"there is no image {image_sha256} in {folders[0]}: make the items again with `vlmaudit items`")


def data_url(data: bytes, media_type: str) -> str:
    """An image as a chat message carries it."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def _sized(url: bytes) -> tuple[bytes, int]:
    return url, len(url)


class _Recent(Generic[Value]):
    """The values that were asked for last, as many as fit into a size; each is made once while it is held."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._held: OrderedDict[str, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}

    def get(self, key: str, make: Callable[[], tuple[Value, int]]) -> Value:
        """The value of a key; `make` gives it with its size. Who asks for another key meanwhile does not wait."""
        with self._lock:
            if key in self._held:
                return self._again(key)
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._held:
                    return self._again(key)
            value, size = make()
            with self._lock:
                self._size += size - self._held.pop(key, (value, 0))[1]
                self._held[key] = value, size
                while self._size > self._most and len(self._held) > 1:
                    self._size -= self._held.popitem(last=False)[1][1]
                self._making.pop(key, None)
            return value

    def _again(self, key: str) -> Value:
        self._held.move_to_end(key)
        return self._held[key][0]
