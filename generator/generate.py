"""Runs studies of modality: finds what is not settled yet, asks for it, and stores every exchange (it interprets no answer)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from generator import grid, run
from generator.record import CellCall
from generator.run import Batch, Options, Result, Run
from generator.settled import unsettled
from generator.study import Modality

__all__ = ["Options", "Result", "generate"]


def generate(params: Path, names: Sequence[str], path: Path, data: Path, options: Options | None = None) -> list[Result]:
    """Run the named modality studies of a params file, or all; what is settled already is not asked again. Raises as `run.run`."""
    return run.run(params, names, path, data, options or Options(), _Generation)


class _Generation(Run):
    """One run of one study."""

    asks = Modality

    def run(self) -> Result:
        """Pass by pass, until all are settled or have taken their attempts."""
        self.ask_for()
        with self.progress:
            while todo := self._todo(unsettled(*self.asked)):
                self.send([Batch(calls[0].model, calls[0].most, calls) for calls in _by_model(todo)])
        return self.result()

    def _todo(self, left: Mapping[str, int]) -> list[CellCall]:
        """The calls of the next pass. Each takes at least one exchange, so that the passes end."""
        used = self.recorder.exchanges
        open_cells = [cell for cell in self.cells if cell.request_key in left and used[cell.request_key] < self.study.attempts]
        most = min((self.study.attempts - used[cell.request_key] for cell in open_cells), default=0)
        tally = self.recorder.tally
        tally.total, tally.done = len(self.cells), len(self.cells) - len(left)
        tally.failed = len(left) - len(open_cells)
        return [CellCall.of(cell, partial(grid.body, cell, self.data), left[cell.request_key], most) for cell in open_cells]


def _by_model(calls: Sequence[CellCall]) -> list[list[CellCall]]:
    return [list(group) for _, group in groupby(calls, key=lambda call: call.model.model_id)]
