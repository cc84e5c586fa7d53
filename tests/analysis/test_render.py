"""Rows in every format: nothing lost, nothing invented, nothing that acts."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from datetime import datetime
from decimal import Decimal

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.render import TEXT, Format, Rows, inert, parquet, plain, to_csv, to_json, to_latex, to_md, to_table

ESCAPES = [
    "\x1b[31mred\x1b[0m",  # terminal colour
    "\x1b]0;title\x07",  # terminal title
    "\x9b31m",  # the same in eight bits
    "\u202eevil\u202c",  # right-to-left override
    "a\u200bb",  # zero-width space
    "\x00",
    "\x08\x08\x08hidden",
    "line\u2028end",
]


@pytest.mark.parametrize("text", ESCAPES)
@pytest.mark.parametrize("form", TEXT)
def test_no_control_character_reaches_a_terminal(form: Format, text: str) -> None:
    written = TEXT[form](Rows([text], [[text]]))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", written)


def test_a_line_break_in_a_cell_stays_in_its_cell() -> None:
    rows = Rows(["a", "b"], [["one\ntwo", 1]])
    assert len(to_table(rows).splitlines()) == 3
    assert len(to_md(rows).splitlines()) == 3
    assert list(csv.reader(io.StringIO(to_csv(rows)))) == [["a", "b"], ["one\ntwo", "1"]]


@pytest.mark.parametrize(
    "text", ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1", '=HYPERLINK("http://x")']
)
def test_a_formula_is_text_to_a_spreadsheet(text: str) -> None:
    (cell,) = list(csv.reader(io.StringIO(to_csv(Rows(["a"], [[text]])))))[1]
    assert cell.startswith("'")


@pytest.mark.parametrize(
    ("value", "cell"), [(-5, "-5"), (-0.5, "-0.5"), ("-5", "-5"), ("+3.25", "+3.25"), ("1e-7", "1e-7"), (1e-7, "1e-07")]
)
def test_a_number_stays_a_number_in_csv(value: object, cell: str) -> None:
    assert to_csv(Rows(["a"], [[value]])) == f"a\n{cell}\n"


def test_markdown_neither_renders_html_nor_breaks_its_table() -> None:
    line = to_md(Rows(["a"], [["<script>x</script> | ![i](http://t/x.png) `c` *b* https://t"]])).splitlines()[2]
    assert "<script>" not in line
    assert line.count("|") - line.count("\\|") == 2
    assert "\\!\\[i\\](http\\://t" in line
    assert "https://" not in line


def test_latex_specials_are_escaped() -> None:
    line = to_latex(Rows(["a_b"], [[r"50% of $x_1 & #2 {\input{/etc/passwd}} ~^"]]))
    assert r"50\% of \$x\_1 \& \#2 \{\textbackslash{}input\{/etc/passwd\}\} \textasciitilde{}\textasciicircum{}" in line
    assert r"a\_b" in line


def test_a_latex_row_is_no_argument_of_the_line_end_before_it() -> None:
    assert to_latex(Rows(["a"], [["[1]"], ["*"]])).splitlines()[4:6] == [r"{[}1{]} \\", r"{*} \\"]


def test_json_keeps_numbers_whole_and_has_no_nan() -> None:
    rows = Rows(
        ["a", "b", "c", "d", "e", "f", "g"],
        [[0.1 + 0.2, 2**63, math.nan, None, -math.inf, Decimal("12"), [1, {"x": math.nan, "t": datetime(2026, 1, 2)}]]],
    )
    assert json.loads(to_json(rows)) == [
        {
            "a": 0.30000000000000004,
            "b": 9223372036854775808,
            "c": None,
            "d": None,
            "e": None,
            "f": 12,
            "g": [1, {"x": None, "t": "2026-01-02T00:00:00"}],
        }
    ]
    assert "NaN" not in to_json(rows)


def test_no_rows_are_an_empty_array_and_a_bare_header() -> None:
    empty = Rows(["a", "b"], [])
    assert json.loads(to_json(empty)) == []
    assert to_csv(empty) == "a,b\n"
    assert to_table(empty).splitlines()[0] == "a  b"


@pytest.mark.parametrize("form", [Format.table, Format.md, Format.latex])
def test_what_is_not_known_is_no_zero(form: Format) -> None:
    written = TEXT[form](Rows(["rate"], [[None], [math.nan], [-math.inf]]))
    assert "0" not in written
    assert "inf" not in written
    assert len(re.findall("—|---(?!:)", written.replace("| ---: |", ""))) >= 3


def test_columns_line_up_whatever_their_script() -> None:
    rows = Rows(["name", "n"], [["日本", 5], ["ab", 12]])
    lines = to_table(rows).splitlines()
    assert [line[-2:] for line in lines] == [" n", "──", " 5", "12"]
    assert lines[2] == "日本   5"


def test_a_long_cell_is_cut_in_a_table_only() -> None:
    rows = Rows(["a"], [["x" * 500]])
    assert max(map(len, to_table(rows).splitlines())) <= 80
    assert "x" * 500 in to_csv(rows)


@given(st.text())
def test_inert_text_is_printable_and_keeps_what_is(text: str) -> None:
    assert all(character.isprintable() or unicodedata.category(character) == "Zs" for character in inert(text))
    assert inert(inert(text)) == inert(text)


@given(st.lists(st.lists(st.one_of(st.none(), st.text(), st.integers(), st.floats(), st.booleans()), min_size=2, max_size=2), max_size=5))
def test_every_value_survives_json(rows: list[list[object]]) -> None:
    read = json.loads(to_json(Rows(["a", "b"], rows)))
    finite = [[None if isinstance(v, float) and not math.isfinite(v) else v for v in row] for row in rows]
    assert [[row["a"], row["b"]] for row in read] == finite
    for form in TEXT.values():
        form(Rows(["a", "b"], rows))


def test_plain_numbers_have_six_digits() -> None:
    assert [plain(value) for value in (1 / 3, 12345.678, 5, True, None)] == ["0.333333", "12345.7", "5", "true", "—"]


def test_parquet_keeps_sums_whole_where_they_fit() -> None:
    frame = polars.DataFrame(
        {"fits": [Decimal(1), None], "wide": [Decimal(10**30), Decimal(1)], "scaled": [Decimal("1.5"), None], "text": ["\x1b", None]},
        schema={"fits": polars.Decimal(38, 0), "wide": polars.Decimal(38, 0), "scaled": polars.Decimal(10, 1), "text": polars.String},
    )
    read = polars.read_parquet(io.BytesIO(parquet(frame)))
    assert dict(read.schema) == {
        "fits": polars.Int64,
        "wide": polars.Decimal(38, 0),
        "scaled": polars.Decimal(10, 1),
        "text": polars.String,
    }
    assert read["fits"].to_list() == [1, None]
    assert read["text"].to_list() == ["\x1b", None]
