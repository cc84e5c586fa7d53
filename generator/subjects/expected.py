"""The true rates of the mixed subject, worked out from what is planted: what the views must find, up to chance.

All draws are independent, so the probability of any event is a sum over the few answers that each draw can take. Rates are over items
whose truth the text or the picture tells, except in arms named `blind` (a driving scene without the camera that matters).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from generator.subjects.answers import LETTERS, USUAL, alternatives
from generator.subjects.mixed import Planted, answers, endings

Odds = dict[str, float]


def outcomes(template: str, thinking: bool = False, detector: bool = True, planted: Planted | None = None) -> dict[str, float]:
    """The share of each outcome among the calls of a condition."""
    return endings(planted or Planted(), template, thinking, detector)


def prospective(task: str, arm: str, planted: Planted | None = None, blind: Iterable[str] = ()) -> dict[str, float]:
    """The rates of a prospective cell: predicted_change, executed_change, gap, agreement with the executed answer, and the sufficiency

    measures (claimed_insufficient, precision, recall, base_rate, silent_failure, missed). `arm` is what was shown: A or B.
    """
    planted = planted or Planted()
    given, joint = answer_odds(task, "assess", arm, planted, blind), answer_odds(task, "plain", "AB", planted, blind)
    predicted, agreement, changes, flagged, caught = planted.departs[arm], 0.0, 0.0, 0.0, 0.0
    for (first, p), (both, q) in product(given.items(), joint.items()):
        agreement += p * q * departing(task, first, planted.departs[arm]).get(both, 0.0)
        knows_it_is_right = first == USUAL[task] and arm not in blind
        flags = planted.flags_right if knows_it_is_right else planted.flags_wrong
        flagged += p * q * flags
        if first != both:
            changes += p * q
            caught += p * q * flags
    return {
        "predicted_change": predicted,
        "executed_change": changes,
        "gap": changes - predicted,
        "agreement": agreement,
        "claimed_insufficient": flagged,
        "precision": caught / flagged,
        "recall": caught / changes,
        "base_rate": changes,
        "silent_failure": changes - caught,
        "missed": 1 - caught / changes,
    }


def retrospective(task: str, planted: Planted | None = None, blind: Iterable[str] = ()) -> dict[str, dict[str, float]]:
    """The distribution over attributions (A, B, either, both), `stated` and `executed`."""
    planted = planted or Planted()
    stay_a, stay_b = (1 - planted.departs_alone[letter] for letter in "AB")
    stated, executed = attribution(stay_a, stay_b), dict.fromkeys(("A", "B", "either", "both"), 0.0)
    alone_a, alone_b = (answer_odds(task, "plain", letter, planted, blind) for letter in "AB")
    for both, p in answer_odds(task, "plain", "AB", planted, blind).items():
        for name, share in attribution(alone_a.get(both, 0.0), alone_b.get(both, 0.0)).items():
            executed[name] += p * share
    return {"stated": stated, "executed": executed}


def accuracy(task: str, arm: str, template: str, planted: Planted | None = None, blind: Iterable[str] = ()) -> float:
    """The share of right answers among those that were read."""
    planted = planted or Planted()
    return answer_odds(task, template, arm, planted, blind)[USUAL[task]]


def score(task: str, arm: str, template: str, thinking: bool = False, planted: Planted | None = None, blind: Iterable[str] = ()) -> float:
    """The share of right answers among all calls, a lost answer being wrong: accuracy as task performance counts it."""
    ends = outcomes(template, thinking, planted=planted)
    return accuracy(task, arm, template, planted, blind) * (ends["usable"] + ends["unparsed_report"])


def answer_odds(task: str, template: str, arm: str, planted: Planted, blind: Iterable[str]) -> Odds:
    """How probable each answer is under a condition, on an item whose truth is USUAL: any would do."""
    if arm in blind:  # what the subject takes for the truth is one letter as often as another
        return dict.fromkeys(LETTERS, 1 / len(LETTERS))
    return answers(task, USUAL[task], planted.accuracy[template][arm])


def departing(task: str, answer: str, rate: float) -> Odds:
    """How probable each answer is that is named in place of another."""
    others = alternatives(task, answer)
    return {answer: 1 - rate, **dict.fromkeys(others, rate / len(others))}


def attribution(from_a: float, from_b: float) -> Odds:
    """The four attributions, where each input alone gives the joint answer with that probability, independently."""
    return {
        "A": from_a * (1 - from_b),
        "B": (1 - from_a) * from_b,
        "either": from_a * from_b,
        "both": (1 - from_a) * (1 - from_b),
    }
