"""Rational functions in x, read exactly: whether one is even, odd, both or neither is decided by polynomial identity, never by sampling.

A decimal in the text is that decimal (0.1 is 1/10), so nothing is lost to floating point. Text is read through Python's own grammar and
a walk over its syntax tree; it is never evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

Polynomial = tuple[Fraction, ...]  # coefficients by rising power of x, the last one not zero; () is the zero polynomial

MOST_DEGREE = 512
MOST_BITS = 20_000  # of a coefficient; both bounds are far above any data set's and keep `9**9**9` from running away


class NotRationalError(ValueError):
    """The text is an expression, but no rational function in x that can be read."""


@dataclass(frozen=True)
class Rational:
    """numerator / denominator, not reduced; the denominator is not the zero polynomial."""

    numerator: Polynomial
    denominator: Polynomial


def read(text: str) -> Rational:
    """The rational function that an expression in x denotes (`(3*x**2 + 1.5)/(2*x**4 + 7.25)`).

    SyntaxError where the text is no expression; NotRationalError where it holds another name, a call, a power that is no integer, a
    division by zero, or numbers too large to be meant.
    """
    try:
        return _walk(ast.parse(text.strip(), mode="eval").body)
    except (RecursionError, MemoryError):
        raise NotRationalError("nested too deeply") from None
    except ValueError as fault:
        if isinstance(fault, NotRationalError):
            raise
        raise SyntaxError(str(fault)) from None  # a NUL byte, or an integer too long to be read


def symmetries(function: Rational) -> list[str]:
    """Which of `even` (f(−x) = f(x)) and `odd` (f(−x) = −f(x)) hold identically: both for the zero function, none for most.

    The identity is between rational functions, so a hole that reducing would fill does not count.
    """
    left = _times(_mirrored(function.numerator), function.denominator)
    right = _times(function.numerator, _mirrored(function.denominator))
    return [name for name, other in (("even", right), ("odd", _scaled(right, -1))) if left == other]


def _walk(node: ast.expr) -> Rational:
    match node:
        case ast.Constant(value=bool() | complex() | str() | bytes() | None):
            raise NotRationalError(f"{node.value!r} is no number")
        case ast.Constant(value=int() | float() as number):
            return _constant(number)
        case ast.Name(id="x"):
            return Rational((Fraction(0), Fraction(1)), (Fraction(1),))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _walk(operand)
            return Rational(_scaled(inner.numerator, -1), inner.denominator)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _walk(operand)
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            return _power(_walk(base), _integer(exponent))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATIONS:
            return _OPERATIONS[type(operator)](_walk(left), _walk(right))
    raise NotRationalError(f"{ast.unparse(node)!r} is no rational function in x")


def _constant(number: float) -> Rational:
    try:
        # a float through the decimal that was written, not the binary number nearest to it
        value = Fraction(number) if isinstance(number, int) else Fraction(repr(number))
    except ValueError:
        raise NotRationalError(f"{number!r} is no number") from None
    return Rational(_trimmed([value]), (Fraction(1),))


def _integer(node: ast.expr) -> int:
    """A constant integer exponent, through whatever arithmetic it is written in (`-2`, `(4 - 1)`)."""
    exponent = _walk(node)
    if len(exponent.numerator) > 1 or len(exponent.denominator) > 1:
        raise NotRationalError(f"the exponent {ast.unparse(node)!r} is not constant")
    value = (exponent.numerator[0] if exponent.numerator else Fraction(0)) / exponent.denominator[0]
    if value.denominator != 1:
        raise NotRationalError(f"the exponent {ast.unparse(node)!r} is no integer")
    return int(value)


def _added(left: Rational, right: Rational) -> Rational:
    numerator = _plus(_times(left.numerator, right.denominator), _times(right.numerator, left.denominator))
    return Rational(numerator, _times(left.denominator, right.denominator))


def _subtracted(left: Rational, right: Rational) -> Rational:
    return _added(left, Rational(_scaled(right.numerator, -1), right.denominator))


def _multiplied(left: Rational, right: Rational) -> Rational:
    return Rational(_times(left.numerator, right.numerator), _times(left.denominator, right.denominator))


def _divided(left: Rational, right: Rational) -> Rational:
    if not right.numerator:
        raise NotRationalError("a division by zero")
    return Rational(_times(left.numerator, right.denominator), _times(left.denominator, right.numerator))


def _power(base: Rational, exponent: int) -> Rational:
    if exponent < 0:
        base, exponent = _divided(Rational((Fraction(1),), (Fraction(1),)), base), -exponent
    if exponent > MOST_DEGREE:
        raise NotRationalError(f"the exponent {exponent} is above {MOST_DEGREE}")
    result = Rational((Fraction(1),), (Fraction(1),))
    for _ in range(exponent):
        result = _multiplied(result, base)
    return result


_OPERATIONS: dict[type[ast.operator], Callable[[Rational, Rational], Rational]] = {
    ast.Add: _added,
    ast.Sub: _subtracted,
    ast.Mult: _multiplied,
    ast.Div: _divided,
}


def _trimmed(coefficients: list[Fraction]) -> Polynomial:
    while coefficients and coefficients[-1] == 0:
        coefficients.pop()
    if len(coefficients) > MOST_DEGREE + 1 or any(max(abs(c.numerator), c.denominator).bit_length() > MOST_BITS for c in coefficients):
        raise NotRationalError(f"a degree above {MOST_DEGREE} or a coefficient above {MOST_BITS} bits")
    return tuple(coefficients)


def _plus(left: Polynomial, right: Polynomial) -> Polynomial:
    return _trimmed([a + b for a, b in zip_longest(left, right, fillvalue=Fraction(0))])


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    if not left or not right:
        return ()
    product = [Fraction(0)] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right if a else ()):
            product[i + j] += a * b
    return _trimmed(product)


def _scaled(polynomial: Polynomial, factor: int) -> Polynomial:
    return tuple(factor * coefficient for coefficient in polynomial)


def _mirrored(polynomial: Polynomial) -> Polynomial:
    """p(−x)."""
    return tuple(-coefficient if power % 2 else coefficient for power, coefficient in enumerate(polynomial))
