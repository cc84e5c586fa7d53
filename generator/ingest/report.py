"""What became of a file: every line is stored, already stored, or refused with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

SHOWN = 3  # refusals of one reason that the summary spells out


class Unusable(Exception):  # noqa: N818 - a verdict on a line, not a fault of the program
    """Why one line cannot be used: `reason` is the kind, `detail` names the thing."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line (from 1; of a JSON list, the line its record starts on) that was not stored, and why."""

    line: int
    reason: str
    detail: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}: {self.detail}"


@dataclass
class Report:
    """The account of one file. `lines == sum(stored.values()) + already + len(refused)`."""

    study: str
    form: str = "the ingest form"
    lines: int = 0
    stored: Counter[str] = field(default_factory=Counter)
    already: int = 0
    refused: list[Refusal] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    """Columns that no raw table has, or that are made here (request_key), and how many lines gave them."""
    new_items: int = 0

    @property
    def usable(self) -> int:
        """Lines that the warehouse now holds."""
        return sum(self.stored.values()) + self.already

    def refuse(self, line: int, fault: Unusable) -> None:
        """Account for a line that cannot be used."""
        self.refused.append(Refusal(line, fault.reason, fault.detail))

    def __str__(self) -> str:
        return "\n".join(self.summary())

    def summary(self) -> Iterator[str]:
        """The account in lines of plain text; refused lines by reason, all line numbers, the first few spelled out."""
        yield f"study {self.study}: {self.lines} {'line' if self.lines == 1 else 'lines'} read as {self.form}"
        stored = ", ".join(f"{count} {table}" for table, count in sorted(self.stored.items())) or "none"
        yield f"stored: {stored}; already stored: {self.already}; new items: {self.new_items}; refused: {len(self.refused)}"
        if self.ignored:
            yield "columns left out: " + ", ".join(f"{_shown(name)} ({count} lines)" for name, count in sorted(self.ignored.items()))
        for reason, refusals in self.by_reason().items():
            yield f"refused, {reason}: {len(refusals)} ({_lines(refusals)})"
            yield from (f"  line {refusal.line}: {refusal.detail}" for refusal in refusals[:SHOWN])
            if len(refusals) > SHOWN:
                yield f"  and {len(refusals) - SHOWN} more like these"

    def reasons(self) -> Iterator[str]:
        """Each reason for which lines were refused, with the line numbers and the first line's fault, cut short."""
        for reason, refusals in self.by_reason().items():
            yield f"{reason} ({_cut(_lines(refusals))}: {refusals[0].detail})"

    def by_reason(self) -> dict[str, list[Refusal]]:
        """The refused lines of each reason."""
        found: dict[str, list[Refusal]] = {}
        for refusal in sorted(self.refused, key=lambda refusal: (refusal.reason, refusal.line)):
            found.setdefault(refusal.reason, []).append(refusal)
        return found


def _lines(refusals: list[Refusal]) -> str:
    return f"{'line' if len(refusals) == 1 else 'lines'} {ranges(refusal.line for refusal in refusals)}"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def ranges(numbers: Iterable[int]) -> str:
    """Ascending numbers, runs folded: 1, 2, 3, 7 is `1-3, 7`."""
    parts: list[tuple[int, int]] = []
    for number in numbers:
        if parts and parts[-1][1] in (number, number - 1):
            parts[-1] = (parts[-1][0], number)
        else:
            parts.append((number, number))
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def _shown(text: str) -> str:
    return text if text.isascii() and text.replace(".", "_").isidentifier() else ascii(text)
