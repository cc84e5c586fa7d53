"""Rates, scores and summaries, in exact fractions until the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import sqrt
from statistics import median

from tests.independent.calls import Row

ATTRIBUTIONS = ("A", "B", "both", "either")
Scored = tuple[str, str | None]  # gold answer, answer given


def rate(count: int | Fraction, of: int) -> float | None:
    return float(Fraction(count) / of) if of else None


def exact(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def spread(name: str, values: Iterable[float | None]) -> Row:
    """A task's median and range of its cells' rates, skipping cells that have none."""
    known = [value for value in values if value is not None]
    return {name: middle(known), f"{name}_min": min(known, default=None), f"{name}_max": max(known, default=None)}


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's; None where either side does not vary."""
    if not pairs or any(len(set(side)) == 1 for side in zip(*pairs, strict=True)):
        return None
    mean_x, mean_y = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    xx, yy = sum((x - mean_x) ** 2 for x, _ in pairs), sum((y - mean_y) ** 2 for _, y in pairs)
    return float(sum((x - mean_x) * (y - mean_y) for x, y in pairs)) / sqrt(xx * yy)


def squared_shares(values: Sequence[str]) -> float | None:
    """The chance that two independent draws from these values agree."""
    return rate(sum(n * n for n in Counter(values).values()), len(values) ** 2)


def attribution(alone_a: str | None, alone_b: str | None, joint: str | None) -> str:
    """Which inputs' answers reproduce the joint one; `both`: neither alone does."""
    return {(True, True): "either", (True, False): "A", (False, True): "B", (False, False): "both"}[alone_a == joint, alone_b == joint]


def metric_of(task: str) -> str:
    return {"mmimdb": "sample_f1", "isobench/math_parity": "macro_f1"}.get(task, "accuracy")


def set_f1(gold: str, answer: str | None) -> Fraction:
    true, given = set(json.loads(gold)), set(json.loads(answer or "[]"))
    return Fraction(2 * len(given & true), len(given) + len(true))


def class_counts(gold: str, answer: str | None) -> list[tuple[str, int, int, int]]:
    """(class, hit, missed, false alarm) of each class that an answer counts for; a lost one only misses its gold class."""
    if answer == gold:
        return [(gold, 1, 0, 0)]
    return [(gold, 0, 1, 0)] + ([(answer, 0, 0, 1)] if answer is not None else [])


def macro_f1(pairs: Iterable[Scored]) -> Fraction:
    """Over the classes that occur as gold or answer."""
    totals: dict[str, list[int]] = {}
    for pair in pairs:
        for name, *counts in class_counts(*pair):
            totals[name] = [a + b for a, b in zip(totals.get(name, [0, 0, 0]), counts, strict=True)]
    f1 = [Fraction(2 * hit, 2 * hit + missed + alarm) for hit, missed, alarm in totals.values()]
    return sum(f1, Fraction(0)) / len(f1)


def score(task: str, pairs: Sequence[Scored]) -> Fraction | None:
    """The task's metric over these answers; None where there are none."""
    if not pairs:
        return None
    if metric_of(task) == "sample_f1":
        return sum((set_f1(*pair) for pair in pairs), Fraction(0)) / len(pairs)
    if metric_of(task) == "macro_f1":
        return macro_f1(pairs)
    return Fraction(sum(gold == answer for gold, answer in pairs), len(pairs))
