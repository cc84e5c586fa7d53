"""Where the twins' randomness comes from."""

from collections.abc import Mapping
from random import Random
from typing import TypeVar

Choice = TypeVar("Choice")


def drawn(task: str, seed: int) -> Random:
    """The generator for one task and seed: tasks do not move each other's draws, and every machine draws the same."""
    return Random(f"{task}:{seed}")  # noqa: S311 - pictures, not secrets


def weighted(random: Random, weights: Mapping[Choice, int]) -> Choice:
    """One of the keys, each as often as its weight says."""
    return random.choices(list(weights), weights=list(weights.values()))[0]
