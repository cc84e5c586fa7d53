"""Rational functions are read exactly, and parity is an identity: checked against plain numeric evaluation."""

import contextlib
import re
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from generator.items import rational

POINTS = [Fraction(n, 7) for n in range(1, 60, 4)]  # more points than any drawn degree, so agreement at all of them is identity

number = st.one_of(st.integers(0, 9).map(str), st.decimals(0, 20, places=2).map(str))
expressions = st.recursive(
    st.one_of(st.just("x"), number),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"),
        inner.map(lambda part: f"(-{part})"),
        st.tuples(inner, st.integers(0, 2)).map(lambda parts: f"{parts[0]}**{parts[1]}"),
    ),
    max_leaves=5,
)
quotients = st.tuples(expressions, expressions).map("/".join)


def value(text: str, x: Fraction) -> Fraction:
    """The value by Python's own arithmetic on fractions, decimals wrapped; the only place where text is evaluated is this test."""
    wrapped = re.sub(r"(?<![\w*.])\d+\.\d+|(?<![\w*.])\d+(?![\w.])", lambda match: f"F('{match[0]}')", text)
    return Fraction(eval(wrapped, {"F": Fraction, "x": x, "__builtins__": {}}))


def polynomial(coefficients: rational.Polynomial, x: Fraction) -> Fraction:
    return sum((coefficient * x**power for power, coefficient in enumerate(coefficients)), Fraction(0))


@given(quotients, st.fractions(-5, 5, max_denominator=20))
def test_a_read_function_has_the_values_of_its_text(text: str, x: Fraction) -> None:
    try:
        function = rational.read(text)
    except rational.NotRationalError:
        assume(False)
    below = polynomial(function.denominator, x)
    assume(below != 0)
    assert polynomial(function.numerator, x) / below == value(text, x)


@given(quotients)
def test_parity_agrees_with_numeric_evaluation(text: str) -> None:
    try:
        held = rational.symmetries(rational.read(text))
    except rational.NotRationalError:
        assume(False)
    pairs = []
    for x in POINTS:
        try:
            pairs.append((value(text, x), value(text, -x)))
        except ZeroDivisionError:
            continue
    assume(len(pairs) > 12)
    seen = [name for name, sign in (("even", 1), ("odd", -1)) if all(there == sign * here for here, there in pairs)]
    assert held == seen


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("x**2", ["even"]),
        ("-x", ["odd"]),
        ("x + 1", []),
        ("0", ["even", "odd"]),
        ("x - x", ["even", "odd"]),
        ("5", ["even"]),
        ("x*(6.0 - 16.0*x**2)/(8.0*x**10 + 6.0*x**4 + 4.28)", ["odd"]),
        ("(3*x**6 - 5.15)/(2*x**10 + 3*x**8 + 5*x**6 + 4.27)", ["even"]),
        ("(0.1 + 0.2 - 0.3)*x + x**2", ["even"]),  # in binary floating point the first term would remain
        ("x**3/x", ["even"]),
        ("(x**2 - 1)/(x - 1) - 1", ["odd"]),
        ("x**-3", ["odd"]),
        ("1/x + 1/x**2", []),
        ("(x + 1)**(4 - 2) - 2*x", ["even"]),
        (" +x ", ["odd"]),
    ],
)
def test_parity_of(text: str, held: list[str]) -> None:
    assert rational.symmetries(rational.read(text)) == held


@pytest.mark.parametrize(
    "text",
    [
        "y",
        "sin(x)",
        "x**x",
        "x**0.5",
        "1/(x - x)",
        "'x'",
        "True*x",
        "1j*x",
        "x if x else 1",
        "__import__('os')",
        "[x]",
        "x // 2",
        "x % 2",
        "1e999",
    ],
)
def test_what_is_no_rational_function_is_told_apart(text: str) -> None:
    with pytest.raises(rational.NotRationalError):
        rational.read(text)


@pytest.mark.parametrize(
    "text", ["9**9**9", "(9**500)**500", "(x**500)**500", "x**100000", "x" + "**1" * 5000, "(" * 5000 + "x" + ")" * 5000]
)
def test_numbers_and_depths_that_run_away_are_refused_at_once(text: str) -> None:
    with pytest.raises((rational.NotRationalError, SyntaxError)):
        rational.read(text)


@pytest.mark.parametrize("text", ["", "x +", "2x", "x\0", "import os", "9" * 5000])
def test_what_is_no_expression_is_a_syntax_error(text: str) -> None:
    with pytest.raises(SyntaxError):
        rational.read(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(SyntaxError, rational.NotRationalError):
        rational.read(text)
