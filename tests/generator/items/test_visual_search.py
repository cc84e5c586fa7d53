"""V*'s twin: the target's colour is there at full size, gone from the reduced whole, and read from a crop where the crop shows it."""

import io
import json
from pathlib import Path

import pytest
from PIL import Image

from generator import images, tools
from generator.items import Item, load
from generator.items.synth import visual_search
from generator.tools import counterfactual
from tests.generator.items.test_vstar import question

N = 12


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Item], Path]:
    folder = tmp_path_factory.mktemp("visual_search")
    store = images.Store(folder)
    return list(load("vstar", "synth", store, N, seed=3)), folder


def scene(item: Item, folder: Path) -> Image.Image:
    image = Image.open(folder / f"{item.inputs['image']}.png")
    image.load()
    return image


def asked(name: str, box: list[int]) -> str:
    """A turn that asks for a box, in pixels of a 2,000 pixel scene."""
    if name == "mini_o3":
        return f"<grounding>{json.dumps({'bbox_2d': [x / 2000 for x in box], 'source': 'original_image'})}</grounding>"
    function, scale = (
        ("crop_image_normalized", 2000) if name == "pixel_reasoner" else ("image_zoom_in_tool", 2 if name == "qwen3_vl" else 1)
    )
    arguments = {"bbox_2d": [x / scale for x in box], "label": "tag", "img_idx": 0, "target_image": 1}
    return f"<tool_call>{json.dumps({'name': function, 'arguments': arguments})}</tool_call>"


def test_scenes_are_large_and_targets_small(twin: tuple[list[Item], Path]) -> None:
    items, folder = twin
    for item in items:
        assert scene(item, folder).size == (2000, 2000)
        x1, y1, x2, y2 = item.annotation["target_box"]
        assert (x2 - x1, y2 - y1) == (20, 20)


def test_the_answer_is_seen_at_full_size(twin: tuple[list[Item], Path]) -> None:
    items, folder = twin
    for item in items:
        assert visual_search.seen(scene(item, folder)) == item.annotation["options"][item.gold]


@pytest.mark.parametrize("side", [384, 768, 1024, 1414])
@pytest.mark.parametrize("resampling", [Image.Resampling.LANCZOS, Image.Resampling.BICUBIC])
def test_the_answer_is_not_seen_in_the_reduced_whole(twin: tuple[list[Item], Path], side: int, resampling: Image.Resampling) -> None:
    items, folder = twin
    for item in items:
        assert visual_search.seen(scene(item, folder).resize((side, side), resampling)) is None


def test_reduced_to_768_the_target_is_marked_no_more_than_the_others() -> None:
    """The edges of target and others, reduced, differ by less than they differ from one place to the next."""
    target = visual_search._tag(visual_search.COLOURS["red"], visual_search.MAGENTA, visual_search.BLACK)
    other = visual_search._tag(visual_search.COLOURS["red"], visual_search.RED, visual_search.BLUE)

    def reduced(tag: Image.Image, place: int) -> Image.Image:
        field = Image.new("RGB", (200, 200), (120, 128, 112))
        field.paste(tag, (90 + place, 90))
        return field.resize((77, 77), Image.Resampling.LANCZOS).crop((30, 30, 47, 47))

    def difference(one: Image.Image, another: Image.Image) -> float:
        pairs = list(zip(one.tobytes(), another.tobytes(), strict=True))
        return sum(abs(a - b) for a, b in pairs) / len(pairs)

    between_tags = difference(reduced(target, 0), reduced(other, 0))
    between_places = difference(reduced(target, 0), reduced(target, 1))
    assert between_tags < between_places / 2


@pytest.mark.parametrize("name", tools.NAMES)
@pytest.mark.parametrize("margin", [15, 60, 200])
def test_a_crop_shows_the_answer_where_the_target_is_in_it(twin: tuple[list[Item], Path], name: str, margin: int) -> None:
    items, folder = twin
    tool = tools.interface(name)
    for item in items:
        image = scene(item, folder)
        x1, y1, x2, y2 = item.annotation["target_box"]
        box = [max(x1 - margin, 0), max(y1 - margin, 0), min(x2 + margin, 2000), min(y2 + margin, 2000)]
        (call,) = tool.calls(asked(name, box))
        observation = tool.execute(call, [tools.original(image)])
        assert observation.image is not None
        assert visual_search.seen(observation.image) == item.annotation["options"][item.gold]
        for kind in ("noise", "blank"):
            other = tool.replaced(observation, [tools.original(image)], kind, seed=1)
            assert other.image is not None
            assert visual_search.seen(other.image) is None


def test_a_random_crop_shows_the_answer_only_where_it_holds_the_target(twin: tuple[list[Item], Path]) -> None:
    items, folder = twin
    for item in items:
        image = scene(item, folder)
        x1, y1, x2, y2 = item.annotation["target_box"]
        for seed in range(15):
            box = counterfactual.random_box(image.size, 500, 400, seed)
            held = box[0] <= x1 and box[1] <= y1 and box[2] >= x2 and box[3] >= y2
            apart = box[0] >= x2 or box[1] >= y2 or box[2] <= x1 or box[3] <= y1
            found = visual_search.seen(image.crop(box))
            if held:
                assert found == item.annotation["options"][item.gold]
            elif apart:
                assert found is None
            else:
                assert found in (None, item.annotation["options"][item.gold])


def test_a_target_that_is_cut_is_never_taken_for_another_colour() -> None:
    for colour in visual_search.COLOURS:
        tag = visual_search._tag(visual_search.COLOURS[colour], visual_search.MAGENTA, visual_search.BLACK)
        field = Image.new("RGB", (200, 200), (120, 128, 112))
        field.paste(tag, (90, 90))
        for left in range(90, 110):
            for top in (50, 90, 93, 95, 99, 101, 104, 107):
                crop = field.crop((left, top, left + 60, top + 60))
                for scale in (1, 3, 8):
                    found = visual_search.seen(crop.resize((60 * scale, 60 * scale), Image.Resampling.BICUBIC))
                    assert found in (None, colour)


def test_the_form_is_the_public_one(tmp_path: Path) -> None:
    visual_search.write(tmp_path, 2, seed=1)
    records = [json.loads(line) for line in (tmp_path / "test_questions.jsonl").read_text().splitlines()]
    assert records[0].keys() == question().keys()
    assert all(type(records[0][key]) is type(value) for key, value in question().items())
    for record in records:
        beside = json.loads((tmp_path / record["image"]).with_suffix(".json").read_text())
        assert f"({record['label']}) {beside['options'][0]}" in record["text"]
        assert len(beside["bbox"][0]) == 4


def test_the_scene_says_what_it_shows_and_no_crop_does(twin: tuple[list[Item], Path]) -> None:
    items, folder = twin
    data = (folder / f"{items[0].inputs['image']}.png").read_bytes()
    assert images.truth(data) == {"task": "vstar", "gold": items[0].gold, "target_box": items[0].annotation["target_box"]}
    image = Image.open(io.BytesIO(data))
    tool = tools.interface("qwen3_vl")
    (call,) = tool.calls(asked("qwen3_vl", [0, 0, 2000, 2000]))
    observation = tool.execute(call, [tools.original(image)])
    assert observation.image is not None
    assert images.truth(tools.encoded(observation.image)) is None
    for name in ("mini_o3", "pixel_reasoner"):
        assert images.truth(tools.encoded(tools.interface(name).first_image(image))) == images.truth(data)


def test_a_seed_draws_the_same_scenes_and_golds_are_spread(tmp_path: Path, twin: tuple[list[Item], Path]) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        visual_search.write(tmp_path / name, 2, seed)
    a, b, c = ([path.read_bytes() for path in sorted((tmp_path / name).rglob("*.*"))] for name in "abc")
    assert a == b != c
    assert len({item.gold for item in twin[0]}) >= 3
