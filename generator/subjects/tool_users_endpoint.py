"""The endpoint around a simulated tool user: chat completions, and what probes need, in the form in which vLLM replies.

`logprob_token_ids` are answered at the next token, `prompt_logprobs` for the text that is to be continued; `/tokenize` says which tokens
a text has. A token is a word with the space before it, or a mark.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from generator.subjects import chat, draw
from generator.subjects.chat import App, Speech
from generator.subjects.question import MalformedError
from generator.subjects.tool_users import User
from generator.subjects.tool_users_conversation import Conversation, read

MARK = "<answer>"
BARE = 0.9  # of an option's probability, the share of its letter without a space before it
UNLIKELY = -18.0  # the log-probability of any other token


def application(name: str, seed: int, price_usd: float = 0.0) -> App:
    """An ASGI application that answers POST /v1/chat/completions, POST /tokenize and GET /v1/models for a tool user."""
    completed = partial(_completed, name, seed, price_usd)
    return chat.endpoint(f"sim/{name}", {"/v1/chat/completions": completed, "/tokenize": _tokenized})


def pieces(text: str) -> list[str]:
    """The tokens of a text."""
    return re.findall(r" ?\w+|\s+|[^\w\s]", text)


def token_id(piece: str) -> int:
    """A token's number."""
    return int(hashlib.sha256(piece.encode()).hexdigest()[:6], 16)


def _tokenized(request: bytes) -> tuple[int, dict[str, Any]]:
    try:
        text = json.loads(request)["prompt"]
        ids = [token_id(piece) for piece in pieces(text)]
    except (ValueError, KeyError, TypeError):
        return 400, chat.error("prompt must be a text", "prompt")
    return 200, {"count": len(ids), "max_model_len": 65_536, "tokens": ids, "token_strs": None}


def _completed(name: str, seed: int, price_usd: float, request: bytes) -> tuple[int, dict[str, Any]]:
    try:
        asked = read(json.loads(request))
    except MalformedError as fault:
        return 400, chat.error(str(fault), fault.field)
    except (ValueError, RecursionError, LookupError, TypeError):
        return 400, chat.error("the body is no chat-completion request", None)
    user = User(name, asked, seed)
    if asked.begun is None:
        return 200, chat.completion(asked, chat.within(Speech(user.says()), asked.max_tokens), seed, price_usd)
    body = chat.completion(asked, Speech("", "length"), seed, price_usd)
    if asked.body.get("prompt_logprobs") is not None:
        return 200, {**body, "prompt_logprobs": _of_prompt(user, asked.begun)}
    body["choices"][0] |= _of_next_token(user, asked)
    return 200, body


def _of_next_token(user: User, asked: Conversation) -> dict[str, Any]:
    """The choice with the log-probabilities of the tokens that were asked for, the sampled one first."""
    mass = 0.6 + 0.4 * draw.uniform("mass", user.seed, asked.identity)
    known: dict[int, float] = {}
    for letter, probability in (user.preference() if asked.options else {}).items():
        known |= {token_id(letter): probability * mass * BARE, token_id(f" {letter}"): probability * mass * (1 - BARE)}
    wanted = [number for number in asked.body.get("logprob_token_ids") or [] if isinstance(number, int)]
    logprobs = {number: math.log(known[number]) if number in known else UNLIKELY for number in wanted}
    best = max(logprobs, key=lambda number: logprobs[number], default=0)
    entries = [_entry(number, logprobs.get(number, UNLIKELY)) for number in [best, *(number for number in logprobs if number != best)]]
    return {"logprobs": {"content": [{**entries[0], "top_logprobs": entries}]}}


def _entry(number: int, logprob: float) -> dict[str, Any]:
    return {"token": f"token_id:{number}", "logprob": logprob, "bytes": None}


def _of_prompt(user: User, begun: str) -> list[Mapping[str, Any] | None]:
    """The log-probability of each token of the text that is to be continued; those of an answer rise once the target was seen."""
    start = begun.rfind(MARK) + len(MARK) if MARK in begun else len(begun)
    found: list[Mapping[str, Any] | None] = [None]
    for place, piece in enumerate([*pieces(begun[:start]), *pieces(begun[start:])]):
        noise = 0.01 * (draw.uniform("piece", place, user.seed, user.asked.identity) - 0.5)
        logprob = (-0.5 if user.planted.after and user.has_seen else -2.0) + noise
        found.append({str(token_id(piece)): {"logprob": logprob, "rank": 1, "decoded_token": piece}})
    return found
