"""The endpoint around a simulated subject: OpenAI's chat completions as a plain ASGI application.

A reply is a function of the subject, its seed and the request. Tokens are counted as words, an image as IMAGE_TOKENS of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from generator.subjects.question import MalformedError, Question, digest, read

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

IMAGE_TOKENS = 256


@dataclass(frozen=True)
class Speech:
    """What a subject says. `content` None is an answer that never came; `reasoning` goes into the message's field `reasoning_field`."""

    content: str | None
    finish_reason: str = "stop"
    reasoning: str | None = None
    reasoning_field: str = "reasoning"


class Asked(Protocol):
    """What a completion says of its request."""

    @property
    def model(self) -> str:
        """The model that was asked."""

    @property
    def identity(self) -> str:
        """A digest of all that may move the reply."""

    def words(self) -> int:
        """How many words of text the prompt holds."""

    def pictures(self) -> int:
        """How many images the prompt holds."""


Subject = Callable[[Question], Speech]
Answer = Callable[[bytes], tuple[int, dict[str, Any]]]  # a request's body -> the status and body that answer it


def application(name: str, subject: Subject, seed: int, price_usd: float = 0.0) -> App:
    """An ASGI application that answers POST /v1/chat/completions and GET /v1/models for a subject.

    `price_usd` is charged for each token, and reported as `usage.cost` where it is not 0.
    """
    return endpoint(name, {"/v1/chat/completions": lambda request: completed(subject, request, seed, price_usd)})


def endpoint(name: str, posts: Mapping[str, Answer]) -> App:
    """An ASGI application that answers POST to these paths, and GET /v1/models."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        request = await received(receive)
        match scope["method"], scope["path"]:
            case "GET", "/v1/models":
                status, body = 200, {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "simulated"}]}
            case "POST", path if path in posts:
                status, body = posts[path](request)
            case _:
                status, body = 404, error(f"there is no {scope['method']} {scope['path']}", None)
        await respond(send, status, json.dumps(body).encode())

    return app


async def received(receive: Receive) -> bytes:
    """The whole body of a request."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def respond(send: Send, status: int, body: bytes, headers: MutableMapping[str, str] | None = None) -> None:
    """Send a whole response; JSON unless the headers say otherwise."""
    given = {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
    await send({"type": "http.response.start", "status": status, "headers": [(k.encode(), v.encode()) for k, v in given.items()]})
    await send({"type": "http.response.body", "body": body})


def completed(subject: Subject, request: bytes, seed: int, price_usd: float) -> tuple[int, dict[str, Any]]:
    """The status and body that answer a request's body."""
    try:
        question = read(json.loads(request))
    except MalformedError as fault:
        return 400, error(str(fault), fault.field)
    except (ValueError, RecursionError):
        return 400, error("the body is no JSON", None)
    speech = within(subject(question), question.max_tokens)
    return 200, completion(question, speech, seed, price_usd)


def completion(question: Asked, speech: Speech, seed: int, price_usd: float) -> dict[str, Any]:
    """A speech as a chat completion."""
    message = {"role": "assistant", "content": speech.content}
    if speech.reasoning is not None:
        message[speech.reasoning_field] = speech.reasoning
    prompt = question.words() + IMAGE_TOKENS * question.pictures()
    thought, said = (len((text or "").split()) for text in (speech.reasoning, speech.content))
    usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": thought + said, "total_tokens": prompt + thought + said}
    if thought:
        usage["completion_tokens_details"] = {"reasoning_tokens": thought}
    if price_usd:
        usage["cost"] = price_usd * usage["total_tokens"]
    stop_reason = "repetition_detected" if speech.finish_reason == "repetition" else None
    return {
        "id": f"sim-{digest(str(seed), question.identity)}",
        "object": "chat.completion",
        "created": 0,  # no clock: the same request gets the same bytes
        "model": question.model,
        "provider": "simulated",
        "precision": "exact",
        "system_fingerprint": f"vlmaudit-{installed()}-{seed}",
        "choices": [{"index": 0, "message": message, "finish_reason": speech.finish_reason, "stop_reason": stop_reason}],
        "usage": usage,
    }


def within(speech: Speech, max_tokens: int | None) -> Speech:
    """The speech, cut where it has spent its tokens."""
    if max_tokens is None:
        return speech
    reasoning, left = cut(speech.reasoning, max_tokens)
    content, unspent = cut(speech.content, left)
    if (reasoning, content) == (speech.reasoning, speech.content):
        return speech
    return replace(speech, reasoning=reasoning, content=content, finish_reason="length")


def cut(text: str | None, words: int) -> tuple[str | None, int]:
    """At most the first so many words of a text, and how many are left for more."""
    if text is None:
        return None, words
    ends = [word.end() for word in re.finditer(r"\S+", text)]
    if len(ends) <= words:
        return text, words - len(ends)
    return (text[: ends[words - 1]] if words else None), 0


def error(message: str, field: str | None) -> dict[str, Any]:
    """A refusal in OpenAI's form."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": field, "code": None}}


def installed() -> str:
    """This package's version: the subjects are part of it."""
    try:
        return version("vlmaudit")
    except PackageNotFoundError:
        return "0"
