"""The image rows of what real files do, one promise each, on files made here."""

import contextlib
import hashlib
import io
import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from analysis.errors import DataError
from generator import images


def encoded(picture: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()


def opened(sent: images.Sent) -> Image.Image:
    return Image.open(io.BytesIO(sent.data))


def photograph(width: int = 64, height: int = 48) -> Image.Image:
    """Red on the left, blue on the right, a green top edge: every turn and flip of it is another picture."""
    picture = Image.new("RGB", (width, height), "red")
    picture.paste("blue", (width // 2, 0, width, height))
    picture.paste("lime", (0, 0, width, height // 8))
    return picture


def near(pixel: object, colour: tuple[int, int, int], by: int = 12) -> bool:
    return isinstance(pixel, tuple) and all(abs(a - b) <= by for a, b in zip(pixel, colour, strict=True))


def png_header(width: int, height: int) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 16)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_an_rgb_picture_that_needs_no_change_is_sent_byte_for_byte(kind: str) -> None:
    data = encoded(photograph(), kind)
    sent = images.normalise(data, "x/1")
    assert sent.data == data
    assert sent.image_sha256 == sent.source_sha256 == hashlib.sha256(data).hexdigest()
    assert (sent.width, sent.height, sent.mode, sent.format, sent.n_bytes, sent.changes) == (64, 48, "RGB", kind, len(data), [])
    assert sent.media_type == f"image/{kind.lower()}"


def test_a_picture_is_turned_upright_before_anything_else() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    lying = photograph(1000, 500).transpose(Image.Transpose.ROTATE_90)  # stored so that orientation 6, a quarter turn clockwise, rights it
    sent = images.normalise(encoded(lying, "JPEG", exif=exif, quality=95), "x/1")
    assert (sent.width, sent.height) == (768, 384)
    upright = opened(sent)
    assert near(upright.getpixel((100, 200)), (255, 0, 0))
    assert near(upright.getpixel((700, 200)), (0, 0, 255))
    assert near(upright.getpixel((400, 4)), (0, 255, 0))
    assert upright.getexif().get(0x0112) is None
    assert sent.changes[1:] == ["turned upright from EXIF orientation 6", "scaled from 1000x500 to 768x384"]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_exif_orientation_shows_the_same_picture(orientation: int) -> None:
    turns = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # Pillow's transpose that undoes each; 6 is stored turned left, 8 turned right
    stored = photograph() if orientation == 1 else photograph().transpose(Image.Transpose(turns[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    sent = images.normalise(encoded(stored, "PNG", exif=exif), "x/1")
    assert opened(sent).tobytes() == photograph().tobytes()
    assert (sent.changes == []) == (orientation == 1)


def test_hidden_colour_under_transparency_stays_hidden() -> None:
    picture = Image.new("RGBA", (4, 2), (255, 0, 0, 0))
    picture.putpixel((1, 0), (0, 0, 0, 255))
    picture.putpixel((2, 0), (0, 0, 255, 128))
    sent = images.normalise(encoded(picture), "x/1")
    seen = opened(sent)
    assert (seen.mode, seen.getpixel((0, 0)), seen.getpixel((1, 0))) == ("RGB", (255, 255, 255), (0, 0, 0))
    assert near(seen.getpixel((2, 0)), (127, 127, 255), by=1)
    assert sent.changes[1:] == ["RGBA composited on white"]


def test_a_transparent_colour_of_an_rgb_png_is_white() -> None:
    sent = images.normalise(encoded(Image.new("RGB", (2, 2), (1, 2, 3)), transparency=(1, 2, 3)), "x/1")
    assert opened(sent).getpixel((0, 0)) == (255, 255, 255)
    assert "transparency" not in opened(sent).info


def test_a_palette_is_looked_up_and_its_transparent_entry_is_white() -> None:
    picture = Image.new("P", (2, 1))
    picture.putpalette([10, 20, 30, 200, 100, 50])
    picture.putpixel((1, 0), 1)
    plain = opened(images.normalise(encoded(picture), "x/1"))
    assert (plain.getpixel((0, 0)), plain.getpixel((1, 0))) == ((10, 20, 30), (200, 100, 50))
    clear = opened(images.normalise(encoded(picture, transparency=1), "x/1"))
    assert (clear.getpixel((0, 0)), clear.getpixel((1, 0))) == ((10, 20, 30), (255, 255, 255))


def test_cmyk_becomes_rgb() -> None:
    sent = images.normalise(encoded(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG", quality=95), "x/1")
    assert near(opened(sent).getpixel((4, 4)), (255, 0, 0))
    assert (sent.mode, sent.format, sent.changes[1:]) == ("RGB", "PNG", ["CMYK to RGB"])


def test_the_upper_byte_of_16_bit_grey_counts() -> None:
    grey = Image.new("I;16", (4, 1))
    for x, value in enumerate([0, 255, 32768, 65535]):
        grey.putpixel((x, 0), value)
    seen = opened(images.normalise(encoded(grey), "x/1"))
    assert [seen.getpixel((x, 0)) for x in range(4)] == [(0, 0, 0), (0, 0, 0), (128, 128, 128), (255, 255, 255)]


def test_16_bit_rgb_is_not_passed_off_as_8_bit() -> None:
    rows = b"\0" + struct.pack(">6H", 0x1234, 0x5678, 0x9ABC, 65535, 0, 255)
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 16, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    framed = (struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks)
    sent = images.normalise(b"\x89PNG\r\n\x1a\n" + b"".join(framed), "x/1")
    seen = opened(sent)
    assert (seen.getpixel((0, 0)), seen.getpixel((1, 0))) == ((0x12, 0x56, 0x9A), (255, 0, 0))
    assert sent.changes[1:] == ["16-bit to 8-bit RGB"]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "YCbCr", "LAB"])
def test_whatever_the_mode_what_is_sent_is_8_bit_rgb(mode: str) -> None:
    kind = "TIFF" if mode in ("CMYK", "YCbCr", "LAB") else "PNG"
    source = Image.new(mode, (5, 3))
    sent = images.normalise(encoded(source, kind), "x/1")
    assert (opened(sent).mode, opened(sent).size, sent.format) == ("RGB", (5, 3), "PNG")


@pytest.mark.parametrize("mode", ["I", "F"])
def test_samples_without_a_range_are_refused(mode: str) -> None:
    with pytest.raises(DataError, match=f"x/1: .*{mode} has no declared range"):
        images.normalise(encoded(Image.new(mode, (2, 2)), "TIFF"), "x/1")


@pytest.mark.parametrize(
    ("size", "becomes"),
    [((1600, 900), (768, 432)), ((900, 1600), (432, 768)), ((768, 768), (768, 768)), ((300, 200), (300, 200)), ((5000, 2), (768, 1))],
)
def test_the_longest_side_is_at_most_768_and_nothing_is_enlarged(size: tuple[int, int], becomes: tuple[int, int]) -> None:
    sent = images.normalise(encoded(Image.new("RGB", size)), "x/1")
    assert (sent.width, sent.height) == becomes == opened(sent).size


def test_without_a_limit_the_size_stays() -> None:
    data = encoded(photograph(1600, 900), "JPEG")
    assert images.normalise(data, "x/1", longest=None).data == data


def test_original_and_sent_are_both_on_record() -> None:
    data = encoded(photograph(1600, 900), "JPEG")
    sent = images.normalise(data, "x/1")
    assert sent.source_sha256 == hashlib.sha256(data).hexdigest() != sent.image_sha256 == hashlib.sha256(sent.data).hexdigest()
    assert sent.changes == [f"from JPEG RGB 1600x900, {len(data)} bytes", "scaled from 1600x900 to 768x432"]
    row = sent.row()
    assert json.loads(row.pop("changes")) == sent.changes
    assert row == {
        "image_sha256": sent.image_sha256,
        "source_sha256": sent.source_sha256,
        "width": 768,
        "height": 432,
        "mode": "RGB",
        "format": "PNG",
        "n_bytes": len(sent.data),
    }


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98, 0.99999])
def test_a_file_that_ends_early_is_refused_by_name(kind: str, share: float) -> None:
    noise = Image.effect_noise((200, 150), 80).convert("RGB")
    data = encoded(noise, kind)
    with pytest.raises(DataError, match=r"^mmimdb/0062622: the image .*") as refused:
        images.normalise(data[: int(len(data) * share)], "mmimdb/0062622")
    assert "\n" not in str(refused.value)


def test_a_header_of_20000_by_20000_is_refused_before_it_is_decoded() -> None:
    with pytest.raises(DataError, match="goldenview/q1: the image has more than 80,000,000 pixels"):
        images.normalise(png_header(20_000, 20_000), "goldenview/q1")


def test_a_header_just_above_the_limit_is_refused_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(DataError, match="10000x9000, more than 80,000,000 pixels"):
        images.normalise(png_header(10_000, 9_000), "x/1")
    assert not recwarn.list


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF", "PNG"])
def test_several_frames_are_refused(kind: str) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "green", "blue")]
    with pytest.raises(DataError, match=f"x/1: the {kind} holds several frames"):
        images.normalise(encoded(frames[0], kind, save_all=True, append_images=frames[1:]), "x/1")


def test_a_gif_of_one_frame_is_a_picture() -> None:
    sent = images.normalise(encoded(Image.new("RGB", (8, 8), "red"), "GIF"), "x/1")
    assert (opened(sent).getpixel((0, 0)), sent.changes[-1]) == ((255, 0, 0), "GIF to PNG")


def test_the_photograph_of_a_multi_picture_jpeg_is_sent() -> None:
    data = encoded(photograph(), "MPO", save_all=True, append_images=[Image.new("RGB", (8, 8))])
    sent = images.normalise(data, "x/1")
    assert (sent.format, sent.width, sent.height) == ("PNG", 64, 48)


@pytest.mark.parametrize(
    "data", [b"", b"<html>busy</html>", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"version https://git-lfs"]
)
def test_what_is_no_picture_is_refused_in_one_steady_line(data: bytes) -> None:
    lines = set()
    for _ in range(2):
        with pytest.raises(DataError, match=r"^x/1: the image cannot be read") as refused:
            images.normalise(data, "x/1")
        lines.add(str(refused.value))
    assert len(lines) == 1
    assert "0x" not in lines.pop()


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0\0\x10JFIF\0", b"GIF89a", b"II*\0", b"BM"]))
def test_hostile_bytes_end_in_a_data_error(body: bytes, magic: bytes) -> None:
    with contextlib.suppress(DataError):
        images.normalise(magic + body, "x/1")


def test_the_same_bytes_give_the_same_bytes() -> None:
    data = encoded(Image.effect_noise((900, 700), 60).convert("RGBA"))
    assert images.normalise(data, "x/1") == images.normalise(data, "x/1")


def test_what_is_sent_is_a_fixed_point() -> None:
    once = images.normalise(encoded(photograph(1600, 900).convert("RGBA")), "x/1")
    twice = images.normalise(once.data, "x/1")
    assert (twice.data, twice.changes) == (once.data, [])


def test_metadata_of_the_source_is_not_sent_along() -> None:
    data = encoded(photograph(900, 900), "JPEG", dpi=(300, 300), icc_profile=b"profile", comment=b"secret place")
    assert opened(images.normalise(data, "x/1")).info == {}


SAID = {"task": "mmimdb", "gold": ["Drama"]}


def test_synthetic_pictures_say_what_they_show_and_still_do_when_re_encoded() -> None:
    for data in (images.png_bytes(photograph(), SAID), images.jpeg_bytes(photograph(), SAID)):
        assert images.truth(data) == SAID
        assert images.normalise(data, "x/1").data == data
    for data in (images.png_bytes(photograph().convert("RGBA"), SAID), images.jpeg_bytes(photograph(1600, 900), SAID)):
        sent = images.normalise(data, "x/1")
        assert sent.changes
        assert images.truth(sent.data) == SAID


@pytest.mark.parametrize("comment", [b"", b"holiday", b"vlmaudit", b"vlmaudit {", b"vlmaudit [1]", b"\xff\xfe"])
def test_other_pictures_say_nothing(comment: bytes) -> None:
    assert images.truth(encoded(photograph(), "JPEG", comment=comment)) is None
    assert images.truth(encoded(photograph())) is None
    assert images.truth(b"no picture") is None


def test_an_image_is_stored_once_under_the_digest_of_what_is_sent(tmp_path) -> None:
    store = images.Store(tmp_path / "images")
    jpeg, png = encoded(photograph(), "JPEG"), encoded(photograph().convert("RGBA"))
    first, again, other = store.add(jpeg, "a"), store.add(jpeg, "b"), store.add(png, "c")
    assert first == again != other
    assert {path.name for path in (tmp_path / "images").iterdir()} == {f"{first}.jpg", f"{other}.png"}
    assert (tmp_path / "images" / f"{first}.jpg").read_bytes() == jpeg
    assert {row["image_sha256"] for row in store.rows.values()} == {first, other}


def test_of_two_sources_of_one_image_the_row_does_not_depend_on_the_order(tmp_path) -> None:
    one, two = encoded(photograph().convert("RGBA")), encoded(photograph().convert("RGBA"), compress_level=1)
    assert one != two
    rows = []
    for order in ([one, two], [two, one]):
        store = images.Store(tmp_path / str(len(rows)))
        assert len({store.add(data, "x") for data in order}) == 1
        rows.append(store.rows)
    assert rows[0] == rows[1]


@pytest.mark.parametrize("size", [(1, 1), (5, 3), (300, 200), (1100, 700)])  # the last is too large to be compressed
def test_a_quick_png_holds_every_pixel_and_what_the_picture_says(size: tuple[int, int]) -> None:
    noise = Image.merge("RGB", [Image.effect_noise(size, spread) for spread in (20, 60, 100)])
    noise.info["icc_profile"] = b"profile"
    for said in (None, SAID):
        data = images.quick_png(noise, said)
        Image.open(io.BytesIO(data)).verify()
        read = Image.open(io.BytesIO(data))
        assert (read.mode, read.size, read.tobytes()) == ("RGB", size, noise.tobytes())
        assert images.truth(data) == said
        assert "icc_profile" not in read.info
        assert data == images.quick_png(noise.copy(), said)


def test_a_quick_png_of_one_colour_is_small() -> None:
    assert len(images.quick_png(Image.new("RGB", (512, 512)))) < 5000
