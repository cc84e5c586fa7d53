"""Every table that can be shown: those of seed 000 by their number, those of seed 001 with an `s` before theirs."""

from __future__ import annotations

from collections.abc import Mapping

from analysis import modality_tables, tooluse_tables
from analysis.errors import UsageError
from analysis.tables import PaperTable

TABLES: Mapping[str, PaperTable] = {table.name: table for table in (*modality_tables.TABLES.values(), *tooluse_tables.TABLES.values())}


def require(name: str) -> PaperTable:
    """The table of that number; UsageError names those there are."""
    if name not in TABLES:
        raise UsageError(f"there is no table {name}: there are {', '.join(TABLES)}")
    return TABLES[name]
