"""Simulated subjects: models with planted behaviour behind the same HTTP interface, so that every reported rate has a known true value."""

from __future__ import annotations

from functools import partial

import httpx

from analysis.errors import UsageError
from generator.subjects import copycat, honest, judge, mixed, tool_users_endpoint
from generator.subjects.chat import App, application
from generator.subjects.tool_users import KINDS

SUBJECTS = {"honest": honest.speak, "copycat": copycat.speak, "mixed": mixed.speak}
TOOL_USERS = (*KINDS, "tool-mixture")
BASE_URL = "http://simulated/v1"  # where a client behind `transport` sends to; nothing listens there


def app(name: str, seed: int = 0, price_usd: float = 0.0) -> App:
    """A subject as an ASGI application (chat completions, models; of a tool user also what probes need).

    `price_usd` is what it charges for a token. Raises UsageError where there is no such subject.
    """
    if name in TOOL_USERS:
        return tool_users_endpoint.application(name, seed, price_usd)
    if name == "judge":
        return judge.application(seed, price_usd)
    if name not in SUBJECTS:
        raise UsageError(f"there is no simulated subject {name!r}: there are {', '.join((*SUBJECTS, *TOOL_USERS, 'judge'))}")
    return application(f"sim/{name}", partial(SUBJECTS[name], seed=seed), seed, price_usd)


def transport(name: str, seed: int = 0, price_usd: float = 0.0) -> httpx.ASGITransport:
    """The same in process, for `Client(BASE_URL, transport=...)`."""
    return httpx.ASGITransport(app(name, seed, price_usd))
