"""What can be answered, and how it is found: the answer spaces of the four tasks, and the solving that simulated subjects do themselves.

An answer is the text that is written behind a label, in one spelling, so that two answers are equal where their texts are.
"""

from __future__ import annotations

import json
import re

from analysis.errors import DataError
from generator.items import isobench, rational
from generator.items.mmimdb import GENRES
from generator.items.synth.mmimdb import cued
from generator.subjects import draw

MMIMDB, PARITY, MAXFLOW, GOLDENVIEW = "mmimdb", isobench.PARITY, isobench.MAXFLOW, "goldenview"
LETTERS = ("A", "B", "C", "D")
USUAL = {MMIMDB: '["Drama"]', PARITY: "neither", MAXFLOW: "7", GOLDENVIEW: "A"}  # an answer that a subject falls back on
ADDED = 5  # how many genre lists, or larger flows, stand beside a right one


def alternatives(task: str, answer: str) -> tuple[str, ...]:
    """The other answers that a subject may give in an answer's place; as many for each answer of a task."""
    if task == PARITY:
        return tuple(word for word in isobench.PARITIES if word != answer)
    if task == GOLDENVIEW:
        return tuple(letter for letter in LETTERS if letter != answer)
    if task == MAXFLOW:
        return tuple(str(int(answer) + more) for more in range(1, ADDED + 1))
    held = json.loads(answer)
    return tuple(genres([*held, other]) for other in [genre for genre in GENRES if genre not in held][:ADDED])


def genres(names: list[str]) -> str:
    """A genre list as it is answered."""
    return json.dumps(sorted(set(names)))


def guess(task: str, *of: object) -> str:
    """Some answer of the task, drawn from what the arguments are."""
    if task == PARITY:
        return draw.pick(isobench.PARITIES, *of)
    if task == GOLDENVIEW:
        return draw.pick(LETTERS, *of)
    if task == MAXFLOW:
        return str(draw.pick(range(1, 29), *of))
    return genres([draw.pick(GENRES, *of, n) for n in range(2)])


def solve(task: str, text: str, terminals: tuple[int, int] | None = None) -> str | None:
    """The right answer to a text input; None where it does not say.

    The input is a LaTeX definition, a capacity matrix (with its source and sink), or a plot summary, whose cues `synth` has planted.
    """
    if task == PARITY:
        return parity(text)
    if task == MMIMDB:
        return genres(found) if (found := cued(text)) else None
    if task == MAXFLOW and terminals:
        try:
            return str(isobench.max_flow(isobench.capacities(text, "matrix"), *terminals, "matrix"))
        except DataError:
            return None
    return None


def parity(latex: str) -> str | None:
    """`even`, `odd` or `neither`, by polynomial identity; None where the definition is not read. f(x) = 0 is called odd, as in IsoBench."""
    try:
        held = rational.symmetries(rational.read(expression(latex)))
    except (SyntaxError, rational.NotRationalError):
        return None
    return held[-1] if held else "neither"


TOKEN = re.compile(r"\\frac|\\left|\\right|\\cdot|\d+(?:\.\d*)?|[-+x^(){}]|\S")
SPELT = {"{": "(", "}": ")", "^": "**", r"\cdot": "*"}


def expression(latex: str) -> str:
    r"""`$$f(x) = \frac{3 x^{2}}{x + 1}$$` as `(3*x**(2))/(x+1)`, which `rational.read` takes apart without evaluating it."""
    body = re.sub(r"^\s*\$*\s*f\(x\)\s*=|\$", "", latex)
    written, before = "", ""
    for token in TOKEN.findall(body):
        if token in (r"\frac", r"\left", r"\right"):
            continue
        if before == "}" and token == "{":  # noqa: S105 - only a fraction has two groups side by side
            written += "/"
        elif re.fullmatch(r"[\d.]+|[x)}]", before) and re.fullmatch(r"[\d.]+|[x({]", token):
            written += "*"
        written, before = written + SPELT.get(token, token), token
    return written
