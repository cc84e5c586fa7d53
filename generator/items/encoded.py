"""Data sets that keep their images as base64 text in a table: read row by row, so that one image is in memory at a time.

Of a TSV nothing but the current row is held. A parquet file is decoded by row groups, so as much of its encoded text is held as its writer
put into one; still only one image is decoded.
"""

from __future__ import annotations

import base64
import binascii
import csv
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars

from analysis.errors import DataError

LONGEST_CELL = 2**31 - 1  # characters; an 8K image in base64 is far above the csv module's own limit

Row = dict[str, Any]


def rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """These columns of a TSV or parquet file, row by row; in a TSV every cell is text. DataError where it is none or lacks a column."""
    return _parquet(path, columns) if path.suffix == ".parquet" else _tsv(path, columns)


def picture(cell: object, name: str) -> bytes:
    """The image file that a cell holds in base64; DataError names `name` where it holds none."""
    try:
        if isinstance(cell, str) and cell.strip():
            return base64.b64decode("".join(cell.split()), validate=True)
    except (binascii.Error, ValueError):
        pass
    raise DataError(f"{name}: the image cell is no base64 text; fetch the file again")


def digest(cell: object) -> str:
    """What tells one cell from another without keeping it."""
    return hashlib.sha256(str(cell).encode("utf-8", "surrogatepass")).hexdigest()


def text(row: Row, column: str, name: str) -> str:
    """A cell that must hold text or a number, as text; DataError names `name` where it is empty."""
    value = row.get(column)
    if not isinstance(value, str | int) or not str(value).strip():
        raise DataError(f"{name}: {column} is empty")
    return str(value).strip()


def _tsv(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    csv.field_size_limit(LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, delimiter="\t")
            _check(path, columns, reader.fieldnames or ())
            for row in reader:
                yield {column: row[column] for column in columns}
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise DataError(f"{path} cannot be read as TSV ({fault}); fetch it again") from None


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    try:
        _check(path, columns, polars.read_parquet_schema(path))
        for batch in polars.scan_parquet(path).select(columns).collect_batches(chunk_size=1, maintain_order=True):
            yield from batch.iter_rows(named=True)
    except (OSError, polars.exceptions.PolarsError) as fault:
        raise DataError(f"{path} cannot be read as parquet ({str(fault).splitlines()[0]}); fetch it again") from None


def _check(path: Path, columns: Sequence[str], held: Sequence[str] | Any) -> None:
    if lacking := [column for column in columns if column not in held]:
        raise DataError(f"{path} has no column {', '.join(lacking)}; it has {', '.join(held)}")
