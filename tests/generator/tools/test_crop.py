"""Crops equal a reference pixel for pixel in every frame of coordinates, at borders too; what cannot be cropped is a typed error."""

import json
import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal

import numpy
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from PIL import Image

from analysis.errors import UsageError
from generator import tools
from generator.tools import mini_o3, qwen3_vl
from generator.tools.crop import Budget
from tests.generator.tools.pixels import box_of, located, seen, written

WIDTH, HEIGHT = 1234, 777
PICTURE = located(WIDTH, HEIGHT)

SIDES = (WIDTH, HEIGHT, WIDTH, HEIGHT)


def boxes(low: int, high: int) -> st.SearchStrategy[list[int]]:
    """Whole numbers x1, y1, x2, y2 with x1 < x2 and y1 < y2."""
    pair = st.lists(st.integers(low, high), min_size=2, max_size=2, unique=True).map(sorted)
    return st.tuples(pair, pair).map(lambda axes: [axes[0][0], axes[1][0], axes[0][1], axes[1][1]])


def nearest(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_HALF_EVEN))


def is_tie(number: Decimal) -> bool:
    return abs(number % 1 - Decimal("0.5")) < Decimal("1e-6")


def executed(observation: tools.Observation) -> list[int]:
    """The box that was executed, after checking that the pixels are those of it and that the row says the same."""
    assert observation.error is None
    assert observation.executed is not None
    assert observation.shown is not None
    box = observation.executed["bbox_2d"]
    assert box_of(observation.shown.image) == box == observation.executed["original_bbox_2d"] == list(observation.shown.place or ())
    assert (observation.executed["source"], observation.executed["source_size"]) == (0, [WIDTH, HEIGHT])
    json.dumps(observation.executed)
    return list(box)


@settings(max_examples=60, deadline=None)
@given(boxes(0, 1000))
def test_qwen3_vl_boxes_are_thousandths_of_the_image(numbers: list[int]) -> None:
    exact = [Decimal(x) * side / 1000 for x, side in zip(numbers, SIDES, strict=True)]
    assume(not any(is_tie(number) for number in exact))
    assume(exact[2] - exact[0] > 32 and exact[3] - exact[1] > 32)
    assert executed(seen("qwen3_vl", [PICTURE], numbers)) == [nearest(number) for number in exact]


@settings(max_examples=60, deadline=None)
@given(boxes(-200, 1500))
def test_deepeyes_boxes_are_pixels_of_the_original(numbers: list[int]) -> None:
    x1, y1, x2, y2 = numbers
    inside = [max(x1, 0), max(y1, 0), min(x2, WIDTH), min(y2, HEIGHT)]
    assume(inside[0] < inside[2] and inside[1] < inside[3])
    wide, high = inside[2] - inside[0], inside[3] - inside[1]
    assume(max(wide, high) <= 100 * min(wide, high))
    assert executed(seen("deepeyes", [PICTURE], numbers)) == inside


@settings(max_examples=60, deadline=None)
@given(boxes(0, 1000))
def test_mini_o3_boxes_are_fractions_cut_to_whole_pixels_up_to_the_last_column_and_row(thousandths: list[int]) -> None:
    exact = [Decimal(x) * side / 1000 for x, side in zip(thousandths, SIDES, strict=True)]
    assume(not any(number % 1 == 0 and 0 < x < 1000 for number, x in zip(exact, thousandths, strict=True)))  # floats may fall short
    box = [min(math.floor(number), side - 1) for number, side in zip(exact, SIDES, strict=True)]
    wide, high = box[2] - box[0], box[3] - box[1]
    assume(wide > 0 and high > 0 and max(wide, high) <= 200 * min(wide, high))
    assert executed(seen("mini_o3", [PICTURE], [x / 1000 for x in thousandths])) == box


@settings(max_examples=60, deadline=None)
@given(boxes(-50, 1050))
def test_pixel_reasoner_boxes_are_fractions_padded_by_a_tenth_on_every_side(thousandths: list[int]) -> None:
    x1, y1, x2, y2 = thousandths
    assume(x1 < 1000 and y1 < 1000 and x2 > 0 and y2 > 0)
    padded = [Decimal(x) * side / 1000 for x, side in zip((x1 - 100, y1 - 100, x2 + 100, y2 + 100), SIDES, strict=True)]
    assume(not any(is_tie(number) for number in padded))
    box = [max(nearest(padded[0]), 0), max(nearest(padded[1]), 0), min(nearest(padded[2]), WIDTH), min(nearest(padded[3]), HEIGHT)]
    assert executed(seen("pixel_reasoner", [PICTURE], [x / 1000 for x in thousandths])) == box


@pytest.mark.parametrize(
    ("name", "box", "expected"),
    [
        ("qwen3_vl", [0, 0, 1000, 1000], [0, 0, 1234, 777]),
        ("qwen3_vl", [900, 900, 1200, 1001], [1111, 699, 1234, 777]),
        ("deepeyes", [0, 0, 1234, 777], [0, 0, 1234, 777]),
        ("deepeyes", [1200.4, 700.6, 5000, 5000], [1200, 701, 1234, 777]),
        ("deepeyes", [-50, -50, 1, 1], [0, 0, 1, 1]),
        ("mini_o3", [0, 0, 1, 1], [0, 0, 1233, 776]),
        ("mini_o3", [0.9, 0.9, 1.5, 1.0], [1110, 699, 1233, 776]),
        ("pixel_reasoner", [0, 0, 1, 1], [0, 0, 1234, 777]),
        ("pixel_reasoner", [0.95, 0.95, 1.0, 1.0], [1049, 660, 1234, 777]),
        ("pixel_reasoner", [0.0, 0.5, 0.05, 0.6], [0, 311, 185, 544]),
    ],
)
def test_boxes_at_and_across_the_border_are_cut_to_the_image(name: str, box: list[float], expected: list[int]) -> None:
    assert executed(seen(name, [PICTURE], box)) == expected


def test_qwen3_vl_grows_a_box_with_a_short_side_around_its_centre() -> None:
    # 12.34 x 77.7 pixels around (623.17, 427.35): scaled by 32 / 12.34, so 16 to each side and 101 up and down
    assert executed(seen("qwen3_vl", [PICTURE], [500, 500, 510, 600])) == [607, 326, 640, 529]
    # in the corner the larger box loses so much that the smaller one stays
    assert executed(seen("qwen3_vl", [PICTURE], [0, 0, 5, 5])) == [0, 0, 6, 4]


# -- what is sent


@pytest.mark.parametrize(
    ("name", "box", "sent"),
    [
        # 247 x 155: to 256 * 32^2 pixels, in multiples of 32
        ("qwen3_vl", [0, 0, 200, 200], (672, 416)),
        # 200 x 100 within the budget: to the nearest multiples of 28
        ("deepeyes", [0, 0, 200, 100], (196, 112)),
        ("deepeyes", [0, 0, 5, 5], (56, 56)),
        # 123 x 77 to 40,000 pixels
        ("mini_o3", [0, 0, 0.1, 0.1], (252, 158)),
        # within the budget: the crop itself
        ("mini_o3", [0, 0, 0.5, 0.5], (617, 388)),
        ("pixel_reasoner", [0, 0, 0.1, 0.1], (588, 364)),
    ],
)
def test_a_crop_is_sent_in_the_size_of_its_family(name: str, box: list[float], sent: tuple[int, int]) -> None:
    observation = seen(name, [PICTURE], box)
    assert observation.image is not None
    assert observation.image.size == sent


def test_resizing_is_bicubic_or_nearest_by_family() -> None:
    for name, box, resampling in (("deepeyes", [5, 5, 205, 105], "BICUBIC"), ("mini_o3", [0.1, 0.1, 0.2, 0.2], "NEAREST")):
        observation = seen(name, [PICTURE], box)
        assert observation.image is not None
        assert observation.shown is not None
        reference = observation.shown.image.resize(observation.image.size, Image.Resampling[resampling])
        assert (numpy.asarray(observation.image) == numpy.asarray(reference)).all()


@given(st.integers(1, 9000), st.integers(1, 9000))
def test_a_budget_keeps_multiples_and_bounds(width: int, height: int) -> None:
    assume(max(width, height) <= 200 * min(width, height))
    budget = Budget(factor=32, fewest=256 * 32**2, most=12_845_056)
    sent = budget.fitted((width, height))
    assert all(side % 32 == 0 and side >= 32 for side in sent)
    assert budget.fewest <= math.prod(sent) <= budget.most
    if budget.fewest <= width * height <= budget.most * 0.9 and min(width, height) > 320:
        assert all(abs(new - old) <= 32 for new, old in zip(sent, (width, height), strict=True))


@given(st.integers(1, 9000), st.integers(1, 9000))
def test_mini_o3_sends_no_more_and_no_shorter_than_its_budget(width: int, height: int) -> None:
    assume(max(width, height) <= 200 * min(width, height))
    sent = mini_o3.fitted((width, height))
    assert min(sent) >= 28
    assert math.prod(sent) <= 2_000_000
    assert math.prod(sent) > 38_000


@pytest.mark.parametrize(
    ("name", "sent"), [("qwen3_vl", None), ("deepeyes", None), ("mini_o3", (1632, 1224)), ("pixel_reasoner", (2296, 1708))]
)
def test_the_original_is_sent_as_it_is_or_within_the_budget(name: str, sent: tuple[int, int] | None) -> None:
    large = Image.new("RGB", (4000, 3000))
    first = tools.interface(name).first_image(large)
    assert first is large if sent is None else first.size == sent


def test_crops_are_taken_from_the_full_size_whatever_was_sent() -> None:
    large = located(4000, 3000)
    observation = seen("mini_o3", [large], [0.5, 0.5, 0.6, 0.6])
    assert observation.shown is not None
    assert box_of(observation.shown.image) == [2000, 1500, 2400, 1800]


def test_no_crop_carries_what_the_file_said_besides_its_pixels() -> None:
    picture = located(400, 400)
    picture.info["vlmaudit"] = '{"gold": "A"}'
    observation = seen("qwen3_vl", [picture], [0, 0, 500, 500])
    tool = tools.interface("qwen3_vl")
    replaced = tool.replaced(observation, [tools.original(picture)], "random_crop", 1)
    for one in (observation, replaced):
        assert one.image is not None
        assert one.shown is not None
        assert one.image.info == one.shown.image.info == {}


# -- which image is cropped


@pytest.mark.parametrize(
    ("name", "box", "named"),
    [
        ("qwen3_vl", [0, 0, 1000, 1000], {"img_idx": 1}),
        ("qwen3_vl", [0, 0, 1000, 1000], {"img_idx": 1.0}),
        ("mini_o3", [0, 0, 1, 1], {"source": "observation_1"}),
        ("pixel_reasoner", [0, 0, 1, 1], {"target_image": 2}),
    ],
)
def test_an_earlier_crop_can_be_cropped_where_the_family_names_it(name: str, box: list[float], named: dict[str, object]) -> None:
    tool = tools.interface(name)
    crop = PICTURE.crop((100, 200, 500, 600))
    (call,) = tool.calls(written(name, box, **named))
    observation = tool.execute(call, [tools.original(PICTURE), tools.Shown(crop, (100, 200, 500, 600))])
    assert observation.executed is not None
    assert observation.shown is not None
    assert (observation.source, observation.executed["source"], observation.executed["source_size"]) == (1, 1, [400, 400])
    x1, y1, x2, y2 = observation.executed["bbox_2d"]
    assert observation.executed["original_bbox_2d"] == [100 + x1, 200 + y1, 100 + x2, 200 + y2] == box_of(observation.shown.image)


def test_a_crop_of_what_is_no_part_of_the_original_has_no_place_in_it() -> None:
    observation = seen("qwen3_vl", [PICTURE, Image.new("RGB", (300, 300))], [0, 0, 500, 500], img_idx=1)
    assert observation.executed is not None
    assert observation.executed["original_bbox_2d"] is None


def test_deepeyes_always_crops_the_original() -> None:
    assert seen("deepeyes", [PICTURE, Image.new("RGB", (300, 300))], [0, 0, 50, 50], img_idx=1).source == 0


# -- what cannot be cropped

WRONG = [
    ([500, 500, 500, 600], "zero_area"),
    ([500, 600, 600, 600], "zero_area"),
    ([600, 500, 500, 600], "swapped"),
    ([500, 600, 600, 500], "swapped"),
    (["NaN", 0, 500, 500], "not_a_number"),
    (["100", "100", "500", "500"], "not_a_number"),
    ([True, 0, 500, 500], "not_a_number"),
    ([None, 0, 500, 500], "not_a_number"),
    ([[1, 2], 0, 500, 500], "not_a_number"),
    ([100, 100, 500], "not_a_box"),
    ([100, 100, 500, 500, 600], "not_a_box"),
    ({"x1": 1}, "not_a_box"),
    ("[100, 100, 500, 500]", "not_a_box"),
    (None, "not_a_box"),
    ("__import__('os').system('true')", "not_a_box"),
    (["__import__('os').system('true')", 0, 500, 500], "not_a_number"),
    ([10**400, 0, 10**401, 500], "outside"),
    ([2000, 100, 3000, 500], "outside"),
    ([-300, 100, -100, 500], "outside"),
    ([100, 5000, 500, 6000], "outside"),
    ([-300, -300, 0, 0], "outside"),
]
SCALE: dict[str, Callable[[object], object]] = {
    "qwen3_vl": lambda number: number,
    "deepeyes": lambda number: number,
    "mini_o3": lambda number: number / 1000 if type(number) is int and abs(number) < 10**300 else number,
    "pixel_reasoner": lambda number: number / 1000 if type(number) is int and abs(number) < 10**300 else number,
}


@pytest.mark.parametrize("name", tools.NAMES)
@pytest.mark.parametrize(("box", "kind"), WRONG)
def test_a_box_that_is_none_is_a_typed_error(name: str, box: object, kind: str) -> None:
    scaled = [SCALE[name](number) for number in box] if isinstance(box, list) else box
    observation = seen(name, [PICTURE], scaled)
    assert (observation.executed, observation.image, observation.shown) == (None, None, None)
    assert observation.error is not None
    assert observation.error.startswith(f"{kind}: ")
    assert "\n" not in observation.error
    assert len(observation.error) < 300


@pytest.mark.parametrize("name", tools.NAMES)
@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_a_number_that_is_none_is_a_typed_error(name: str, literal: str) -> None:
    tool = tools.interface(name)
    (call,) = tool.calls(written(name, [0, 0, 0.5, 77]).replace("77", literal))
    assert (tool.execute(call, [tools.original(PICTURE)]).error or "").startswith("not_a_number: ")


@pytest.mark.parametrize(
    ("name", "box", "other", "kind"),
    [
        ("qwen3_vl", [0, 0, 500, 500], {"img_idx": 1}, "no_image"),
        ("qwen3_vl", [0, 0, 500, 500], {"img_idx": -1}, "no_image"),
        ("qwen3_vl", [0, 0, 500, 500], {"img_idx": 0.5}, "no_image"),
        ("qwen3_vl", [0, 0, 500, 500], {"img_idx": "0"}, "no_image"),
        ("qwen3_vl", [0, 0, 500, 500], {"img_idx": None}, "no_image"),
        ("qwen3_vl", [0, 0, 500, 500], {"img_idx": True}, "no_image"),
        ("pixel_reasoner", [0, 0, 0.5, 0.5], {"target_image": 0}, "no_image"),
        ("pixel_reasoner", [0, 0, 0.5, 0.5], {"target_image": 2}, "no_image"),
        ("mini_o3", [0, 0, 0.5, 0.5], {"source": "observation_1"}, "no_image"),
        ("mini_o3", [0, 0, 0.5, 0.5], {"source": "observation_x"}, "no_image"),
        ("mini_o3", [0, 0, 0.5, 0.5], {"source": 0}, "no_image"),
        ("deepeyes", [0, 0, 1000, 5], {}, "too_narrow"),
        ("mini_o3", [0, 0, 1, 0.005], {}, "too_narrow"),
        ("mini_o3", [0.5, 0.5, 0.5001, 0.9], {}, "zero_area"),
        ("deepeyes", [10.1, 10.1, 10.2, 90], {}, "zero_area"),
    ],
)
def test_other_faults_are_typed_errors(name: str, box: list[float], other: dict[str, object], kind: str) -> None:
    assert (seen(name, [PICTURE], box, **other).error or "").startswith(f"{kind}: ")


def test_pixel_reasoner_refuses_a_crop_of_28_pixels() -> None:
    assert (seen("pixel_reasoner", [located(100, 100)], [0.42, 0.1, 0.5, 0.9]).error or "").startswith("too_small: ")


@pytest.mark.parametrize("name", ["qwen3_vl", "deepeyes", "pixel_reasoner"])
@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ('{"name": "rm", "arguments": {"bbox_2d": [0, 0, 1, 1]}}', "unknown_tool"),
        ('{"arguments": {"bbox_2d": [0, 0, 1, 1]}}', "unknown_tool"),
        ('{"name": "FUNCTION"}', "malformed"),
        ('{"name": "FUNCTION", "arguments": "[0, 0, 1, 1]"}', "malformed"),
        ('{"name": "FUNCTION", "arguments": []}', "malformed"),
    ],
)
def test_a_call_without_the_tool_or_its_arguments_is_a_typed_error(name: str, call: str, kind: str) -> None:
    tool = tools.interface(name)
    function = "crop_image_normalized" if name == "pixel_reasoner" else "image_zoom_in_tool"
    (read,) = tool.calls(f"<tool_call>{call.replace('FUNCTION', function)}</tool_call>")
    assert (tool.execute(read, [tools.original(PICTURE)]).error or "").startswith(f"{kind}: ")


def test_a_source_that_was_read_stands_beside_the_error() -> None:
    assert seen("qwen3_vl", [PICTURE, PICTURE], [5, 5, 5, 9], img_idx=1).source == 1
    assert seen("qwen3_vl", [PICTURE], [5, 5, 5, 9], img_idx=1).source is None


# -- the conversation


@pytest.mark.parametrize("name", tools.NAMES)
def test_a_conversation_offers_the_tool_and_shows_the_image_first(name: str) -> None:
    tool = tools.interface(name)
    message = tool.user_message("What colour is it?", {"A": "red", "B": "blue"}, PICTURE)
    image, text = message.parts
    assert image is PICTURE
    assert str(text).startswith("What colour is it?\n(A) red\n(B) blue\n\n")
    offered = "<grounding>" if name == "mini_o3" else str(tool.function)  # type: ignore[attr-defined]
    assert offered in tool.system_prompt()
    assert "tool" not in str(tools.direct_message("What?", {}, PICTURE).parts[1])


def told(name: str, observations: list[tools.Observation], turn: int = 1, n_shown: int = 1) -> list[object]:
    (message,) = tools.interface(name).observation_messages(observations, turn, n_shown)
    assert message.role == "user"
    return ["IMAGE" if isinstance(part, Image.Image) else part for part in message.parts]


def test_observations_and_errors_are_told_in_the_families_forms() -> None:
    image = Image.new("RGB", (64, 32))
    good, bad = tools.Observation(shown=tools.Shown(image, None)), tools.Observation(error="zero_area: none")
    assert told("qwen3_vl", [good, bad]) == [
        *("<tool_response>\n", "IMAGE", "\n</tool_response>"),
        *("\n<tool_response>\n", "Tool Execution Error: zero_area: none", "\n</tool_response>"),
    ]
    deepeyes = told("deepeyes", [good, bad])
    assert [deepeyes[0], deepeyes[1], deepeyes[3], deepeyes[4]] == [
        "<tool_response>",
        "IMAGE",
        "</tool_response>",
        "Error: zero_area: none",
    ]
    assert told("pixel_reasoner", [good, bad]) == [
        "\nHere is the cropped image (Image Size: 64x32):", "IMAGE", "\nExecution error:\nzero_area: none\n",
    ]  # fmt: skip


def test_mini_o3_names_each_observation_as_a_later_call_must() -> None:
    good, bad = tools.Observation(shown=tools.Shown(PICTURE, None)), tools.Observation(error="zero_area: none")
    assert "(Observation 1)" in str(told("mini_o3", [good], turn=1, n_shown=1)[0])
    later = told("mini_o3", [bad, good, good], turn=3, n_shown=2)
    assert "zero_area" in str(later[0])
    assert "Action 2" in str(later[1])
    assert "(Observation 2)" in str(later[1])
    assert "(Observation 3)" in str(later[3])
    observation = seen("mini_o3", [PICTURE, located(100, 80), located(90, 70)], [0, 0, 1, 1], source="observation_2")
    assert observation.shown is not None
    assert observation.shown.image.size == (89, 69)


def test_frames_and_decoding_are_those_of_the_families() -> None:
    table = {name: (tools.interface(name).frame, tuple(tools.interface(name).decoding)) for name in tools.NAMES}
    assert table == {
        "qwen3_vl": ("0-1000", (0.7, 0.8, 20)),
        "deepeyes": ("absolute", (0.0, 1.0, -1)),
        "mini_o3": ("0-1", (1.0, 1.0, -1)),
        "pixel_reasoner": ("0-1", (0.1, 0.95, -1)),
    }


def test_an_unknown_interface_is_named_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no tool interface 'thyme': there are qwen3_vl, deepeyes"):
        tools.interface("thyme")


def test_growing_needs_both_sides_above_32() -> None:
    assert qwen3_vl.grown((0, 0, 40, 40), (100, 100)) == (0, 0, 40, 40)
    assert qwen3_vl.grown((50, 50, 51, 51), (100, 100)) == (34, 34, 67, 67)
    assert qwen3_vl.grown((50, 50, 51, 51), (60, 60)) == (50, 50, 51, 51)
