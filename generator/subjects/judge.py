"""The simulated judge: a response is correct where it holds the text of the correct answer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from generator.subjects import chat
from generator.subjects.chat import App, Speech
from generator.subjects.question import digest

SHOWN = re.compile(r"Correct answer:\n(?:\([A-Z]\) )?(.*?)\n\nResponse:\n(.*)\Z", re.DOTALL)


@dataclass(frozen=True)
class Case:
    """What a judge is shown."""

    model: str
    text: str

    @property
    def identity(self) -> str:
        """A digest of it."""
        return digest(self.text)

    def words(self) -> int:
        """Its length."""
        return len(self.text.split())

    def pictures(self) -> int:
        """None."""
        return 0


def application(seed: int, price_usd: float = 0.0) -> App:
    """An ASGI application that answers POST /v1/chat/completions for the judge."""
    return chat.endpoint("sim/judge", {"/v1/chat/completions": partial(_ruled, seed, price_usd)})


def _ruled(seed: int, price_usd: float, request: bytes) -> tuple[int, dict[str, Any]]:
    try:
        body = json.loads(request)
        text = body["messages"][-1]["content"][0]["text"]
        gold, response = SHOWN.search(text).groups()  # type: ignore[union-attr]
    except (ValueError, LookupError, TypeError, AttributeError):
        return 400, chat.error("this server only judges", "messages")
    ruling = "correct" if gold.strip().lower() in response.lower() else "incorrect"
    return 200, chat.completion(Case(str(body.get("model")), text), Speech(ruling), seed, price_usd)
