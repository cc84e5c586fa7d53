"""From an exchange to its raw rows: verbatim, in the journal before anything else happens."""

from __future__ import annotations

import platform
import secrets
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self

from analysis.errors import ProviderError
from generator import grid
from generator.budget import Budget
from generator.client import Request, is_transient
from generator.grid import Cell
from generator.journal import Journal, Record, Row, columns_of
from generator.models import Model
from generator.progress import Tally
from generator.reply import Reply, departs, metadata
from generator.warehouse import completion_id

STRANGERS = 3  # answers from another provider or precision than pinned that a run bears
PACKAGES = ("vlmaudit", "duckdb", "httpx", "matplotlib", "networkx", "pillow", "polars")


@dataclass(frozen=True, kw_only=True)
class Call(Request):
    """A request of a run: which model is asked, in at most how many exchanges, and what each of them leaves in the warehouse."""

    model: Model
    most: int

    def is_last(self, attempt: int, reply: Reply) -> bool:
        """Whether this call takes no further exchange."""
        return not is_transient(reply) or attempt - self.attempts >= self.most

    def rows(self, attempt: int, reply: Reply, answered: Row) -> list[Record]:
        """The rows of one exchange; `answered` is the reply's `metadata`."""
        raise NotImplementedError

    def settles(self, attempt: int, reply: Reply) -> bool:
        """Whether what the study asks for, in whose service the call is made, is answered or given up with this exchange."""
        return self.is_last(attempt, reply)

    def recorded(self, attempt: int, reply: Reply) -> None:
        """Go on from here: the rows of the exchange are in the journal."""


@dataclass(frozen=True, kw_only=True)
class CellCall(Call):
    """The call that asks for a cell of the grid. `asked` is what was sent last, as it is stored; `more` are further columns of its rows."""

    cell: Cell
    more: Mapping[str, Any]
    asked: dict[str, Any]

    @classmethod
    def of(cls, cell: Cell, body: Callable[[], Mapping[str, Any]], stored: int, most: int, **more: Any) -> Self:
        """The call for a cell of which `stored` attempts are in the warehouse, in at most `most` exchanges; `body` builds what is sent."""
        asked: dict[str, Any] = {}

        def build() -> Mapping[str, Any]:
            built = body()
            asked.update(grid.stored_request(built))
            return built

        return cls(cell.request_key, build, stored, model=cell.model, most=most, cell=cell, more=more, asked=asked)

    def rows(self, attempt: int, reply: Reply, answered: Row) -> list[Record]:
        """One row of `raw.completion`."""
        row = completion_row(self.cell, self.asked, attempt, reply, answered) | dict(self.more)
        if self.is_last(attempt, reply):
            self.asked.clear()  # a run holds its calls to the end
        return [("completion", row)]


@dataclass
class Recorder:
    """Records the exchanges of one run, one at a time; an error of it halts the run."""

    journal: Journal
    run: Row
    budget: Budget | None = None
    tally: Tally = field(default_factory=Tally)
    exchanges: Counter[str] = field(default_factory=Counter)
    """How many exchanges of this run each request took."""
    _strangers: int = 0

    def __call__(self, request: Request, attempt: int, reply: Reply) -> None:
        """Put one exchange into the journal; ProviderError, raised after it was stored, where the run must stop for it."""
        assert isinstance(request, Call)  # noqa: S101 - a run sends nothing else
        answered = metadata(reply)
        self._journal(request, request.rows(attempt, reply, answered))
        self._count(request, attempt, reply, answered)
        request.recorded(attempt, reply)
        self._check(request.model, answered)

    def _journal(self, call: Call, rows: list[Record]) -> None:
        first: list[Record] = [] if self.exchanges else [("run", self.run)]
        mine = {"run_id": self.run["run_id"]}
        self.journal.append([*first, *((table, {**row, **mine} if "run_id" in columns_of(table) else row) for table, row in rows)])
        self.exchanges[call.key] += 1

    def _count(self, call: Call, attempt: int, reply: Reply, answered: Row) -> None:
        is_good = reply.error is None and 200 <= (reply.http_status or 0) < 300
        self.tally.count(answered, is_good, call.settles(attempt, reply))
        if self.budget and (is_good or answered["cost_usd"] is not None):
            self.budget.charge(call.model.model_id, answered["cost_usd"])
        if self.budget and call.is_last(attempt, reply):
            self.budget.release(call.key)

    def _check(self, model: Model, answered: Row) -> None:
        if departure := departs(model.provider, model.precision, answered):
            self._strangers += 1
            if self._strangers >= STRANGERS:
                raise ProviderError(
                    f"{model.model_id}: {departure}, {self._strangers} times in this run: ask the provider, or pin what answers; "
                    "these answers are stored and count as provider errors"
                )
        has_tokens = answered["completion_tokens"] is not None
        if self.budget and model.serving == "openrouter" and has_tokens and answered["cost_usd"] is None:
            raise ProviderError(
                f"{model.model_id} does not say what an answer costs, so no ceiling can be held: take cost_ceiling_usd away"
            )


def completion_row(cell: Cell, asked: Mapping[str, Any], attempt: int, reply: Reply, answered: Row) -> dict[str, Any]:
    """The row of `raw.completion` for one exchange: what was asked, who answered, and what came back, byte for byte."""
    return {
        "completion_id": completion_id(cell.request_key, attempt),
        "request_key": cell.request_key,
        "attempt": attempt,
        "protocol": cell.protocol,
        "model_id": cell.model_id,
        "thinking": cell.thinking,
        "task": cell.task,
        "item_id": cell.item_id,
        "arm": cell.arm,
        "template": cell.template,
        "replicate": cell.replicate,
        "prompt_set": cell.prompt_set,
        "prompt_sha256": cell.prompt_sha256,
        "request": dict(asked),
        "temperature": cell.temperature,
        "max_tokens": cell.max_tokens,
        "seed": cell.seed,
        **answered,
        "started_at": reply.started_at,
        "latency_s": reply.latency_s,
        "http_status": reply.http_status,
        "response": reply.body,
        "error": None if reply.error is None else dict(reply.error),
    }


def run_row(study: str, command: str) -> dict[str, Any]:
    """The row of `raw.run` for an invocation that starts now."""
    now = datetime.now(UTC)
    return {
        "run_id": f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}",
        "study": study,
        "command": command,
        "git_revision": _git_revision(),
        "packages": {"python": platform.python_version(), **{name: found for name in PACKAGES if (found := _version(name))}},
        "started_at": now,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git_revision() -> str | None:
    """The revision of the checkout that holds this code, with `-dirty` where files differ from it; None outside git."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - git itself, no shell
    except OSError:
        return None
    return done.stdout.strip() or None
