"""The copycat: repeats its answer for every other condition, and always calls what it was shown sufficient.

Its answers depend on everything that it was shown, so they do change when an input is restored; it never says so.
"""

from __future__ import annotations

from generator.subjects import draw
from generator.subjects.answers import USUAL, alternatives
from generator.subjects.chat import Speech
from generator.subjects.question import Question


def speak(question: Question, seed: int) -> Speech:
    """Answer a question, and report on oneself where asked to."""
    usual = USUAL[question.task]
    answer = draw.pick((usual, *alternatives(question.task, usual)), "copycat", seed, sorted(question.contents.items()))
    values = ["SUFFICIENT" if label == "SUFFICIENCY" else answer for label in question.labels or ("",)]
    return Speech(question.lines(values))
