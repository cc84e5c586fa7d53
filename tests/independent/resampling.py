"""The paired cluster bootstrap in numpy: the same draws as the product's, by the formula and not by its code."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from tests.independent.calls import Row
from tests.independent.study import Study

P = 2**31 - 1
Contribution = tuple[str, float | Fraction, float | Fraction]  # item, numerator, denominator
Vector = npt.NDArray[np.float64]


def draws(resamples: int, n: int, seed: int = 0) -> npt.NDArray[np.int64]:
    """The cluster that each draw of each resample takes, in plain Python integers: (resamples, n)."""
    starts = [pow((r * 1597334677 + seed) % P, 5, P) for r in range(resamples)]
    return np.array([[pow((start + i * 747796405 + 1) % P, 5, P) % n for i in range(n)] for start in starts])


def weights(resamples: int, n: int, seed: int = 0) -> Vector:
    """How often each cluster is drawn in each resample: (resamples, n)."""
    return np.stack([np.bincount(row, minlength=n) for row in draws(resamples, n, seed)]).astype(float)


class Estimate:
    """One estimate: its point, its value in each resample (NaN where it has none), and the ends that follow."""

    def __init__(
        self, point: float | None, values: Vector, n: float, n_clusters: int, kind: str = "rate", se: float | None = None, seed: int = 0
    ) -> None:
        self.point, self.values, self.n, self.n_clusters, self.kind, self.se, self.seed = point, values, n, n_clusters, kind, se, seed
        self.known = values[~np.isnan(values)]

    def ends(self, confidence: float = 0.95) -> tuple[float, float] | tuple[None, None]:
        if self.n_clusters < 2 or self.point is None or not len(self.known):
            return None, None
        low, high = map(float, np.quantile(self.known, [(1 - confidence) / 2, (1 + confidence) / 2]))
        return (low, high) if low < high else self.never_varies(confidence)

    def never_varies(self, confidence: float) -> tuple[float, float]:
        """Wilson's interval of a rate; for a difference Newcombe's hybrid of two of them at 0 or at 1, for a ratio likewise."""
        assert self.point is not None
        z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
        if self.kind in ("difference", "ratio"):
            half = z2 / (self.n + z2)
            least, most = (-1.0, 1.0) if self.kind == "difference" else (0.0, float("inf"))
            return max(self.point - half, least), min(self.point + half, most)
        middle = (self.point + z2 / (2 * self.n)) / (1 + z2 / self.n)
        half = sqrt(z2) * sqrt(max(self.point * (1 - self.point), 0) / self.n + z2 / (4 * self.n**2)) / (1 + z2 / self.n)
        return max(middle - half, 0.0), min(middle + half, 1.0)

    @property
    def p(self) -> float | None:
        """Two-sided: twice the share of resamples on the rarer side of 0."""
        if self.ends()[0] is None:
            return None
        beyond = min((self.known <= 0).sum(), (self.known >= 0).sum())
        return float(min(2 * (1 + beyond) / (len(self.known) + 1), 1.0))

    def columns(self, name: str, *more: str) -> Row:
        """`name` with its ends, and what else is asked of `se` and `p`."""
        low, high = self.ends()
        extra = {f"{name}_{each}": getattr(self, each) for each in more}
        return {f"{name}_low": low, f"{name}_high": high, **extra}

    def once(self) -> Row:
        """What stands once in a row."""
        if self.n_clusters == 0:
            return {"few_clusters": None, "resamples": None, "seed": None}
        return {"few_clusters": self.n_clusters < 20, "resamples": len(self.known), "seed": self.seed}


class Median(Estimate):
    """The median over the cells of a task, taken anew in each resample."""

    def __init__(self, cells: Sequence[Estimate]) -> None:
        cells = [cell for cell in cells if cell.n_clusters]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # all cells NaN in a resample: so is the median
            values = np.nanmedian([cell.values for cell in cells], axis=0) if cells else np.array([np.nan])
        points = [cell.point for cell in cells if cell.point is not None]
        super().__init__(
            float(np.median(points)) if points else None, values, len(points), max((cell.n_clusters for cell in cells), default=0)
        )
        self.cells = cells

    def never_varies(self, confidence: float) -> tuple[float, float]:
        ends = [cell.ends(confidence) for cell in self.cells]
        low, high = (float(np.median([end for end in side if end is not None])) for side in zip(*ends, strict=True))
        return low, high


class Bootstrap:
    """One study's clusters, task by task, and their resamples."""

    def __init__(self, study: Study, resamples: int, seed: int = 0) -> None:
        self.study, self.resamples, self.seed = study, resamples, seed
        tasks = {row["task"] for row in study.rows}
        members = {task: sorted({study.cluster(row["item_id"]) for row in study.rows if row["task"] == task}) for task in tasks}
        self._place = {task: {cluster: place for place, cluster in enumerate(names)} for task, names in members.items()}
        self._weights = {task: weights(resamples, len(names), seed) for task, names in members.items()}

    def sums(self, task: str, contributions: Iterable[Contribution]) -> tuple[Vector, Vector]:
        """Numerators and denominators by cluster."""
        place = self._place[task]
        totals = [[Fraction(0), Fraction(0)] for _ in place]
        for item_id, numerator, denominator in contributions:
            total = totals[place[self.study.cluster(item_id)]]
            total[0] += Fraction(numerator)
            total[1] += Fraction(denominator)
        return np.array([float(a) for a, _ in totals]), np.array([float(b) for _, b in totals])

    def drawn(self, task: str, a: Vector, b: Vector) -> Vector:
        """The ratio in each resample."""
        numerators, denominators = self._weights[task] @ a, self._weights[task] @ b
        values: Vector = np.divide(numerators, denominators, out=np.full(self.resamples, np.nan), where=denominators > 0)
        return values

    def ratio(self, task: str, contributions: Iterable[Contribution], kind: str = "rate") -> Estimate:
        a, b = self.sums(task, contributions)
        n_clusters, point = int((b > 0).sum()), float(a.sum() / b.sum()) if b.sum() else None
        se = None
        if point is not None and n_clusters > 1:
            se = float(sqrt(n_clusters / (n_clusters - 1) * ((a - point * b) ** 2).sum()) / b.sum())
        return Estimate(point, self.drawn(task, a, b), round(b.sum()), n_clusters, kind, se, self.seed)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted for the family that they are; NULLs are no tests."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, place) in enumerate(known):
        least = max(least, min(1.0, (len(known) - rank) * p))
        adjusted[place] = least
    return adjusted
