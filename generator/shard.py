"""Which part of a study this machine asks for, where several share the work with one params file."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from analysis.errors import UsageError
from generator.grid import Cell


@dataclass(frozen=True)
class Shard:
    """Part `number` (from 1) of `of` parts: together they are the whole, and no request is in two.

    A cluster is in one part with all that is asked about it: a film's summaries with its poster, a rollout with its turns, probes and
    verdict. So each part is a study that can be analysed. Its part is the digest of cluster_id modulo `of`, whatever else the study asks.
    """

    number: int = 1
    of: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def holds(self, cell: Cell) -> bool:
        """Whether the cell's cluster is in this part."""
        return int(hashlib.sha256(cell.item.cluster_id.encode()).hexdigest()[:15], 16) % self.of == self.number - 1


WHOLE = Shard()


def parse(text: str | None) -> Shard:
    """The shard that `2/3` names, the whole where nothing is named; UsageError where there is no such part."""
    if text is None:
        return WHOLE
    named = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    if not named or not 1 <= int(named[1]) <= int(named[2]):
        raise UsageError(f"--shard {text}: write it as i/n, with i from 1 to n: of two machines one takes 1/2, the other 2/2")
    return Shard(int(named[1]), int(named[2]))
