"""One normaliser for everything that is sent, and the store that keeps what was sent by its digest.

Policy, the same for every data set (seed 000, B.1 and B.2: RGB, longest side at most 768 px, never enlarged; images that a tool user
crops, seed 001, keep their full size):

1. The EXIF orientation is applied before anything else.
2. The picture becomes 8-bit RGB. Transparency is composited on white, so hidden colour stays hidden; palettes are looked up; CMYK and
   greys are converted; of 16-bit samples the upper 8 bits count. Colour profiles are not applied. 32-bit and floating-point samples
   have no declared range and are refused.
3. A picture longer than `longest` on one side is scaled down to it (Lanczos).
4. An RGB PNG or JPEG that needs none of this is sent byte for byte; everything else is sent as PNG, without metadata.

Refused, with the item's name and before anything is decoded or spent: what is no picture, more than `MOST_PIXELS`, several frames. A
file that ends early is refused when it is decoded, which is always done. The second and later pictures of a multi-picture JPEG (MPO: a
camera's preview, a gain map) are no frames; the first is the photograph.

`changes` says what was done, led by what the source was, so that original and sent digest, size, mode and format are both on record.

Synthetic pictures carry what they show as a JSON object named `vlmaudit` (a PNG text chunk, or a JPEG comment `vlmaudit {…}`), which
simulated subjects read in place of pixels; it goes along when such a picture is re-encoded. Public data sets have none.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import warnings
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PIL import ExifTags, Image, ImageChops, ImageOps, UnidentifiedImageError
from PIL.PngImagePlugin import PngInfo

from analysis.errors import DataError

LONGEST = 768
MOST_PIXELS = 80_000_000
READ_AS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
SENT_AS = {"PNG": "image/png", "JPEG": "image/jpeg"}
SUFFIX = {"image/png": ".png", "image/jpeg": ".jpg"}
TRUTH = "vlmaudit"
PNG_START = b"\x89PNG\r\n\x1a\n"
PNG_END = b"\0\0\0\0IEND\xaeB`\x82"
NO_FILTER, UP = b"\0", b"\2"  # PNG's filters of a row: its samples, or what they differ by from the row above
DEFLATED = 2 << 20  # bytes of an image that quick_png compresses; doing so to a larger one takes longer than to crop and resize it

Step = Callable[[Image.Image], tuple[Image.Image, str | None]]


@dataclass(frozen=True)
class Sent:
    """An image as it is sent. width and height in pixels, n_bytes of `data`; mode and format are Pillow's names; digests are hex."""

    data: bytes
    media_type: str
    image_sha256: str
    source_sha256: str
    width: int
    height: int
    mode: str
    format: str
    n_bytes: int
    changes: list[str]

    def row(self) -> dict[str, Any]:
        """The row of `raw.image`, `changes` as JSON text."""
        row = asdict(self)
        del row["data"], row["media_type"]
        return {**row, "changes": json.dumps(self.changes)}


def normalise(data: bytes, name: str, longest: int | None = LONGEST) -> Sent:
    """The bytes to send for an image file's bytes, by the policy above; the same bytes give the same bytes.

    `longest` is the most pixels on the longer side, None for any number. DataError names `name` where the image is refused.
    """
    picture = _decode(data, name)
    origin = f"from {picture.format} {_depth(picture, data)} {picture.width}x{picture.height}, {len(data)} bytes"
    source_format = picture.format or ""
    carried = truth(data)
    steps: tuple[Step, ...] = (_upright, partial(_rgb, deep=_is_deep(data)), partial(_within, longest=longest))
    changes = []
    for step in steps:
        try:
            picture, change = step(picture)
        except Exception as fault:  # Pillow raises many kinds on hostile metadata and on modes that it cannot convert
            raise DataError(f"{name}: the image cannot be made 8-bit RGB ({_first_line(fault)})") from None
        changes += [change] if change else []
    if source_format not in SENT_AS:
        changes.append(f"{source_format} to PNG")
    if changes:
        data, source_format, source = _png(picture, carried), "PNG", data
        changes.insert(0, origin)
    else:
        source = data
    return Sent(
        data=data,
        media_type=SENT_AS[source_format],
        image_sha256=hashlib.sha256(data).hexdigest(),
        source_sha256=hashlib.sha256(source).hexdigest(),
        width=picture.width,
        height=picture.height,
        mode="RGB",
        format=source_format,
        n_bytes=len(data),
        changes=changes,
    )


def truth(data: bytes) -> dict[str, Any] | None:
    """What a synthetic PNG or JPEG says that it shows; None where it says nothing, as in every public data set."""
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            said = picture.info.get(TRUTH)
            comment = picture.info.get("comment", b"")
        if said is None and isinstance(comment, bytes) and comment.startswith(f"{TRUTH} ".encode()):
            said = comment.decode().removeprefix(f"{TRUTH} ")
        found = json.loads(said) if said is not None else None
    except (OSError, SyntaxError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def png_bytes(picture: Image.Image, said: dict[str, Any] | None) -> bytes:
    """A picture as a PNG, with what it says that it shows."""
    return _png(picture, said)


def quick_png(picture: Image.Image, said: dict[str, Any] | None = None) -> bytes:
    """An RGB picture as a PNG, in a tenth of the time that `png_bytes` takes or less; a large one is not compressed, for that."""
    row_bytes = 3 * picture.width
    is_large = row_bytes * picture.height > DEFLATED
    if not is_large:
        picture = ImageChops.subtract_modulo(picture, picture.crop((0, -1, picture.width, picture.height - 1)))
    samples, row_filter = memoryview(picture.tobytes()), NO_FILTER if is_large else UP
    rows = b"".join(part for start in range(0, len(samples), row_bytes) for part in (row_filter, samples[start : start + row_bytes]))
    deflate = zlib.compressobj(0 if is_large else 1, strategy=zlib.Z_RLE)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", *picture.size, 8, 2, 0, 0, 0)),
        *([] if said is None else [(b"tEXt", f"{TRUTH}\0{json.dumps(said)}".encode())]),
        (b"IDAT", deflate.compress(rows)),
        (b"IDAT", deflate.flush()),
    ]
    return b"".join((PNG_START, *(part for kind, data in chunks for part in _chunk(kind, data)), PNG_END))


def _chunk(kind: bytes, data: bytes) -> tuple[bytes, ...]:
    return struct.pack(">I", len(data)), kind, data, struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


def jpeg_bytes(picture: Image.Image, said: dict[str, Any], quality: int = 90) -> bytes:
    """A picture as a JPEG that says what it shows."""
    encoded = io.BytesIO()
    picture.save(encoded, "JPEG", quality=quality, comment=f"{TRUTH} {json.dumps(said)}".encode())
    return encoded.getvalue()


class Store:
    """The sent images of one run of `items`, each written once, under its digest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: dict[str, dict[str, Any]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, data: bytes, name: str, longest: int | None = LONGEST) -> str:
        """Normalise an image, keep it, and return its image_sha256; DataError names `name` where it is refused."""
        sent = normalise(data, name, longest)
        known = self.rows.get(sent.image_sha256)
        if known is None:
            (self.folder / f"{sent.image_sha256}{SUFFIX[sent.media_type]}").write_bytes(sent.data)
        # Two sources can come out as one image: the smaller digest is kept, so that the row does not depend on the order of adding.
        if known is None or sent.source_sha256 < known["source_sha256"]:
            self.rows[sent.image_sha256] = sent.row()
        return sent.image_sha256


def _decode(data: bytes, name: str) -> Image.Image:
    """Open, judge by the header, then decode wholly."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # our own limit is below the one that Pillow warns about
            picture = Image.open(io.BytesIO(data), formats=READ_AS)
        several = picture.format != "MPO" and getattr(picture, "is_animated", False)
    except Image.DecompressionBombError:
        raise DataError(f"{name}: the image has more than {MOST_PIXELS:,} pixels; scale it down") from None
    except Exception as fault:  # Pillow raises many kinds on bytes that are no picture
        raise DataError(f"{name}: the image cannot be read ({_first_line(fault)}); it must be one of {', '.join(READ_AS)}") from None
    if picture.width * picture.height > MOST_PIXELS:
        raise DataError(f"{name}: the image is {picture.width}x{picture.height}, more than {MOST_PIXELS:,} pixels; scale it down")
    if several:
        raise DataError(f"{name}: the {picture.format} holds several frames; extract the one that is meant")
    try:
        if picture.format == "PNG":
            Image.open(io.BytesIO(data), formats=("PNG",)).verify()
            if PNG_END not in data:
                raise ValueError("it has no end")  # the pixels may all be there, and Pillow be content, but a server need not be
        picture.load()
    except Exception as fault:  # as above, and the file that ends early
        raise DataError(f"{name}: the image is damaged or cut short ({_first_line(fault)}); fetch it again") from None
    return picture


def _first_line(fault: Exception) -> str:
    if isinstance(fault, UnidentifiedImageError):
        return "it is no picture"  # Pillow's own words name an address in memory
    return (str(fault).splitlines() or [""])[0] or type(fault).__name__


def _is_deep(data: bytes) -> bool:
    """Whether a PNG has 16 bits a sample, of which Pillow drops the lower 8 without a word (except in grey)."""
    return data.startswith(b"\x89PNG") and data[24:25] == b"\x10"


def _depth(picture: Image.Image, data: bytes) -> str:
    return f"{picture.mode} 16-bit" if _is_deep(data) else picture.mode


def _upright(picture: Image.Image) -> tuple[Image.Image, str | None]:
    orientation = picture.getexif().get(ExifTags.Base.Orientation)
    if orientation not in range(2, 9):
        return picture, None
    return ImageOps.exif_transpose(picture), f"turned upright from EXIF orientation {orientation}"


def _rgb(picture: Image.Image, deep: bool) -> tuple[Image.Image, str | None]:
    """8-bit RGB; `deep` says that the file had 16-bit samples."""
    mode = picture.mode
    if deep and "transparency" in picture.info:
        raise ValueError("16-bit samples with one transparent value")
    if picture.has_transparency_data:
        over = picture.convert("RGBA")
        white = Image.new("RGBA", over.size, "white")
        return Image.alpha_composite(white, over).convert("RGB"), f"{mode} composited on white"
    if mode.startswith("I;16"):
        # `convert("L")` would clip at 255 where the upper byte is wanted
        return picture.convert("I").point(lambda sample: sample * (1 / 256)).convert("L").convert("RGB"), f"{mode} to 8-bit RGB"
    if mode in ("I", "F"):
        raise ValueError(f"mode {mode} has no declared range")
    if mode != "RGB":
        return picture.convert("RGB"), f"{mode} to RGB"
    return picture, "16-bit to 8-bit RGB" if deep else None


def _within(picture: Image.Image, longest: int | None) -> tuple[Image.Image, str | None]:
    side = max(picture.size)
    if longest is None or side <= longest:
        return picture, None
    width, height = (max(1, round(length * longest / side)) for length in picture.size)
    change = f"scaled from {picture.width}x{picture.height} to {width}x{height}"
    return picture.resize((width, height), Image.Resampling.LANCZOS), change


def _png(picture: Image.Image, said: dict[str, Any] | None) -> bytes:
    chunks = PngInfo()
    if said is not None:
        chunks.add_text(TRUTH, json.dumps(said))
    picture = picture.copy()
    picture.info = {}  # Pillow would write the source's colour profile, resolution and EXIF along
    encoded = io.BytesIO()
    picture.save(encoded, "PNG", pnginfo=chunks)
    return encoded.getvalue()
