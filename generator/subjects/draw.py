"""Chance for simulated subjects: every draw is a hash of what it depends on, so a reply depends on nothing but seed and request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeVar

Outcome = TypeVar("Outcome")


def uniform(*of: object) -> float:
    """A number in [0, 1) that depends on the arguments alone; calls that differ in any of them are independent."""
    digest = hashlib.sha256(json.dumps(of).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def pick(options: Sequence[Outcome], *of: object) -> Outcome:
    """One of the options, each equally often."""
    return options[int(uniform(*of) * len(options))]


def choose(odds: Mapping[Outcome, float], *of: object) -> Outcome:
    """One of the outcomes, each as often as its probability says; they add to 1."""
    left = uniform(*of)
    for outcome, probability in odds.items():
        left -= probability
        if left < 0:
            return outcome
    return max(odds, key=lambda outcome: odds[outcome])  # rounding has left the probabilities a hair short of 1
