"""One run of one study: its calls are sent through a client, recorded, made durable and merged, whatever they ask."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, get_args

from analysis import session
from analysis.errors import LockedError, ProviderError, UsageError
from generator import corpus, grid, study, warehouse
from generator.budget import Budget, Prices
from generator.client import Client, Clock, each
from generator.grid import Cell
from generator.items import Item
from generator.models import Model
from generator.progress import Progress
from generator.record import Call, Recorder, run_row
from generator.serve import Servers
from generator.settled import Failures, failures, unsettled
from generator.shard import WHOLE, Shard
from generator.study import Study
from generator.warehouse import Writer

TICK_S = 0.1  # how often what has arrived is made durable
MERGE_S = 2.0  # how often it is merged, so that readers see it
MERGE_RECORDS = 500
Stage = Literal["rollouts", "probes", "verdicts"]
STAGES: tuple[Stage, ...] = get_args(Stage)
COMMANDS = {"modality": "vlmaudit generate", "tool_use": "vlmaudit rollout"}  # what runs the studies of a protocol


@dataclass(frozen=True)
class Result:
    """How a study stands after a run: what it asks for and what of that is settled, exchanges stored by this run, failures by condition."""

    study: str
    requests: int
    settled: int
    stored: int
    failures: list[Failures]


@dataclass(frozen=True)
class Options:
    """What a user may choose for one run: only these models (all when empty), only this part of the requests, how many of them in flight
    (the study's when None), and of a tool-use study only these stages.
    """

    models: tuple[str, ...] = ()
    concurrency: int | None = None
    command: str = "vlmaudit generate"
    say: Callable[[str], None] | None = None
    clock: Clock | None = None
    stages: tuple[Stage, ...] = STAGES
    shard: Shard = WHOLE


class Batch(NamedTuple):
    """Calls to one model, each with at most `most` exchanges. Where they depend on each other, `calls` gives the next when it can."""

    model: Model
    most: int
    calls: Iterable[Call] | AsyncIterable[Call]


class Run:
    """What the runs of all protocols share."""

    asks: ClassVar[type[Study]]  # the studies that are run so

    def __init__(self, each: Study, registry: Mapping[str, Model], data: Path, writer: Writer, servers: Servers, options: Options) -> None:
        self.study, self.registry, self.data, self.writer, self.servers, self.options = each, registry, data, writer, servers, options
        self.recorder = Recorder(writer.journal, run_row(each.name, options.command))
        self.progress = Progress(each.name, options.say)
        self.say = options.say or (lambda line: print(line, file=sys.stderr, flush=True))
        self.cells: list[Cell] = []
        self.is_spent = False
        self.not_before: dict[str, float] = {}  # until when a base URL wants no request; the next pass has a client of its own

    @property
    def asked(self) -> tuple[Path, str, list[Cell]]:
        """Where what of which study is asked in this run."""
        return self.writer.path, self.study.name, self.cells

    @property
    def concurrency(self) -> int:
        """Requests in flight."""
        return self.options.concurrency or self.study.concurrency

    def run(self) -> Result:
        """Ask until every request is settled or has taken its attempts."""
        raise NotImplementedError

    def result(self) -> Result:
        """How the study stands."""
        settled = len(self.cells) - len(unsettled(*self.asked))
        return Result(self.study.name, len(self.cells), settled, self.recorder.tally.exchanges, failures(*self.asked))

    def ask_for(self) -> list[Cell]:
        """Store what the study asks for: its items, their images, its whole grid; `cells` are those that this run is to settle."""
        chosen: list[Item] = list(corpus.items_of(self.study, self.data))
        cells = list(grid.requests(self.study, chosen, self.registry))
        self.writer.merge("image", corpus.image_rows(chosen, self.data))
        self.writer.merge("item", map(corpus.item_row, chosen))
        self.writer.append_grid(self.study.name, (cell.grid_row() for cell in self.whole_grid(cells)))
        chosen_models = self.options.models or self.study.models
        self.cells = [cell for cell in cells if cell.model_id in chosen_models and self.options.shard.holds(cell)]
        self.recorder.budget = self._budget()
        return cells

    def whole_grid(self, cells: list[Cell]) -> list[Cell]:
        """All that the grid asks for, given what it asks for from the start."""
        return cells

    def settle(self, cells: Sequence[Cell], call: Callable[[Cell, int, int], Call]) -> None:
        """Ask for cells of one request each, pass by pass, until all are settled or have taken their attempts.

        `call` makes the call for a cell of which so many attempts are stored, in at most so many exchanges.
        """
        path, name, _ = self.asked
        while todo := self._todo(cells, unsettled(path, name, cells), call):
            groups = [list(group) for _, group in groupby(todo, key=lambda made: made.model.model_id)]
            self.send([Batch(group[0].model, group[0].most, group) for group in groups])

    def _todo(self, cells: Sequence[Cell], left: Mapping[str, int], call: Callable[[Cell, int, int], Call]) -> list[Call]:
        """The calls of the next pass. Each takes at least one exchange, so that the passes end."""
        used = self.recorder.exchanges
        open_cells = [cell for cell in cells if cell.request_key in left and used[cell.request_key] < self.study.attempts]
        most = min((self.study.attempts - used[cell.request_key] for cell in open_cells), default=0)
        self.show(len(cells), len(cells) - len(left), len(left) - len(open_cells))
        return [call(cell, left[cell.request_key], most) for cell in open_cells]

    def show(self, total: int, done: int, failed: int = 0) -> None:
        """Set what the progress is counted from."""
        tally = self.recorder.tally
        tally.total, tally.done, tally.failed = total, done, failed

    def send(self, batches: Sequence[Batch]) -> None:
        """Send and store all calls, then merge. What is missing (a key, vLLM) is said before anything is sent."""
        for batch in batches:
            self.servers.check(batch.model)
        for batch in batches:
            self.servers.endpoint(batch.model)  # here, where Ctrl-C ends a wait of minutes for a server
            try:
                asyncio.run(self._send_and_store(batch))
            except ProviderError as fault:
                raise self.servers.died() or fault from None
            finally:
                _merge_rest(self.writer)
            if self.is_spent:
                raise self._ceiling_reached()

    async def _send_and_store(self, batch: Batch) -> None:
        sending, storing = asyncio.create_task(self._send(batch)), asyncio.create_task(self._store())
        try:
            await asyncio.wait({sending, storing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sending.cancel()
            storing.cancel()
            await asyncio.gather(sending, storing, return_exceptions=True)  # on Ctrl-C: what is arriving is still recorded
        for task in (storing, sending):
            if not task.cancelled():
                task.result()

    async def _send(self, batch: Batch) -> None:
        model, most, calls = batch
        async with self.client(model, most) as asking:
            asking.hold(self.not_before)
            await asking.send_all(self._admitted(calls), self.recorder)
            self.not_before |= asking.held()

    def client(self, model: Model, attempts: int) -> Client:
        """A client of the model's endpoint."""
        at = self.servers.endpoint(model)
        limits = {"concurrency": self.concurrency, "attempts": attempts}
        return Client(at.base_url, at.api_key, at.transport, identity=at.identity, also=at.also, clock=self.options.clock, **limits)

    async def _admitted(self, calls: Iterable[Call] | AsyncIterable[Call]) -> AsyncIterator[Call]:
        """The calls one by one, each when the cost ceiling has room for it."""
        budget = self.recorder.budget
        async for call in each(calls):
            while budget:
                is_idle = budget.idle  # before trying: what is released after the try may make room
                if budget.reserve(call.key, call.model.model_id):
                    break
                if is_idle:
                    self.is_spent = True
                    return
                await asyncio.sleep(TICK_S / 5)
            yield call

    async def _store(self) -> None:
        """Make what was recorded durable, then count it as done; merge it now and then, unless a reader is at the warehouse."""
        merged = stored = self.recorder.tally.exchanges
        due = time.monotonic() + MERGE_S
        while True:
            await asyncio.sleep(TICK_S)
            tally = replace(self.recorder.tally)
            if tally.exchanges > stored:
                await asyncio.to_thread(self.writer.journal.sync)
                stored = tally.exchanges
            self.progress.show(tally)
            if stored > merged and (time.monotonic() > due or stored - merged >= MERGE_RECORDS):
                with suppress(LockedError):
                    await asyncio.to_thread(self.writer.merge_journal)
                    merged = stored
                due = time.monotonic() + MERGE_S

    def _budget(self) -> Budget | None:
        """The study's ceiling with what earlier runs spent of it."""
        if self.study.cost_ceiling_usd is None:
            return None
        budget = Budget(self.study.cost_ceiling_usd)
        with session.open(self.writer.path) as reading:
            rows = reading.rows(
                """
                SELECT
                    model_id, sum(cost_usd) AS spent, count(*) AS observed, max(cost_usd) AS dearest,
                    count(*) FILTER (cost_usd IS NULL AND http_status BETWEEN 200 AND 299 AND error IS NULL) AS unpriced
                FROM raw.completion
                WHERE request_key IN (SELECT request_key FROM raw.grid WHERE study = ?)
                GROUP BY model_id
                """,
                [self.study.name],
            )
        for row in rows:
            budget.prices[row["model_id"]] = Prices(row["observed"], row["dearest"] or 0.0)
            budget.spent += (row["spent"] or 0.0) + row["unpriced"] * (row["dearest"] or 0.0)
        return budget

    def _ceiling_reached(self) -> ProviderError:
        left = len(unsettled(*self.asked))
        spent = self.recorder.budget.spent if self.recorder.budget else 0.0
        return ProviderError(
            f"study {self.study.name} has spent ${spent:.4f}, and its ceiling of ${self.study.cost_ceiling_usd:g} has no room for another "
            f"request: {left} are left; raise cost_ceiling_usd and run again to go on"
        )


def run(params: Path, names: Sequence[str], path: Path, data: Path, options: Options, kind: type[Run]) -> list[Result]:
    """Run the named studies of a protocol one after the other, or all of it, as the warehouse's one writer.

    Everything received is in the warehouse or its journal when this returns or raises: KeyboardInterrupt on Ctrl-C, ProviderError where
    a provider refused, answered as somebody else, or the cost ceiling was reached; UsageError, DataError, LockedError.
    """
    studies, registry = study.load(params), study.registry(params)
    picked = [each for each in choose(studies, names, params) if isinstance(each, kind.asks)]
    for name in names:
        if (protocol := studies[name].protocol) != kind.asks.protocol:
            raise UsageError(f"{name} is a study of {protocol}: run `{COMMANDS[protocol]} --study {name}`")
    asked = {model for each in picked for model in each.models}
    if unknown := sorted(set(options.models) - asked):
        raise UsageError(f"no chosen study asks {', '.join(unknown)}: they ask {', '.join(sorted(asked))}")
    with warehouse.writer(path) as writer, Servers(data / "logs", options.say) as servers:
        corpus.prepare(studies.values(), data, options.say)
        return [kind(each, registry, data, writer, servers, options).run() for each in picked]


def choose(studies: Mapping[str, Study], names: Sequence[str], params: Path) -> list[Study]:
    """The named studies, or all; UsageError for a name that the file lacks."""
    for name in names:
        if name not in studies:
            raise UsageError(f"there is no study {name!r} in {params}: it has {', '.join(studies)}")
    return [studies[name] for name in names or studies]


def _merge_rest(writer: Writer) -> None:
    try:
        writer.merge_journal()
    except LockedError as fault:
        raise LockedError(f"{fault}; what was received waits in {writer.journal.path}") from None
