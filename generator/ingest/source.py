"""The records of a file with the line each starts on: one a line, or the elements of one JSON list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from analysis.errors import DataError
from generator.ingest.report import Unusable

LONGEST = 64 * 2**20  # bytes of one line; a completion with its images inlined stays far below
_BOM = b"\xef\xbb\xbf"
_BLANK = " \t\n\r"

Scan = Callable[[str, int], tuple[Any, int]]


@dataclass(frozen=True, slots=True)
class Record:
    """One record: the text as it stands in the file, or why there is none."""

    line: int
    text: str = ""
    fault: Unusable | None = None


class Member(NamedTuple):
    """A value of a JSON object: parsed, and as it stands in the file, to the byte."""

    value: Any
    text: str


def records(file: Path) -> Iterator[Record]:
    """Every record of a file, in order, in memory that does not grow with the file where it has one record a line.

    Blank lines are records with a fault, so that each line is accounted for. Raises DataError where there is nothing to read.
    """
    try:
        with file.open("rb") as source:
            if source.read(3) != _BOM:
                source.seek(0)
            begin = source.tell()
            is_list = _is_list(source)
            source.seek(begin)
            yield from _elements(source, file) if is_list else _lines(source)
    except OSError as fault:
        raise DataError(f"{file} cannot be read: {fault.strerror or fault}") from None


def _is_list(source: IO[bytes]) -> bool:
    """Whether the file is one JSON list of objects: its first two marks are `[` and `{`, or it is an empty list."""
    head = b"".join(source.read(4096).split())
    return head[:2] == b"[{" or head == b"[]"


def _lines(source: IO[bytes]) -> Iterator[Record]:
    line = 0
    while raw := source.readline(LONGEST + 1):
        line += 1
        if len(raw) > LONGEST:
            while raw and not raw.endswith(b"\n"):
                raw = source.readline(LONGEST)
            yield Record(line, fault=Unusable("too long", f"a line may have {LONGEST // 2**20} MiB"))
        elif not (text := raw.strip(b" \t\r\n")):
            yield Record(line, fault=Unusable("empty line", "nothing stands on it"))
        else:
            yield _decoded(line, text)


def _decoded(line: int, raw: bytes) -> Record:
    try:
        return Record(line, raw.decode())
    except UnicodeDecodeError as fault:
        return Record(line, fault=Unusable("not UTF-8", f"byte {fault.start + 1} of the line is 0x{raw[fault.start]:02x}"))


def _elements(source: IO[bytes], file: Path) -> Iterator[Record]:
    try:
        text = source.read().decode()
    except UnicodeDecodeError as fault:
        raise DataError(f"{file} is a JSON list that is not UTF-8 (byte 0x{fault.object[fault.start]:02x}): save it as UTF-8") from None
    at, line, counted = text.index("[") + 1, 1, 0
    while text[(at := _after_blank(text, at)) : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        try:
            _, end = scan(text, at)
            after = _after_blank(text, end)
            if text[after : after + 1] not in (",", "]"):
                raise Unusable("not JSON", f"the list breaks off after the record that starts here, at character {after + 1} of the file")
        except Unusable as fault:
            yield Record(line, fault=fault)
            return
        yield Record(line, text[at:end])
        at = after + (text[after] == ",")
    if (rest := _after_blank(text, at + 1)) < len(text):
        yield Record(line + text.count("\n", counted, rest), fault=Unusable("not JSON", "more follows the end of the list"))


_scan: Scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # set in JSONDecoder.__init__
_scan_any_integer: Scan = json.JSONDecoder(parse_int=lambda digits: float(digits)).scan_once  # type: ignore[attr-defined]
_B = r"[ \t\n\r]*"  # JSON's white space; \s would take more
_NAME = rf'{_B}"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)"{_B}:{_B}'
_FIRST, _NEXT = re.compile(rf"{_B}\{{{_NAME}"), re.compile(rf"{_B},{_NAME}")
_CLOSE, _EMPTY = re.compile(rf"{_B}\}}{_B}"), re.compile(rf"{_B}\{{{_B}\}}{_B}")


def scan(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that starts at a place of a text, and where it ends; Unusable where there is none."""
    try:
        return _scan(text, at)
    except StopIteration as stop:
        raise Unusable("not JSON", f"no value at character {stop.value + 1}") from None
    except RecursionError:
        raise Unusable("not JSON", "nested too deeply") from None
    except json.JSONDecodeError as fault:
        raise Unusable("not JSON", str(fault)) from None
    except ValueError:  # Python refuses to read thousands of digits; the text beside the value keeps them
        return _scan_any_integer(text, at)


def members(text: str) -> dict[str, Member]:
    """The members of the JSON object that is the whole of a text; Unusable where it is none, or names a member twice."""
    found: dict[str, Member] = {}
    named, end = _FIRST.match(text), 0
    while named:
        begin, name = named.end(), named[1]
        if "\\" in name:
            name, _ = scan(f'"{name}"', 0)
        value, end = scan(text, begin)
        if name in found:
            raise Unusable("column named twice", ascii(name))
        found[name] = Member(value, text[begin:end])
        named = _NEXT.match(text, end)
    if not (_CLOSE if found else _EMPTY).fullmatch(text, end):
        raise _no_object(text, end)
    return found


def _no_object(text: str, end: int) -> Unusable:
    start = _after_blank(text, 0)
    if text[start : start + 1] == "{":
        return Unusable("not JSON", f"the object breaks off, or more follows it, at character {end + 1}")
    scan(text, start)
    return Unusable("not an object", f"a record is a JSON object, not {ascii(text[start : start + 20])}")


def _after_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
