"""Reading data files by name and type, so that what is off ends in one line that names the file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import polars

from analysis.errors import DataError


def digest(path: Path) -> str:
    """sha256 of a file's bytes, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def file_bytes(path: Path, name: str) -> bytes:
    """A file's bytes; DataError names `name`, the item that needs it, where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as fault:
        raise DataError(f"{name}: {path} cannot be read ({fault.strerror}); complete the copy of the data set") from None


def inside(folder: Path, given: str, name: str) -> Path:
    """The path that a data set gives relative to its folder; DataError names `name` where it leads out of it."""
    relative = PurePosixPath(given)
    if relative.is_absolute() or ".." in relative.parts:
        raise DataError(f"{name}: the path {given!r} leads out of {folder}")
    return folder / relative


def all_shards(files: list[Path]) -> list[Path]:
    """The files, where their names say that none of `...-of-00004.parquet` is missing; DataError otherwise."""
    if (last := re.search(r"-of-(\d+)\.parquet$", files[-1].name)) and int(last[1]) != len(files):
        raise DataError(f"{files[-1].parent} holds {len(files)} of {int(last[1])} parquet files; fetch the others")
    return files


def parquet(path: Path, columns: Mapping[str, type[polars.DataType] | polars.DataType]) -> polars.DataFrame:
    """These columns of a parquet file, other columns left out; DataError where it is none, or lacks one, or has it in another type."""
    try:
        schema = polars.read_parquet_schema(path)
        lacking = [name for name in columns if name not in schema]
        if not lacking:
            frame = polars.read_parquet(path, columns=list(columns))
    except (OSError, polars.exceptions.PolarsError) as fault:
        raise DataError(f"{path} cannot be read as parquet ({str(fault).splitlines()[0]}); fetch it again") from None
    except BaseException as fault:
        if type(fault).__name__ != "PanicException":  # Polars' parser panics on some damaged files, outside Exception
            raise
        raise DataError(f"{path} cannot be read as parquet; fetch it again") from None
    if lacking:
        raise DataError(f"{path} has no column {', '.join(lacking)}; it has {', '.join(schema)}")
    for name, wanted in columns.items():
        if schema[name] != wanted:
            raise DataError(f"{path}: column {name} is {schema[name]}, not {wanted}")
    return frame


def parquet_note(path: Path, key: str) -> str | None:
    """What a parquet file's own metadata says under a key; None where it says nothing or is damaged."""
    try:
        return polars.read_parquet_metadata(path).get(key)
    except (OSError, polars.exceptions.PolarsError):
        return None


def parse(text: str | bytes, name: str) -> Any:
    """A JSON value; DataError names `name` where it is none, or holds text that no message can carry."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as fault:
        raise DataError(f"{name} is no valid JSON ({fault})") from None
    return value


def json_file(path: Path) -> Any:
    """The JSON value that a file holds; DataError where there is none."""
    return parse(_bytes(path), str(path))


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON-lines file with their line numbers from 1, empty lines left out; DataError names the line."""
    for number, line in enumerate(_bytes(path).splitlines(), start=1):
        if line.strip():
            record = parse(line, f"{path}, line {number},")
            if not isinstance(record, dict):
                raise DataError(f"{path}, line {number}, is no JSON object")
            yield number, record


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise DataError(f"{path} cannot be read: {fault.strerror}") from None


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
