"""A ceiling on what a study may cost, held while many requests are in flight."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

MARGIN = 2.0  # times the dearest exchange so far


@dataclass
class Prices:
    """What the exchanges with one model have cost, in US dollars: how many were seen, and the dearest."""

    observed: int = 0
    dearest: float = 0.0


@dataclass
class Budget:
    """What a study has spent, over all its runs, and what its requests in flight may still cost, in US dollars.

    Nobody knows the cost of an answer before it is there, so a request in flight reserves twice the dearest exchange of its model so far,
    and goes out only where spent, reserved and its own reserve together stay within the ceiling. While few exchanges were seen, few
    are in flight.
    """

    ceiling: float
    spent: float = 0.0
    prices: dict[str, Prices] = field(default_factory=dict)
    _reserved: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def idle(self) -> bool:
        """Whether nothing is reserved: what does not fit now never will."""
        return not self._reserved

    def reserve(self, key: str, model_id: str) -> bool:
        """Reserve for a request if there is room for it."""
        with self._lock:
            known = self.prices.get(model_id, Prices())
            amount = MARGIN * known.dearest
            if len(self._reserved) > 2 * known.observed or self.spent >= self.ceiling:
                return False
            if self.spent + sum(self._reserved.values()) + amount > self.ceiling:
                return False
            self._reserved[key] = amount
            return True

    def charge(self, model_id: str, cost: float | None) -> None:
        """Count one answer, or an exchange that named a cost; an answer that names none counts as the dearest of its model so far."""
        with self._lock:
            known = self.prices.get(model_id, Prices())
            self.spent += known.dearest if cost is None else cost
            self.prices[model_id] = Prices(known.observed + 1, max(cost or 0.0, known.dearest))

    def release(self, key: str) -> None:
        """The request will cost no more."""
        with self._lock:
            self._reserved.pop(key, None)
