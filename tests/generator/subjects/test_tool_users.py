"""Simulated tool users land in the group that they were built for, and change their mind only over what a returned image shows."""

import asyncio
import base64
import io
import json
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from generator import items, subjects, tools
from generator.items.synth.visual_search import SIDE, seen
from generator.subjects import tool_users
from generator.subjects.tool_users import KINDS, MIXTURE
from tests.generator.tooling import ToolProject

GROUPS = {"ignores": "cwl", "sure": "cwl", "uses": "calibrated", "goes-on": "lwp", "never-stops": "lwp", "never-calls": "no_call"}
SEED = random.Random(20).randrange(1_000)  # of scenes and decoding: any will do


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> tuple[items.Item, bytes]:
    data = tmp_path_factory.mktemp("scene")
    items.prepare({"vstar": {"source": "synth", "n": 1, "seed": SEED}}, data)
    (item,) = items.read(data, "vstar")
    return item, next((data / "images").glob("*.png")).read_bytes()


def asked(name: str, body: dict[str, Any], path: str = "/v1/chat/completions") -> dict[str, Any]:
    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=subjects.transport(name), base_url="http://simulated") as client:
            return await client.post(path, json=body)

    response = asyncio.run(send())
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def image_part(data: bytes) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(data).decode()}"}}


def opening(tool: tools.Interface, item: items.Item, data: bytes) -> list[dict[str, Any]]:
    """The first messages, as a rollout makes them."""
    original = Image.open(io.BytesIO(data))
    original.load()
    first = tool.first_image(original)
    message = tool.user_message(item.inputs["question"], item.annotation["options"], first)
    parts = [{"type": "text", "text": part} if isinstance(part, str) else image_part(tools.encoded(part)) for part in message.parts]
    return [{"role": "system", "content": tool.system_prompt()}, {"role": "user", "content": parts}]


def speech(name: str, messages: list[dict[str, Any]], seed: int = 0) -> str:
    said: str = asked(name, {"model": "m", "messages": messages, "seed": seed})["choices"][0]["message"]["content"]
    return said


def preference(name: str, messages: list[dict[str, Any]], seed: int = 0) -> dict[int, float]:
    body = {"model": "m", "messages": [*messages, {"role": "assistant", "content": "<answer>"}], "seed": seed}
    ids = [token(name, letter) for letter in "ABCD"]
    reply = asked(name, {**body, "continue_final_message": True, "logprobs": True, "logprob_token_ids": ids})
    entries = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    return {int(entry["token"].removeprefix("token_id:")): entry["logprob"] for entry in entries}


def token(name: str, text: str) -> int:
    (number,) = asked(name, {"model": "m", "prompt": text, "add_special_tokens": False}, "/tokenize")["tokens"]
    return int(number)


@pytest.mark.parametrize("name", tools.NAMES)
def test_a_user_calls_in_the_form_of_each_interface_and_its_crop_shows_the_target(scene: tuple[items.Item, bytes], name: str) -> None:
    item, data = scene
    tool = tools.interface(name)
    original = Image.open(io.BytesIO(data))
    original.load()
    shown = 0
    for seed in range(6):
        text = speech("uses", opening(tool, item, data), seed)
        (call,) = tool.calls(text)
        observation = tool.execute(call, [tools.original(original)])
        assert observation.error is None
        assert observation.image is not None
        shown += seen(observation.image) == item.annotation["options"][item.gold]
    assert shown >= 1  # some first calls are aimed elsewhere


def test_the_same_request_gets_the_same_bytes(scene: tuple[items.Item, bytes]) -> None:
    messages = opening(tools.interface("qwen3_vl"), *scene)
    body = {"model": "m", "messages": messages, "seed": 3}
    assert json.dumps(asked("tool-mixture", body)) == json.dumps(asked("tool-mixture", body))


@pytest.mark.parametrize(("name", "moves"), [("uses", True), ("goes-on", True), ("never-stops", True), ("ignores", False), ("sure", False)])
def test_only_an_image_that_shows_the_target_moves_a_preference_and_only_of_those_that_look(
    scene: tuple[items.Item, bytes], name: str, moves: bool
) -> None:
    item, data = scene
    tool = tools.interface("qwen3_vl")
    messages = opening(tool, item, data)
    scene_image = Image.open(io.BytesIO(data)).convert("RGB")
    x1, y1, x2, y2 = item.annotation["target_box"]
    on = scene_image.crop((x1 - 40, y1 - 40, x2 + 40, y2 + 40)).resize((512, 512))
    away = scene_image.crop((((x1 + SIDE // 2) % (SIDE - 200)), 0, ((x1 + SIDE // 2) % (SIDE - 200)) + 100, 100)).resize((512, 512))
    black = Image.new("RGB", (512, 512))
    turn = {"role": "assistant", "content": "<think>x</think>"}
    before = preference(name, messages)
    for image, may_move in ((on, moves), (away if seen(away) is None else black, False), (black, False)):
        after = preference(name, [*messages, turn, {"role": "user", "content": [image_part(tools.encoded(image))]}])
        largest = max(abs(ours - theirs) for ours, theirs in zip(shares(before), shares(after), strict=True))
        assert (largest > 0.01) == may_move


def shares(logprobs: dict[int, float]) -> list[float]:
    weights = [math.exp(value) for _, value in sorted(logprobs.items())]
    return [weight / sum(weights) for weight in weights]


def test_a_gold_text_is_more_likely_once_the_target_was_seen(scene: tuple[items.Item, bytes]) -> None:
    item, data = scene
    messages = opening(tools.interface("qwen3_vl"), item, data)
    x1, y1, x2, y2 = item.annotation["target_box"]
    crop = Image.open(io.BytesIO(data)).convert("RGB").crop((x1 - 40, y1 - 40, x2 + 40, y2 + 40)).resize((512, 512))
    seen_it = [*messages, {"role": "assistant", "content": "x"}, {"role": "user", "content": [image_part(tools.encoded(crop))]}]

    def score(conversation: list[dict[str, Any]]) -> float:
        body = {"model": "m", "messages": [*conversation, {"role": "assistant", "content": "<answer>dark red"}]}
        entries = asked("uses", {**body, "continue_final_message": True, "prompt_logprobs": 1})["prompt_logprobs"]
        tokens = asked("uses", {"model": "m", "prompt": "dark red"}, "/tokenize")["tokens"]
        return sum(float(entry[str(number)]["logprob"]) for entry, number in zip(entries[-len(tokens) :], tokens, strict=True)) / len(
            tokens
        )

    assert score(seen_it) > score(messages) + 1


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> ToolProject:
    """Every kind of user, over some scenes, probed."""
    own = ToolProject(tmp_path_factory.mktemp("users"), n=14)
    own.study |= {
        "models": [f"sim/{name}" for name in (*GROUPS, "tool-mixture")],
        "tasks": {"vstar": {"source": "synth", "n": 14, "seed": SEED}},
        "arms": ["direct", "tool"],
        "seed": SEED,
        "probed": 1,
        "concurrency": 32,
    }
    result = own.rollout()
    assert (result.requests, result.failures) == (14 * 2 * 7, [])
    return own


def test_users_built_for_a_group_land_in_it(study: ToolProject) -> None:
    rows = study.rows("SELECT model_id, mode FROM tooluse.diagnosis WHERE model_id <> 'sim/tool-mixture'")
    landed = [row["mode"] == GROUPS[row["model_id"].removeprefix("sim/")] for row in rows]
    assert len(rows) == 14 * len(GROUPS)
    assert sum(landed) / len(landed) >= 0.99


def test_a_mixture_holds_what_was_mixed(study: ToolProject) -> None:
    rows = study.rows("SELECT mode, count(*) AS n FROM tooluse.diagnosis WHERE model_id = 'sim/tool-mixture' GROUP BY mode")
    assert sum(row["n"] for row in rows) == 14
    assert {row["mode"] for row in rows} <= set(GROUPS.values())
    drawn = Counter(tool_users.draw.choose(MIXTURE, "kind", 0, item) for item in range(2_000))
    assert all(abs(drawn[kind] / 2_000 - odds) < 0.03 for kind, odds in MIXTURE.items())
    assert set(MIXTURE) == set(KINDS)


def test_visual_evidence_gain_is_nothing_for_one_that_ignores_and_positive_for_one_that_uses(study: ToolProject) -> None:
    veg = {
        row["model_id"].removeprefix("sim/"): row
        for row in study.rows("SELECT model_id, avg(veg) AS mean, max(abs(veg)) AS most, count(veg) AS n FROM tooluse.call GROUP BY ALL")
    }
    error = tool_users.JITTER * 2 / veg["ignores"]["n"] ** 0.5  # three standard errors of what jitter can do, and a little
    assert abs(veg["ignores"]["mean"]) < error
    assert veg["ignores"]["most"] < 0.01
    assert veg["sure"]["most"] < 0.01
    assert veg["uses"]["mean"] > 0.1


def test_contributions_add_up_and_the_audits_are_content(study: ToolProject) -> None:
    assert study.rows("SELECT * FROM quality.contribution") == []
    assert study.rows("SELECT * FROM quality.duplicate") == []
    effects = {row["model_id"]: row["ate"] for row in study.rows("SELECT model_id, ate FROM tooluse.policy_effect")}
    assert effects["sim/sure"] == 0
    assert effects["sim/uses"] > 0


def test_a_request_that_is_none_is_refused(tmp_path: Path) -> None:
    async def send(content: bytes, path: str) -> int:
        async with httpx.AsyncClient(transport=subjects.transport("uses"), base_url="http://simulated") as client:
            return (await client.post(path, content=content)).status_code

    for content in (b"", b"[]", b'{"model": "m", "messages": []}', b'{"model": "m", "messages": [{"role": "user"}]}'):
        assert asyncio.run(send(content, "/v1/chat/completions")) == 400
    assert asyncio.run(send(b'{"prompt": 3}', "/tokenize")) == 400
    assert asyncio.run(send(b"{}", "/elsewhere")) == 404
