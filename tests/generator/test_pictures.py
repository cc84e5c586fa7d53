"""Images by digest: each is read once while it is held, nobody waits for another's, and a body gets them where it names them only."""

import base64
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from analysis.errors import DataError
from generator import conversation, tools
from generator.pictures import OBSERVATIONS, Pictures, _Recent


def test_what_several_threads_ask_for_at_once_is_made_once() -> None:
    recent: _Recent[object] = _Recent(10)
    begun, go_on, made = threading.Event(), threading.Event(), []

    def make() -> tuple[object, int]:
        begun.set()
        assert go_on.wait(10)
        made.append(object())
        return made[-1], 1

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(recent.get, "a", make) for _ in range(4)]
        assert begun.wait(10)
        assert recent.get("b", lambda: ("other", 1)) == "other"  # while `a` is being made
        go_on.set()
        assert {id(one.result()) for one in asked} == {id(made[0])}
    assert len(made) == 1


def test_what_was_not_asked_for_longest_is_given_up_first() -> None:
    recent: _Recent[str] = _Recent(2)
    for key in "aba":
        recent.get(key, lambda key=key: (key, 1))
    recent.get("c", lambda: ("c", 1))
    assert [recent.get(key, lambda: ("new", 1)) for key in "acb"] == ["a", "c", "new"]


def test_what_could_not_be_made_is_tried_again() -> None:
    recent: _Recent[int] = _Recent(2)
    with pytest.raises(ZeroDivisionError):
        recent.get("a", lambda: (1 // 0, 1))
    assert recent.get("a", lambda: (7, 1)) == 7


def test_a_body_gets_its_images_and_keeps_every_text(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path)
    kept = pictures.keep(Image.new("RGB", (40, 30), "red"), "0" * 64, "made")["image_sha256"]
    data = (tmp_path / OBSERVATIONS / f"{kept}.png").read_bytes()
    text = f'it said "url":"sha256:{kept}" and {{"url":"sha256:{kept}"}}'
    stored: dict[str, Any] = {
        "model": "m",
        "messages": [
            {"role": "user", "content": [conversation.image_part(kept), conversation.text_part(text)]},
            {"role": "a", "content": text},
        ],
    }
    sent = json.loads(conversation.sent(stored, pictures))
    image, said = sent["messages"][0]["content"]
    assert image["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(data).decode()}"
    assert (said["text"], sent["messages"][1]["content"]) == (text, text)
    with pytest.raises(DataError, match="there is no image"):
        conversation.sent({"messages": [{"role": "user", "content": [conversation.image_part("1" * 64)]}]}, pictures)


def test_what_a_family_sends_first_is_made_once(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path)
    original = pictures.keep(Image.new("RGB", (4000, 3000)), "0" * 64, "made")["image_sha256"]
    assert pictures.first(original, tools.interface("qwen3_vl")) is None
    row = pictures.first(original, tools.interface("mini_o3"))
    assert row is not None
    assert (row["source_sha256"], row["width"], row["height"]) == (original, 1632, 1224)
    assert pictures.first(original, tools.interface("mini_o3")) is row
