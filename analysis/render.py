"""Rows as text: an aligned table, CSV, JSON, Markdown or LaTeX.

Whatever a model wrote stays inert: terminal and bidirectional control characters are spelled out, mark-up is escaped, and in CSV
a text that a spreadsheet would run as a formula is quoted with an apostrophe. JSON keeps every value whole and in ASCII.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars

MISSING = "—"
WIDEST = 80  # characters of one cell in an aligned table; the other formats keep all


class Format(StrEnum):
    """How a reading command writes its rows."""

    table = "table"
    csv = "csv"
    json = "json"
    md = "md"
    latex = "latex"
    parquet = "parquet"


@dataclass(frozen=True)
class Rows:
    """The rows of a result, as plain Python values in the order of `columns`."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __len__(self) -> int:
        return len(self.rows)

    def named(self) -> list[dict[str, Any]]:
        """The rows as dicts by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def inert(text: str, keep: str = "") -> str:
    """The text with control, bidirectional and unassigned characters spelled out, except those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character in keep or not _acts(character) else _spelled(character) for character in text)


def _acts(character: str) -> bool:
    # Cc: terminal escapes; Cf: bidirectional overrides, zero-width characters; Zl, Zp: line ends; Cs: lone surrogates; Co, Cn: no meaning
    return unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"}


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def plain(value: Any) -> str:
    """One value as a reader expects it: six significant digits, `—` for what is not known or no finite number."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return MISSING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(whole(value), ensure_ascii=False)
    return str(whole(value))


def whole(value: Any) -> Any:
    """One value as JSON holds it: numbers in full, NaN and infinity as null, times in ISO 8601, bytes in hexadecimal."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [whole(part) for part in value]
    if isinstance(value, dict):
        return {str(key): whole(part) for key, part in value.items()}
    return str(value)


def to_json(data: Rows) -> str:
    """An array of objects, one a line, in ASCII so that nothing acts on a terminal."""
    lines = (json.dumps({name: whole(value) for name, value in zip(data.columns, row, strict=True)}, allow_nan=False) for row in data.rows)
    body = ",\n".join(lines)
    return f"[\n{body}\n]\n" if body else "[]\n"


def to_csv(data: Rows) -> str:
    """Comma-separated values with a header; NULL is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(name) for name in data.columns])
    writer.writerows([_cell(value) for value in row] for row in data.rows)
    return out.getvalue()


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def _cell(value: Any) -> Any:
    value = whole(value)
    if isinstance(value, bool):
        return plain(value)
    if isinstance(value, (list, dict)):
        value = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return value
    runs = value.lstrip(" ").startswith(_FORMULA) and not _NUMBER.fullmatch(value)
    return ("'" if runs else "") + inert(value, keep="\n\t")


def to_table(data: Rows, widest: int = WIDEST) -> str:
    """Columns padded to one width, numbers to the right; long cells end in `…`."""
    from rich.cells import cell_len, set_cell_size

    def cut(text: str) -> str:
        return text if cell_len(text) <= widest else set_cell_size(text, widest - 1) + "…"

    head = [cut(inert(name)) for name in data.columns]
    body = [[cut(inert(plain(value))) for value in row] for row in data.rows]
    widths = [max(map(cell_len, column)) for column in zip(head, *body, strict=True)]
    right = _numeric(data)

    def line(cells: Sequence[str]) -> str:
        padded = (" " * (w - cell_len(c)) + c if r else c + " " * (w - cell_len(c)) for c, w, r in zip(cells, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    return "\n".join([line(head), "  ".join("─" * width for width in widths), *map(line, body)]) + "\n"


def _numeric(data: Rows) -> list[bool]:
    """Which columns hold numbers, or text that stands for one, in every row that has a value."""

    def number(value: Any) -> bool:
        if isinstance(value, str):
            return bool(re.fullmatch(r"[-+−]?[\d.,]+( .*)?|—|n/a", value))
        return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)

    columns = [[row[place] for row in data.rows if row[place] is not None] for place in range(len(data.columns))]
    return [bool(values) and all(map(number, values)) for values in columns]


def to_md(data: Rows) -> str:
    """A GitHub-flavoured Markdown table."""
    head = [_md(name) for name in data.columns]
    rules = ["---:" if right else "---" for right in _numeric(data)]
    body = [[_md(plain(value)) for value in row] for row in data.rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, rules, *body])


def _md(text: str) -> str:
    text = inert(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_\[\]|~!#])", r"\\\1", text)
    return text.replace("://", "\\://").replace("www.", "www\\.")  # a bare address would become a link


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # first in a row, this one and the asterisk would be taken for arguments of the line end before them
        "]": "{]}",
        "*": "{*}",
        '"': r"\textquotedbl{}",
        "—": "---",
        "–": "--",
        "−": "$-$",
        "Δ": r"$\Delta$",
    }
)


def to_latex(data: Rows) -> str:
    """A `tabular` that needs no package."""
    right = _numeric(data)
    head, *body = [[inert(plain(value)).translate(_LATEX) for value in row] for row in [data.columns, *data.rows]]
    lines = [" & ".join(cells) + r" \\" for cells in body]
    columns = "".join("r" if r else "l" for r in right)
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\hline", " & ".join(head) + r" \\", r"\hline", *lines, r"\hline", r"\end{tabular}", ""]
    )


def parquet(frame: polars.DataFrame) -> bytes:
    """A frame as a Parquet file; whole numbers that DuckDB widens when it adds them up are kept as 64 bits where they fit."""
    import polars

    wide = [name for name, kind in frame.schema.items() if isinstance(kind, polars.Decimal) and kind.scale == 0]
    fitting = [name for name in wide if frame[name].is_between(-(2**63), 2**63 - 1).all()]
    buffer = io.BytesIO()
    frame.with_columns(polars.col(fitting).cast(polars.Int64)).write_parquet(buffer)
    return buffer.getvalue()


TEXT: dict[Format, Callable[[Rows], str]] = {
    Format.table: to_table,
    Format.csv: to_csv,
    Format.json: to_json,
    Format.md: to_md,
    Format.latex: to_latex,
}
