"""The mixed subject: what it gets right, says about itself and spoils is planted, so the true value of every rate is known.

Every draw is independent of all others: of the same input under another arm or template, and of every other field of the same reply. So
what is lost is lost at random, and the rates over what is left are the planted ones. `expected.py` says which they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice

from generator.subjects import draw
from generator.subjects.answers import alternatives, guess
from generator.subjects.chat import Speech
from generator.subjects.question import Question

WORDS = ("it", "shows", "how", "far", "that", "settles", "the", "matter", "and", "what", "rests", "on", "each", "of", "them")


@dataclass(frozen=True)
class Planted:
    """Probabilities, except `prose_words`.

    `accuracy`: a right answer, by template and arm, where the truth can be known from what is shown; elsewhere (a film's title, public
    pictures) an answer that agrees with a guess at the truth.
    `departs`: the answer named for both inputs differs from the one given, by the arm shown (predicted change).
    `departs_alone`: the answer named for one input alone differs from the one given on both, by that input.
    `flags_right`, `flags_wrong`: INSUFFICIENT is said where the answer is right; where it is wrong, or the truth cannot be known.
    `repetition`, `truncated` (and that with a thinking trace), `lost_answer`, `lost_report`: how a reply ends instead of well; the last
    is one label other than ANSWER that cannot be read, on assess alone.
    """

    accuracy: Mapping[str, Mapping[str, float]] = field(
        default_factory=lambda: {
            "plain": {"AB": 0.85, "A": 0.75, "B": 0.55, "title": 0.3},
            "assess": {"AB": 0.80, "A": 0.70, "B": 0.50},
        }
    )
    departs: Mapping[str, float] = field(default_factory=lambda: {"A": 0.06, "B": 0.12})
    departs_alone: Mapping[str, float] = field(default_factory=lambda: {"A": 0.20, "B": 0.35})
    flags_right: float = 0.08
    flags_wrong: float = 0.40
    repetition: float = 0.01
    truncated: float = 0.02
    truncated_thinking: float = 0.06
    lost_answer: float = 0.03
    lost_report: float = 0.04
    prose_words: int = 60


def answers(task: str, truth: str, accuracy: float) -> dict[str, float]:
    """How probable each answer is: the right one, or any of its alternatives alike."""
    others = alternatives(task, truth)
    return {truth: accuracy, **dict.fromkeys(others, (1 - accuracy) / len(others))}


def endings(planted: Planted, template: str, thinking: bool, detector: bool) -> dict[str, float]:
    """How probable each ending of a reply is. A server without the loop detector lets a loop run until the tokens are spent."""
    truncated = planted.truncated_thinking if thinking else planted.truncated
    odds = {
        "repetition": planted.repetition if detector else 0.0,
        "truncated": truncated + (0.0 if detector else planted.repetition),
        "unparsed_answer": planted.lost_answer,
        "unparsed_report": planted.lost_report if template == "assess" else 0.0,
    }
    return {**odds, "usable": 1 - sum(odds.values())}


@dataclass(frozen=True)
class Speaker:
    """The subject with one question before it."""

    question: Question
    seed: int
    planted: Planted

    def of(self, purpose: str) -> tuple[object, ...]:
        """What a draw for this purpose depends on."""
        return "mixed", self.seed, self.question.identity, purpose

    def values(self) -> list[str]:
        """What stands behind each label, in order."""
        question, planted = self.question, self.planted
        truth = question.truth()
        known = truth or guess(question.task, "mixed", self.seed, sorted(question.contents.items()))
        answer = draw.choose(answers(question.task, known, planted.accuracy[question.template][question.arm]), *self.of("answer"))
        if question.template == "plain":
            return [answer]
        if question.arm == "AB":
            return [answer, *(self.departing(answer, planted.departs_alone[letter], letter) for letter in "AB")]
        flags = planted.flags_right if answer == truth else planted.flags_wrong
        flag = "INSUFFICIENT" if draw.uniform(*self.of("flag")) < flags else "SUFFICIENT"
        return [answer, self.departing(answer, planted.departs[question.arm], "both"), flag]

    def departing(self, answer: str, rate: float, purpose: str) -> str:
        """The answer, or another one at that rate."""
        if draw.uniform(*self.of(f"departs/{purpose}")) >= rate:
            return answer
        return draw.pick(alternatives(self.question.task, answer), *self.of(f"departs to/{purpose}"))

    def prose(self) -> str:
        """An assessment in words that say nothing."""
        count = max(1, int(self.planted.prose_words * (0.5 + draw.uniform(*self.of("length")))))
        first = draw.pick(range(len(WORDS)), *self.of("prose"))
        return " ".join(islice(cycle(WORDS), first, first + count)).capitalize() + "."

    def spoilt(self, lines: list[str], place: int) -> list[str]:
        """The final lines with one that strict rules must not read. Each way stands for a kind seen in real completions."""
        label, _, value = lines[place].rpartition(": ")
        ways: list[list[str]] = [
            [],
            [f"**{label}:** {value}"],
            [f"{label.replace('_', ' ').capitalize()}: {value}"],
            [f"{label}: {value} or something else"],
            [f"{label}:"],
            [lines[place], f"{label}: I take that back"],
        ]
        if not label:
            ways = [[], ["Drama and perhaps Crime"], [value.strip("[]")]]
        return [*lines[:place], *draw.pick(ways, *self.of("spoilt")), *lines[place + 1 :]]

    def speech(self) -> Speech:
        """The reply, whole or spoilt as drawn."""
        question = self.question
        ending = draw.choose(endings(self.planted, question.template, question.thinking, question.detector), *self.of("ending"))
        if ending == "truncated":
            return self.cut_short()
        if ending == "repetition":
            return self.thinking(Speech(f"{self.prose()} {'and again ' * 20}", "repetition"))
        lines = question.lines(self.values()).split("\n")
        if ending == "unparsed_answer":
            lines = self.spoilt(lines, 0)
        if ending == "unparsed_report":
            lines = self.spoilt(lines, draw.pick(range(1, len(lines)), *self.of("lost label")))
        return self.thinking(Speech("\n\n".join([self.prose(), "\n".join(lines)])))

    def trace(self) -> str:
        """A thinking trace; the label lines in it are drafts, and count for nothing."""
        draft = guess(self.question.task, *self.of("draft"))
        drafts = self.question.lines([draft, *[draft] * (len(self.question.labels) - 1)])
        return f"{self.prose()}\n{drafts}\nSUFFICIENCY: SUFFICIENT\nNo, let me look again."

    def thinking(self, speech: Speech) -> Speech:
        """The speech with a trace before it where thinking is on, in one of the three places where servers put it."""
        if not self.question.thinking:
            return speech
        style = draw.pick(("inline", "reasoning", "reasoning_content"), *self.of("style"))
        if style == "inline":
            return Speech(f"<think>\n{self.trace()}\n</think>\n\n{speech.content}", speech.finish_reason)
        return Speech(speech.content, speech.finish_reason, self.trace(), style)

    def cut_short(self) -> Speech:
        """A reply that ran out of tokens: in the middle of its trace where thinking is on."""
        if not self.question.thinking:
            return Speech(self.prose()[:-1], "length")
        if draw.uniform(*self.of("style")) < 1 / 3:
            return Speech(f"<think>\n{self.trace()}", "length")
        return Speech(None, "length", self.trace())


def speak(question: Question, seed: int, planted: Planted | None = None) -> Speech:
    """Answer a question, and report on oneself where asked to."""
    return Speaker(question, seed, planted or Planted()).speech()
