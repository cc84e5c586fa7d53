"""From an exchange to a row of `raw.completion`: verbatim, in the journal before anything else happens."""

from __future__ import annotations

import platform
import secrets
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from analysis.errors import ProviderError
from generator import grid
from generator.budget import Budget
from generator.client import Request, is_transient
from generator.grid import Cell
from generator.journal import Journal, Row
from generator.progress import Tally
from generator.reply import Reply, departs, metadata
from generator.warehouse import completion_id

STRANGERS = 3  # answers from another provider or precision than pinned that a run bears
PACKAGES = ("vlmaudit", "duckdb", "httpx", "matplotlib", "networkx", "pillow", "polars")


@dataclass(frozen=True, kw_only=True)
class Call(Request):
    """A request and the cell of the grid that it asks for; `most` is how many exchanges it may take."""

    cell: Cell
    most: int


@dataclass
class Recorder:
    """Records the exchanges of one run, one at a time; an error of it halts the run."""

    journal: Journal
    run: Row
    data: Path
    budget: Budget | None = None
    tally: Tally = field(default_factory=Tally)
    exchanges: Counter[str] = field(default_factory=Counter)
    """How many exchanges of this run each request took."""
    _asked: dict[str, dict[str, Any]] = field(default_factory=dict)
    _strangers: int = 0

    def call(self, cell: Cell, stored: int, most: int) -> Call:
        """The call that asks for a cell of which `stored` attempts are in the warehouse, in at most `most` exchanges."""
        return Call(cell.request_key, lambda: self._build(cell), stored, cell=cell, most=most)

    def _build(self, cell: Cell) -> dict[str, Any]:
        body = grid.body(cell, self.data)
        self._asked[cell.request_key] = grid.stored_request(body)
        return body

    def __call__(self, request: Request, attempt: int, reply: Reply) -> None:
        """Put one exchange into the journal; ProviderError, raised after it was stored, where the run must stop for it."""
        assert isinstance(request, Call)  # noqa: S101 - what is sent is what `call` made
        answered = metadata(reply)
        self._journal(request, attempt, reply, answered)
        self._count(request, attempt, reply, answered)
        self._check(request.cell, answered)

    def _journal(self, call: Call, attempt: int, reply: Reply, answered: Row) -> None:
        row = completion_row(call.cell, self._asked[call.key], attempt, reply, answered) | {"run_id": self.run["run_id"]}
        first = [] if self.exchanges else [("run", self.run)]
        self.journal.append([*first, ("completion", row)])
        self.exchanges[call.key] += 1

    def _count(self, call: Call, attempt: int, reply: Reply, answered: Row) -> None:
        is_good = reply.error is None and 200 <= (reply.http_status or 0) < 300
        is_last = not is_transient(reply) or attempt - call.attempts >= call.most
        self.tally.count(answered, is_good, is_last)
        if self.budget and (is_good or answered["cost_usd"] is not None):
            self.budget.charge(call.cell.model_id, answered["cost_usd"])
        if self.budget and is_last:
            self.budget.release(call.key)
        if is_last:
            del self._asked[call.key]

    def _check(self, cell: Cell, answered: Row) -> None:
        if departure := departs(cell.pin_provider, cell.pin_precision, answered):
            self._strangers += 1
            if self._strangers >= STRANGERS:
                raise ProviderError(
                    f"{cell.model_id}: {departure}, {self._strangers} times in this run: ask the provider, or pin what answers; "
                    "these answers are stored and count as provider errors"
                )
        has_tokens = answered["completion_tokens"] is not None
        if self.budget and cell.model.serving == "openrouter" and has_tokens and answered["cost_usd"] is None:
            raise ProviderError(f"{cell.model_id} does not say what an answer costs, so no ceiling can be held: take cost_ceiling_usd away")


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
