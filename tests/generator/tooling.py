"""A project with one tool-use study, and a model whose turns are written in a script."""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from analysis import session
from generator.run import Options, Result
from generator.tool_use import rollout
from tests.generator.loopback import VirtualClock

ROOT = Path(__file__).resolve().parents[2]
Turn = Callable[[int, dict[str, Any]], str | tuple[int, dict[str, Any]]]
"""(how many turns the model has taken in this conversation, the request's body) -> what it says, or a status and what it answers."""


def call(*box: Any, **more: Any) -> str:
    """A turn with one Qwen3-VL call."""
    arguments = {"bbox_2d": list(box), "label": "x", "img_idx": 0, **more}
    return f"<think>look</think>\n<tool_call>\n{json.dumps({'name': 'image_zoom_in_tool', 'arguments': arguments})}\n</tool_call>"


def said(text: str, finish: str = "stop") -> dict[str, Any]:
    """A whole chat completion."""
    message = {"role": "assistant", "content": text}
    return {"id": "gen", "model": "served", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


class Scripted:
    """An ASGI app that says what its script says; `bodies` are the requests in the order they came, `raws` their bytes."""

    def __init__(self, turn: Turn, delay: float = 0.0) -> None:
        self.turn, self.delay = turn, delay
        self.bodies: list[dict[str, Any]] = []
        self.raws: list[bytes] = []
        self.answered = self.flying = self.peak = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = b""
        while message := await receive():
            raw += message.get("body", b"")
            if not message.get("more_body"):
                break
        body = json.loads(raw)
        self.bodies.append(body)
        self.raws.append(raw)
        self.flying += 1
        self.peak = max(self.peak, self.flying)
        await asyncio.sleep(self.delay)
        self.flying -= 1
        n_turns = sum(message["role"] == "assistant" for message in body.get("messages", []))
        answer = self.turn(n_turns, body)
        status, content = (200, said(answer)) if isinstance(answer, str) else answer
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(content).encode()})
        self.answered += 1


class ToolProject:
    """A folder with a params file of one study over synthetic scenes, and a model with Qwen3-VL's tool behind `url`."""

    def __init__(self, folder: Path, url: str | None = None, n: int = 2) -> None:
        self.folder, self.params = folder, folder / "params.yaml"
        self.warehouse, self.data = folder / "data" / "warehouse.duckdb", folder / "data"
        self.study: dict[str, Any] = {
            "protocol": "tool_use",
            "models": ["own/one"],
            "tasks": {"vstar": {"source": "synth", "n": n}},
            "arms": ["tool"],
            "concurrency": 4,
            "attempts": 2,
            "probed": 0,
        }
        self.model: dict[str, Any] = {
            "serving": "vllm",
            "base_url": url,
            "precision": "bf16",
            "thinking": [False],
            "interface": "qwen3_vl",
        }
        self.said: list[str] = []

    def write(self) -> None:
        models = {"own/one": self.model} if self.model["base_url"] else {}
        self.params.write_text(yaml.safe_dump({"studies": {"s": self.study}, "models": models}))

    def rollout(self, **options: Any) -> Result:
        self.write()
        chosen = Options(say=self.said.append, clock=VirtualClock(), **options)
        (result,) = rollout(self.params, ["s"], self.warehouse, self.data, chosen)
        return result

    def rows(self, query: str) -> list[dict[str, Any]]:
        with session.open(self.warehouse, {"study": "s"}) as reading:
            return reading.rows(query)

    def state(self) -> str:
        return hashlib.sha256(self.warehouse.read_bytes()).hexdigest()

    def command(self, *arguments: str) -> subprocess.Popen[str]:
        self.write()
        return subprocess.Popen(
            [sys.executable, ROOT / "vlmaudit.py", "rollout", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def urls(body: dict[str, Any]) -> list[str]:
    """The images of a request, in order."""
    parts = [part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]]
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


def without_images(body: dict[str, Any]) -> str:
    """A request with its returned images blotted out; the first image, the item's own, stays."""
    text = json.dumps(body)
    for url in set(urls(body)[1:]):
        text = text.replace(url, "IMAGE")
    return text
