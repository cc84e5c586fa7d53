"""Where the twins' randomness comes from."""

from random import Random


def drawn(task: str, seed: int) -> Random:
    """The generator for one task and seed: tasks do not move each other's draws, and every machine draws the same."""
    return Random(f"{task}:{seed}")  # noqa: S311 - pictures, not secrets
