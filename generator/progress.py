"""What a run has done so far, on standard error: a line that renews itself on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.live import Live

WINDOW_S = 30.0  # the rate is that of the last half minute, so that a stall shows
PLAIN_EVERY_S = 10.0


@dataclass
class Tally:
    """How a study stands: of `total` requests so many are done (settled, or answered since that was last looked up) and so many failed.

    `exchanges` counts those of this run, `ended` its requests that were answered or given up, `tokens` and `cost_usd` what its replies
    said, `unpriced` the answers that said nothing about their cost.
    """

    total: int = 0
    done: int = 0
    failed: int = 0
    exchanges: int = 0
    ended: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    def count(self, answered: Mapping[str, Any], is_good: bool, is_last: bool) -> None:
        """Take one exchange into account; `is_last` where its request takes no further one."""
        self.exchanges += 1
        self.tokens += (answered["prompt_tokens"] or 0) + (answered["completion_tokens"] or 0)
        self.cost_usd += answered["cost_usd"] or 0.0
        self.unpriced += is_good and answered["cost_usd"] is None
        self.ended += is_last
        self.done += is_last and is_good
        self.failed += is_last and not is_good


class Progress(AbstractContextManager["Progress"]):
    """Shows a study's tally. `ended` requests a second over the last half minute give the rate and the time left."""

    def __init__(self, label: str, say: Callable[[str], None] | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self.label = label
        self._now = now
        self._live: Live | None = None
        self._say = say or (lambda line: print(line, file=sys.stderr, flush=True))
        self._said = now()
        self._samples: deque[tuple[float, int]] = deque()

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, where: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def show(self, tally: Tally) -> None:
        """Take note of the tally; print it where it is time to."""
        now = self._now()
        self._samples.append((now, tally.ended))
        while len(self._samples) > 2 and self._samples[1][0] < now - WINDOW_S:
            self._samples.popleft()
        if self._live:
            from rich.text import Text

            self._live.update(Text(self.line(tally)))
        elif now - self._said >= PLAIN_EVERY_S:
            self._said = now
            self._say(self.line(tally))

    def line(self, tally: Tally) -> str:
        """`demo: 1,200 of 4,800 done, 3 failed, 52.1/s, 1.2 M tokens, $0.42, 1:09 left`; what is not known is said to be unknown."""
        rate = self.rate()
        left = tally.total - tally.done - tally.failed
        parts = [
            f"{tally.done:,} of {tally.total:,} done",
            f"{tally.failed:,} failed",
            f"{rate:.1f}/s",
            f"{_short(tally.tokens)} tokens",
            cost(tally),
        ]
        parts.append("nothing left" if left <= 0 else f"{_duration(left / rate)} left" if rate > 0 else "time left unknown")
        return f"{self.label}: {', '.join(parts)}"

    def rate(self) -> float:
        """Requests that ended per second over the window; 0 before two moments were seen."""
        if len(self._samples) < 2:
            return 0.0
        (began, before), (now, after) = self._samples[0], self._samples[-1]
        return (after - before) / (now - began) if now > began else 0.0


def cost(tally: Tally) -> str:
    """The cost as far as the replies said it."""
    if not tally.cost_usd and tally.unpriced:
        return "cost not reported"
    unknown = f" and {tally.unpriced:,} answers of unknown cost" if tally.unpriced else ""
    return f"${tally.cost_usd:.4f}{unknown}"


def _short(number: int) -> str:
    for factor, unit in ((1_000_000, " M"), (1_000, " k")):
        if number >= factor:
            return f"{number / factor:.1f}{unit}"
    return str(number)


def _duration(seconds: float) -> str:
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"
