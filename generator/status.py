"""How far the studies of a warehouse are, and what the rest of a study would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from analysis import session
from analysis.errors import UsageError
from analysis.render import Rows
from generator import grid, study
from generator.corpus import items_of, prepare
from generator.journal import Journal, read
from generator.run import choose
from generator.settled import asking
from generator.shard import WHOLE, Shard

STATE = """
    SELECT
        study, model_id, thinking, task, arm, template, count(*) AS requests,
        count(*) FILTER (settled) AS done,
        count(*) FILTER (NOT settled AND attempts = 0) AS missing,
        count(*) FILTER (NOT settled AND attempts > 0) AS failed,
        max(reason) FILTER (NOT settled AND attempts > 0) AS reason
    FROM arm.settled
    GROUP BY ALL
    ORDER BY study, model_id, thinking, task, arm, template
"""
# What the missing requests would take, at the mean of the answers (or rollouts) stored for the same condition; NULL where none says.
ESTIMATE = """
    WITH missing AS (
        SELECT study, model_id, thinking, task, arm, template, count(*) AS requests
        FROM arm.settled
        WHERE NOT settled
        GROUP BY ALL
    ),
    answered AS (
        SELECT
            model_id, thinking, task, arm, template,
            sum(prompt_tokens) / nullif(count(DISTINCT one) FILTER (prompt_tokens IS NOT NULL), 0) AS prompt_tokens,
            sum(completion_tokens) / nullif(count(DISTINCT one) FILTER (completion_tokens IS NOT NULL), 0) AS completion_tokens,
            sum(cost_usd) / nullif(count(DISTINCT one) FILTER (cost_usd IS NOT NULL), 0) AS cost_usd
        FROM (SELECT *, CASE WHEN protocol = 'tool_use' THEN rollout_id ELSE completion_id END AS one FROM stored.completion)
        GROUP BY ALL
    )
    SELECT
        missing.*,
        CAST(requests * answered.prompt_tokens AS BIGINT) AS prompt_tokens,
        CAST(requests * answered.completion_tokens AS BIGINT) AS completion_tokens,
        requests * answered.cost_usd AS cost_usd
    FROM missing
    LEFT JOIN answered USING (model_id, thinking, task, arm, template)
    ORDER BY study, model_id, thinking, task, arm, template
"""


def status(path: Path, names: Sequence[str] = ()) -> Rows:
    """One row per study and condition: requests asked for, done, never called (missing), called in vain (failed) with a reason.

    UsageError for a study that the warehouse does not hold; DataError where there is no warehouse.
    """
    with session.open(path) as reading:
        stored = reading.studies()
    if unknown := [name for name in names if name not in stored]:
        raise UsageError(f"{path} holds no study {unknown[0]!r}: it holds {', '.join(stored) or 'none'}")
    found = []
    for name in names or stored:
        with asking(path, name) as reading:
            found.append(reading.fetch(STATE))
    return _joined(found, ("study", "model_id", "thinking", "task", "arm", "template", "requests", "done", "missing", "failed", "reason"))


def totals(state: Rows) -> list[str]:
    """The state of each study in one line."""
    lines = []
    for study_name, rows in groupby(state.rows, key=lambda row: row[0]):
        requests, done, missing, failed = map(sum, zip(*(row[6:10] for row in rows), strict=True))
        lines.append(f"{study_name}: {done:,} of {requests:,} requests done, {missing:,} missing, {failed:,} failed")
    return lines


def cost(params: Path, names: Sequence[str], path: Path, data: Path, shard: Shard = WHOLE) -> Rows:
    """One row per study and condition of a params file with requests of the shard to send: how many, and what they would take.

    A dry run: nothing is sent or stored. Estimates are the means of what is stored for the same condition, None where nothing is.
    """
    studies = study.load(params)
    registry = study.registry(params)
    chosen = choose(studies, names, params)
    prepare(studies.values(), data)
    found = []
    for each in chosen:
        cells = filter(shard.holds, grid.requests(each, items_of(each, data), registry))
        with asking(path, each.name, cells) as reading:
            found.append(reading.fetch(ESTIMATE))
    columns = ("study", "model_id", "thinking", "task", "arm", "template", "requests", "prompt_tokens", "completion_tokens", "cost_usd")
    return _joined(found, columns)


def total(estimate: Rows) -> str:
    """The estimate's sum in one line; what is unknown is said to be, and is not in the sum."""
    requests = sum(row[6] for row in estimate.rows)
    parts = [f"{requests:,} requests to send"]
    for place, unit in ((7, "prompt tokens"), (8, "completion tokens"), (9, "dollars")):
        known = [row for row in estimate.rows if row[place] is not None]
        unknown = requests - sum(row[6] for row in known)
        amount = sum(row[place] for row in known)
        if known:
            parts.append(f"about {amount:,.4f} {unit}" if place == 9 else f"about {amount:,} {unit}")
        if unknown:
            parts.append(f"{unit} of {unknown:,} requests unknown" if known else f"{unit} unknown")
    return ", ".join(parts)


def _joined(found: Sequence[tuple[list[str], list[tuple[object, ...]]]], columns: Sequence[str]) -> Rows:
    return Rows(columns, [row for _, rows in found for row in rows])


def waiting(path: Path) -> Mapping[str, int]:
    """The whole records in each journal file of a warehouse: received, durable, and merged by the next writing command."""
    journal = Journal(path)
    return {str(file): sum(1 for _ in read(file)) for file in (journal.taken, journal.path) if file.exists()}
