"""Runs studies of modality: finds what is not settled yet, asks for it, and stores every exchange (it interprets no answer)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from generator import grid, run
from generator.grid import Cell
from generator.record import CellCall
from generator.run import Options, Result, Run
from generator.study import Modality

__all__ = ["Options", "Result", "generate"]


def generate(params: Path, names: Sequence[str], path: Path, data: Path, options: Options | None = None) -> list[Result]:
    """Run the named modality studies of a params file, or all; what is settled already is not asked again. Raises as `run.run`."""
    return run.run(params, names, path, data, options or Options(), _Generation)


class _Generation(Run):
    """One run of one study."""

    asks = Modality

    def run(self) -> Result:
        """Ask for every cell of the grid."""
        self.ask_for()
        with self.progress:
            self.settle(self.cells, self._call)
        return self.result()

    def _call(self, cell: Cell, stored: int, most: int) -> CellCall:
        return CellCall.of(cell, partial(grid.body, cell, self.data), stored, most)
