"""Runs studies of tool use: rollouts first, then checkpoints of those that are to be probed, then verdicts on what exact match cannot read.

Each stage asks a view what is missing and can be run alone, so that stored rollouts can be probed or judged at any later time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from generator import judge, probe, run
from generator.grid import Cell
from generator.judge import Verdict
from generator.models import Model
from generator.pictures import OBSERVATIONS, Pictures
from generator.probe import Checkpoint, Probe, Readout, Replay
from generator.record import CellCall
from generator.rollout import UNDER_WAY, Feed
from generator.run import Batch, Options, Result, Run
from generator.settled import asking, unsettled
from generator.study import ToolUse

HELD = 500  # rollouts whose conversations are held in memory while they are probed


def rollout(params: Path, names: Sequence[str], path: Path, data: Path, options: Options | None = None) -> list[Result]:
    """Run the named tool-use studies of a params file, or all; what is settled already is not asked again. Raises as `run.run`."""
    (data / OBSERVATIONS).mkdir(parents=True, exist_ok=True)
    return run.run(params, names, path, data, options or Options(command="vlmaudit rollout"), _ToolUse)


class _ToolUse(Run):
    """One run of one study."""

    asks = ToolUse
    study: ToolUse

    def run(self) -> Result:
        """Model by model its rollouts and their checkpoints, then the verdicts."""
        cells = self.ask_for()
        pictures, stages = Pictures(self.data), self.options.stages
        left = unsettled(*self.asked)
        with self.progress:
            for name in dict.fromkeys(cell.model_id for cell in self.cells):
                if "rollouts" in stages:
                    self._roll(self.registry[name], left, pictures)
                if "probes" in stages:
                    self._probe(self.registry[name], pictures)
            if "verdicts" in stages and self.study.judge:
                self._judge(self.registry[self.study.judge], cells)
        return self.result()

    def whole_grid(self, cells: list[Cell]) -> list[Cell]:
        """The rollouts, and the verdicts that those need which are stored."""
        if not self.study.judge:
            return cells
        return [*cells, *(verdict.cell for verdict in self._verdicts(self.registry[self.study.judge], cells))]

    def _roll(self, model: Model, left: dict[str, int], pictures: Pictures) -> None:
        """Begin what is left to do of a model's rollouts, each once; `left` is then without them."""
        self.show(len(self.cells), len(self.cells) - len(left))
        todo = [(cell, left.pop(cell.request_key)) for cell in self._cells(model) if cell.request_key in left]
        attempts, most = self.study.attempts, UNDER_WAY * self.concurrency
        if todo:
            self.send([Batch(model, attempts, Feed(todo, self.study.max_calls, attempts, most, pictures, self.writer.journal.append))])

    def _probe(self, model: Model, pictures: Pictures) -> None:
        cells = {cell.request_key: cell for cell in self._cells(model)}
        with asking(self.writer.path, self.study.name, cells.values()) as reading:
            wanted = probe.missing(reading, model.model_id, self.study.probed)
        if not wanted:
            return
        if model.serving == "openrouter":
            self.say(f"{model.model_id} is not probed: a hosted API does not give the log-probabilities of chosen tokens")
            return
        self.servers.check(model)
        readouts = probe.readouts(cells.values(), self.client(model, 1), model)
        self.show(sum(len(checkpoints) for _, checkpoints in wanted.values()), 0)
        names = list(wanted)
        for some in (names[place : place + HELD] for place in range(0, len(names), HELD)):
            with asking(self.writer.path, self.study.name, cells.values()) as reading:
                stored = probe.requests(reading, [wanted[name][0] for name in some])
            replays: deque[tuple[Replay, list[Checkpoint]]] = deque()
            for name in some:
                request_key, messages = stored[wanted[name][0]]
                replays.append((Replay(cells[request_key], name, messages, pictures), wanted[name][1]))
            self.send([Batch(model, self.study.attempts, self._probes(replays, readouts))])

    def _probes(self, replays: deque[tuple[Replay, list[Checkpoint]]], readouts: Mapping[str, Readout]) -> Iterator[Probe]:
        """The calls of rollouts, those of one rollout after each other: they share most of their beginning, which a server may keep."""
        while replays:
            replay, checkpoints = replays.popleft()  # let go of it, and of its crops, with its last probe
            for at in checkpoints:
                yield Probe.of(replay, at, readouts[replay.cell.item_id], self.study.attempts, self.writer.journal.append)

    def _judge(self, model: Model, cells: list[Cell]) -> None:
        verdicts = {verdict.cell.request_key: verdict for verdict in self._verdicts(model, cells)}
        wanted = [verdict.cell for verdict in verdicts.values()]
        self.writer.append_grid(self.study.name, (cell.grid_row() for cell in [*cells, *wanted]))

        def call(cell: Cell, stored: int, most: int) -> CellCall:
            verdict = verdicts[cell.request_key]
            return CellCall.of(cell, verdict.body, stored, most, rollout_id=verdict.rollout_id)

        self.settle([cell for cell in wanted if self.options.shard.holds(cell)], call)

    def _verdicts(self, model: Model, cells: list[Cell]) -> list[Verdict]:
        with asking(self.writer.path, self.study.name, cells) as reading:
            return list(judge.verdicts(reading, self.study, model, cells))

    def _cells(self, model: Model) -> list[Cell]:
        return [cell for cell in self.cells if cell.model_id == model.model_id]
