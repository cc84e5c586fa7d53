"""What stands in for a crop has its shape, is drawn by its seed, and is nothing else."""

import numpy
import pytest
from PIL import Image
from scipy import stats

from generator import tools
from generator.tools import counterfactual
from tests.generator.tools.pixels import box_of, located, seen

PICTURE = located(640, 480)


def test_a_random_crop_has_the_width_and_height_asked_and_is_part_of_the_image() -> None:
    for seed in range(50):
        x1, y1, x2, y2 = box_of(counterfactual.random_crop(PICTURE, 100, 70, seed))
        assert (x2 - x1, y2 - y1) == (100, 70)
        assert 0 <= x1 <= 540
        assert 0 <= y1 <= 410


def test_its_position_is_uniform_over_all_that_fit() -> None:
    boxes = [counterfactual.random_box((14, 9), 5, 4, seed) for seed in range(6000)]
    for axis, positions in ((0, 10), (1, 6)):
        counts = numpy.bincount([box[axis] for box in boxes])
        assert len(counts) == positions
        assert stats.chisquare(counts).pvalue > 0.001


@pytest.mark.parametrize(("asked", "expected"), [((640, 480), (0, 0, 640, 480)), ((900, 900), (0, 0, 640, 480))])
def test_a_crop_as_large_as_the_image_is_the_image(asked: tuple[int, int], expected: tuple[int, ...]) -> None:
    assert counterfactual.random_box((640, 480), *asked, seed=3) == expected


def test_noise_is_uniform_in_every_channel() -> None:
    pixels = numpy.asarray(counterfactual.noise((200, 150), seed=1))
    assert pixels.shape == (150, 200, 3)
    for channel in range(3):
        assert stats.chisquare(numpy.bincount(pixels[..., channel].ravel(), minlength=256)).pvalue > 0.001
    flat = pixels.reshape(-1, 3).astype(float)
    assert abs(numpy.corrcoef(flat.T)[numpy.triu_indices(3, 1)]).max() < 0.03


def test_blank_is_black() -> None:
    assert counterfactual.blank((30, 20)).size == (30, 20)
    assert not numpy.asarray(counterfactual.blank((30, 20))).any()


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    for draw in (lambda seed: counterfactual.random_crop(PICTURE, 50, 50, seed), lambda seed: counterfactual.noise((50, 50), seed)):
        assert draw(1).tobytes() == draw(1).tobytes() != draw(2).tobytes()


@pytest.mark.parametrize("name", tools.NAMES)
@pytest.mark.parametrize("kind", ["random_crop", "noise", "blank"])
def test_what_is_returned_instead_is_sent_in_the_shape_of_the_real_one(name: str, kind: tools.Kind) -> None:
    tool = tools.interface(name)
    scale = {"qwen3_vl": 1000, "deepeyes": 480}.get(name, 1)
    real = seen(name, [PICTURE], [0.2 * scale, 0.3 * scale, 0.5 * scale, 0.7 * scale])
    other = tool.replaced(real, [tools.original(PICTURE)], kind, seed=7)
    assert real.image is not None
    assert other.image is not None
    assert other.image.size == real.image.size
    assert other.image.tobytes() != real.image.tobytes()
    assert (other.source, other.error) == (real.source, real.error)


def test_a_random_crop_is_resized_like_a_real_one_and_says_what_was_shown() -> None:
    real = seen("qwen3_vl", [PICTURE], [100, 100, 300, 400])
    other = tools.interface("qwen3_vl").replaced(real, [tools.original(PICTURE)], "random_crop", seed=7)
    assert real.executed is not None
    assert other.executed is not None
    assert other.shown is not None
    assert other.image is not None
    drawn = box_of(other.shown.image)
    assert drawn == list(other.shown.place or ()) == other.executed["shown_bbox_2d"]
    assert other.shown.image.size == (128, 144)
    assert {**other.executed, "shown_bbox_2d": None} == {**real.executed, "shown_bbox_2d": None}
    reference = PICTURE.crop(tuple(drawn)).resize(other.image.size, Image.Resampling.BICUBIC)
    assert other.image.tobytes() == reference.tobytes()


def test_a_random_crop_comes_from_the_original_whichever_image_was_cropped() -> None:
    tool = tools.interface("qwen3_vl")
    shown = [tools.original(PICTURE), tools.Shown(PICTURE.crop((0, 0, 60, 50)), (0, 0, 60, 50))]
    (call,) = tool.calls(
        '<tool_call>{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [0, 0, 1000, 1000], "label": "", "img_idx": 1}}</tool_call>'
    )
    places = {tool.replaced(tool.execute(call, shown), shown, "random_crop", seed).shown.place for seed in range(9)}  # type: ignore[union-attr]
    assert len(places) == 9


def test_what_stood_in_is_what_a_later_call_crops() -> None:
    tool = tools.interface("mini_o3")
    real = seen("mini_o3", [PICTURE], [0.1, 0.1, 0.6, 0.6])
    shown = [tools.original(PICTURE), tool.replaced(real, [tools.original(PICTURE)], "blank", 1).shown or tools.original(PICTURE)]
    (call,) = tool.calls('<grounding>{"bbox_2d": [0, 0, 0.5, 0.5], "source": "observation_1"}</grounding>')
    cropped = tool.execute(call, shown)
    assert cropped.image is not None
    assert not numpy.asarray(cropped.image).any()


def test_an_error_has_no_counterfactual() -> None:
    error = tools.Observation(error="zero_area: none")
    assert tools.interface("deepeyes").replaced(error, [tools.original(PICTURE)], "noise", 1) is error
