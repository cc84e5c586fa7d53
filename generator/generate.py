"""Runs studies: finds what is not settled yet, asks for it, and stores every exchange (it interprets no answer)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import httpx

from analysis import session
from analysis.errors import DataError, LockedError, ProviderError, UsageError
from generator import client, corpus, grid, study, subjects, warehouse
from generator.budget import Budget, Prices
from generator.client import Client, Clock
from generator.grid import Cell
from generator.models import Model
from generator.progress import Progress
from generator.record import Call, Recorder, run_row
from generator.settled import Failures, failures, unsettled
from generator.study import Study
from generator.warehouse import Writer

TICK_S = 0.1  # how often what has arrived is made durable
MERGE_S = 2.0  # how often it is merged, so that readers see it
MERGE_RECORDS = 500


@dataclass(frozen=True)
class Result:
    """How a study stands after a run: requests asked for and settled, exchanges stored by this run, failures by condition."""

    study: str
    requests: int
    settled: int
    stored: int
    failures: list[Failures]


@dataclass(frozen=True)
class Options:
    """What a user may choose for one run: only these models (all when empty), and how many requests in flight (the study's when None)."""

    models: tuple[str, ...] = ()
    concurrency: int | None = None
    command: str = "vlmaudit generate"
    say: Callable[[str], None] | None = None
    clock: Clock | None = None


def generate(params: Path, names: Sequence[str], path: Path, data: Path, options: Options | None = None) -> list[Result]:
    """Run the named studies of a params file, or all; what is settled already is not asked again.

    Everything received is in the warehouse or its journal when this returns or raises: KeyboardInterrupt on Ctrl-C, ProviderError where
    a provider refused, answered as somebody else, or the cost ceiling was reached; UsageError, DataError, LockedError.
    """
    options = options or Options()
    studies = study.load(params)
    chosen = choose(studies, names, params)
    registry = study.registry(params)
    asked = {model for each in chosen for model in each.models}
    if unknown := sorted(set(options.models) - asked):
        raise UsageError(f"no chosen study asks {', '.join(unknown)}: they ask {', '.join(sorted(asked))}")
    with warehouse.writer(path) as writer:
        corpus.prepare(studies.values(), data, options.say)
        return [_Run(each, registry, data, writer, options).run() for each in chosen]


def choose(studies: Mapping[str, Study], names: Sequence[str], params: Path) -> list[Study]:
    """The named studies, or all; UsageError for a name that the file lacks."""
    for name in names:
        if name not in studies:
            raise UsageError(f"there is no study {name!r} in {params}: it has {', '.join(studies)}")
    return [studies[name] for name in names or studies]


class _Run:
    """One run of one study."""

    def __init__(self, each: Study, registry: Mapping[str, Model], data: Path, writer: Writer, options: Options) -> None:
        self.study, self.registry, self.data, self.writer, self.options = each, registry, data, writer, options
        self.recorder = Recorder(writer.journal, run_row(each.name, options.command), data)
        self.progress = Progress(each.name, options.say)
        self.cells: list[Cell] = []
        self.is_spent = False
        self.not_before: dict[str, float] = {}  # until when a model's server wants no request; the next pass has a client of its own

    def run(self) -> Result:
        """Ask until every request is settled or has taken its attempts."""
        self._ask_for()
        self.recorder.budget = self._budget()
        with self.progress:
            while todo := self._todo(left := unsettled(*self.asked)):
                self._pass(todo)
                if self.is_spent:
                    raise self._ceiling_reached()
        settled, stored = len(self.cells) - len(left), self.recorder.tally.exchanges
        return Result(self.study.name, len(self.cells), settled, stored, failures(*self.asked))

    @property
    def asked(self) -> tuple[Path, str, list[Cell]]:
        """Where what of which study is asked in this run."""
        return self.writer.path, self.study.name, self.cells

    def _ask_for(self) -> None:
        """Store what the study asks for: its items, their images, its grid."""
        chosen = list(corpus.items_of(self.study, self.data))
        cells = list(grid.requests(self.study, chosen, self.registry))
        self.writer.merge("image", corpus.image_rows(chosen, self.data))
        self.writer.merge("item", map(corpus.item_row, chosen))
        self.writer.append_grid(self.study.name, (cell.grid_row() for cell in cells))
        self.cells = [cell for cell in cells if cell.model_id in (self.options.models or self.study.models)]

    def _todo(self, left: Mapping[str, int]) -> list[Call]:
        """The calls of the next pass. Each takes at least one exchange, so that the passes end."""
        used = self.recorder.exchanges
        open_cells = [cell for cell in self.cells if cell.request_key in left and used[cell.request_key] < self.study.attempts]
        most = min((self.study.attempts - used[cell.request_key] for cell in open_cells), default=0)
        tally = self.recorder.tally
        tally.total, tally.done = len(self.cells), len(self.cells) - len(left)
        tally.failed = len(left) - len(open_cells)
        return [self.recorder.call(cell, left[cell.request_key], most) for cell in open_cells]

    def _pass(self, todo: list[Call]) -> None:
        for model in {call.cell.model_id: call.cell.model for call in todo}.values():
            self._endpoint(model)  # what is missing is said before anything is sent
        try:
            asyncio.run(self._send_and_store(todo))
        finally:
            _merge_rest(self.writer)

    async def _send_and_store(self, todo: list[Call]) -> None:
        sending, storing = asyncio.create_task(self._send(todo)), asyncio.create_task(self._store())
        try:
            await asyncio.wait({sending, storing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sending.cancel()
            storing.cancel()
            await asyncio.gather(sending, storing, return_exceptions=True)  # on Ctrl-C: what is arriving is still recorded
        for task in (storing, sending):
            if not task.cancelled():
                task.result()

    async def _send(self, todo: list[Call]) -> None:
        for model_id, calls in groupby(todo, key=lambda call: call.cell.model_id):
            ready = list(calls)
            async with self._client(ready[0].cell.model, ready[0].most) as asking:
                if (ahead := self.not_before.get(model_id, 0.0) - asking.clock.now()) > 0:
                    await asking.clock.sleep(ahead)
                await asking.send_all(self._admitted(ready), self.recorder)
                self.not_before[model_id] = asking.clock.now() + asking.wait_s()

    def _endpoint(self, model: Model) -> tuple[str, str | None, httpx.AsyncBaseTransport | None]:
        """Where a model is reached: base URL, API key, and the transport of a subject in process."""
        if model.base_url is not None:
            return model.base_url, client.api_key(model.api_key_env), None
        if model.behaviour is not None:
            return subjects.BASE_URL, None, subjects.transport(model.behaviour)
        raise DataError(
            f"{model.model_id} has no base_url: start `vllm serve {model.identifier}` and give its address in the params file, under models"
        )

    def _client(self, model: Model, attempts: int) -> Client:
        concurrency = self.options.concurrency or self.study.concurrency
        return Client(*self._endpoint(model), concurrency=concurrency, clock=self.options.clock, attempts=attempts)

    async def _admitted(self, calls: list[Call]) -> AsyncIterator[Call]:
        """The calls one by one, each when the cost ceiling has room for it."""
        budget = self.recorder.budget
        for call in calls:
            while budget:
                is_idle = budget.idle  # before trying: what is released after the try may make room
                if budget.reserve(call.key, call.cell.model_id):
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


def _merge_rest(writer: Writer) -> None:
    try:
        writer.merge_journal()
    except LockedError as fault:
        raise LockedError(f"{fault}; what was received waits in {writer.journal.path}") from None
