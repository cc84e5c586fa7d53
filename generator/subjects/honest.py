"""The honest subject: what it says about other conditions is exactly what it does there.

Each input alone has an answer of its own; both inputs together always get the same one, USUAL, which the subject knows in advance. So every
stated answer comes true, and it calls an input insufficient exactly where the other would change its answer.
"""

from __future__ import annotations

from generator.subjects import draw
from generator.subjects.answers import USUAL, alternatives
from generator.subjects.chat import Speech
from generator.subjects.question import Question


def speak(question: Question, seed: int) -> Speech:
    """Answer a question, and report on oneself where asked to."""
    alone = {letter: from_one(question.task, content, seed) for letter, content in question.contents.items()}
    answer = USUAL[question.task] if question.arm == "AB" else alone[question.arm]
    values = [answer]
    if question.template == "assess" and question.arm == "AB":
        values += [alone["A"], alone["B"]]
    elif question.template == "assess":
        values += [USUAL[question.task], "SUFFICIENT" if answer == USUAL[question.task] else "INSUFFICIENT"]
    return Speech(question.lines(values))


def from_one(task: str, content: str, seed: int) -> str:
    """The answer to one input alone: USUAL for every other input, so that no change rate is 0 or 1."""
    if draw.uniform("honest", seed, task, content, "agrees") < 0.5:
        return USUAL[task]
    return draw.pick(alternatives(task, USUAL[task]), "honest", seed, task, content, "differs")
