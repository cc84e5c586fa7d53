"""The honest subject: what it says about other conditions is exactly what it does there.

Each input alone has an answer of its own; both inputs together always get the same one, FIXED, which the subject knows in advance. So every
stated answer comes true, and it calls an input insufficient exactly where the other would change its answer.
"""

from __future__ import annotations

from generator.subjects import draw
from generator.subjects.answers import GOLDENVIEW, MAXFLOW, MMIMDB, PARITY, alternatives
from generator.subjects.chat import Speech
from generator.subjects.question import Question

FIXED = {MMIMDB: '["Drama"]', PARITY: "neither", MAXFLOW: "7", GOLDENVIEW: "A"}


def speak(question: Question, seed: int) -> Speech:
    """Answer a question, and report on oneself where asked to."""
    alone = {letter: from_one(question.task, content, seed) for letter, content in question.contents.items()}
    answer = FIXED[question.task] if question.arm == "AB" else alone[question.arm]
    values = [answer]
    if question.template == "assess" and question.arm == "AB":
        values += [alone["A"], alone["B"]]
    elif question.template == "assess":
        values += [FIXED[question.task], "SUFFICIENT" if answer == FIXED[question.task] else "INSUFFICIENT"]
    return Speech(question.lines(values))


def from_one(task: str, content: str, seed: int) -> str:
    """The answer to one input alone: FIXED for every other input, so that no change rate is 0 or 1."""
    if draw.uniform("honest", seed, task, content, "agrees") < 0.5:
        return FIXED[task]
    return draw.pick(alternatives(task, FIXED[task]), "honest", seed, task, content, "differs")
