"""A model's endpoint that counts: what it says depends on the request alone, unless a script says otherwise."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

Script = Callable[[int, str, dict[str, Any]], tuple[int, dict[str, Any]] | None]
"""(how many requests came before, the request's digest, its body) -> (status, what to change in the answer); None: as usual."""


class Endpoint:
    """An ASGI app. `served` counts requests by digest of their body; an answer names its request and how many were served before."""

    def __init__(self, script: Script = lambda n, digest, body: None, delay: float = 0.0) -> None:
        self.script, self.delay = script, delay
        self.served: Counter[str] = Counter()
        self.answered = 0
        self.keys: set[str] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while message := await receive():
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.keys |= {value.decode() for name, value in scope["headers"] if name == b"authorization"}
        digest = hashlib.sha256(body).hexdigest()
        n = self.served.total()
        status, change = self.script(n, digest, json.loads(body)) or (200, {})
        self.served[digest] += 1
        await asyncio.sleep(self.delay)
        content = json.dumps({**answer(digest, n), **change}).encode()
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": content})
        self.answered += 1


def answer(digest: str, n: int) -> dict[str, Any]:
    """A whole chat completion."""
    message = {"role": "assistant", "content": f"ANSWER: even\nrequest {digest}"}
    return {
        "id": f"gen-{n}",
        "model": "served",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }
