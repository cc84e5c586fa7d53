"""Simulated tool users: models that crop, whose use of what they see is planted, so that the group of every rollout is known.

Each holds a preference over the options, from its gap g = P(right) - P(best wrong) before it has looked; it changes only if a returned
image shows the target, and only with those that use what they see. When to call and when to stop is planted beside it:

    ignores       calls, and prefers what it preferred before          cwl: no observation moves it
    sure          knows the answer, and calls all the same              cwl: saturated before its first call
    uses          looks until it sees, then answers                     calibrated
    goes-on       looks until it sees, is saturated by it, goes on      lwp: calls after saturation
    never-stops   looks on until the limit                              lwp: reaches the limit
    never-calls   answers at once                                       no_call
    tool-mixture  one of these for each item
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from generator.items.synth.visual_search import SIDE
from generator.subjects import draw
from generator.subjects.tool_users_conversation import Conversation

JITTER = 0.002  # of the gap, either way, by the whole request: below what counts as an effect (0.01)
SMALL = 0.02  # the most that an option other than the right and the best wrong one is given
ENDLESS = 1_000
Region = tuple[float, float, float, float]  # x1, y1, x2, y2 as fractions of the original


@dataclass(frozen=True)
class Planted:
    """Gaps are drawn uniformly from their ranges. `right` is how often the prior gap is in favour of the right answer.

    `after` is the gap once the target was seen, None for a user that takes no notice. `calls` are made in any case, one of these numbers;
    then `patience` more while nothing is seen; after it was seen, `more`. `aim` is how often the first call goes where the target is; the
    next ones go there if none did, but for one that never stops, whose calls all go there as often as its first.
    """

    prior: tuple[float, float]
    right: float = 1.0
    after: tuple[float, float] | None = None
    calls: tuple[int, ...] = (0,)
    patience: int = 0
    more: tuple[int, ...] = (0,)
    aim: float = 0.75


KINDS: Mapping[str, Planted] = {
    "ignores": Planted(prior=(0.1, 0.8), right=0.65, calls=(1, 2, 3)),
    "sure": Planted(prior=(0.96, 0.99), calls=(1, 2)),
    "uses": Planted(prior=(-0.4, 0.6), after=(0.75, 0.93), patience=4),
    "goes-on": Planted(prior=(-0.4, 0.6), after=(0.965, 0.99), patience=12, more=(1, 2, 3)),
    "never-stops": Planted(prior=(-0.4, 0.4), after=(0.5, 0.9), calls=(ENDLESS,), aim=0.5),
    "never-calls": Planted(prior=(-0.4, 0.6)),
}
MIXTURE: Mapping[str, float] = {
    "ignores": 0.30,
    "uses": 0.30,
    "sure": 0.15,
    "goes-on": 0.10,
    "never-stops": 0.05,
    "never-calls": 0.10,
}


@dataclass(frozen=True)
class User:
    """A tool user with one conversation before it."""

    name: str
    asked: Conversation
    seed: int

    @property
    def kind(self) -> str:
        """What it does with this item."""
        return draw.choose(MIXTURE, "kind", self.seed, self.asked.item) if self.name == "tool-mixture" else self.name

    @property
    def planted(self) -> Planted:
        """How it does it."""
        return KINDS[self.kind]

    def of(self, purpose: str) -> tuple[object, ...]:
        """What a draw for this purpose depends on: the item and the replicate, under tool use and without."""
        return self.kind, self.seed, self.asked.item, self.asked.seed, self.asked.tool is None, purpose

    def within(self, ends: tuple[float, float], purpose: str) -> float:
        """A number drawn uniformly between two ends."""
        return ends[0] + (ends[1] - ends[0]) * draw.uniform(*self.of(purpose))

    @property
    def right(self) -> str:
        """The right letter; a guess where the original does not say."""
        letters = sorted(self.asked.options)
        gold = self.asked.truth.get("gold")
        return gold if gold in letters else draw.pick(letters, "guess", self.seed, self.asked.item)

    @property
    def has_seen(self) -> bool:
        """Whether a returned image showed it the target."""
        return any(self.asked.shown)

    def gap(self) -> float:
        """g at this point of the conversation."""
        gap = self.within(self.planted.prior, "prior")
        if draw.uniform(*self.of("right")) >= self.planted.right:
            gap = -gap
        if self.planted.after and self.has_seen:
            gap = self.within(self.planted.after, "after")
        return gap + JITTER * (2 * draw.uniform("jitter", self.seed, self.asked.identity) - 1)

    def preference(self) -> dict[str, float]:
        """The probability of each option."""
        gap, letters = self.gap(), sorted(self.asked.options)
        wrong = [letter for letter in letters if letter != self.right]
        best = draw.pick(wrong, "best wrong", self.seed, self.asked.item)
        small = min(SMALL, (1 - abs(gap)) / (4 * len(letters)))
        top = (1 - small * (len(wrong) - 1) - gap) / 2
        return {**dict.fromkeys(wrong, small), best: top, self.right: top + gap}

    def says(self) -> str:
        """The next turn: thoughts, then a call or an answer."""
        if self.asked.tool and not self.asked.must_answer and self.wants_to_call():
            return f"<think>{self.thought()}</think>\n{self.call()}"
        answer = self.answer()
        final = f"\\boxed{{{answer}}}" if self.asked.tool and self.asked.tool.name == "pixel_reasoner" else f"<answer>{answer}</answer>"
        return f"<think>{self.thought()}</think>\n{final}"

    def answer(self) -> str:
        """The option that it prefers; in free form what it sees, or that it sees nothing."""
        if self.asked.options:
            preferred = self.preference()
            return max(sorted(preferred), key=lambda letter: preferred[letter])
        return next((sight for sight in reversed(self.asked.shown) if sight), "it cannot be seen")

    def wants_to_call(self) -> bool:
        """Whether it looks (again)."""
        planted, n_calls = self.planted, self.asked.n_calls
        if n_calls < draw.pick(planted.calls, *self.of("calls")):
            return True
        if self.has_seen:
            first = next(place for place, sight in enumerate(self.asked.shown) if sight)
            return len(self.asked.shown) - first - 1 < draw.pick(planted.more, *self.of("more"))
        return n_calls < planted.patience

    def thought(self) -> str:
        """What it thinks; one that knows the answer says so before it calls."""
        if self.asked.options and abs(self.gap()) > 0.95:
            return f"I think it is {self.answer()}. A closer look cannot hurt."
        return "The target stands out now." if self.has_seen else "It is too small to make out from here."

    def call(self) -> str:
        """A call, in the form of the tool that is offered."""
        tool = self.asked.tool
        x1, y1, x2, y2 = self.region()
        if tool and tool.frame == "0-1000":
            box: list[float] = [math.floor(1000 * x1), math.floor(1000 * y1), math.ceil(1000 * x2), math.ceil(1000 * y2)]
        elif tool and tool.frame == "absolute":
            box = [math.floor(SIDE * x1), math.floor(SIDE * y1), math.ceil(SIDE * x2), math.ceil(SIDE * y2)]
        else:
            box = [round(end, 4) for end in (x1, y1, x2, y2)]
        if tool and tool.name == "mini_o3":
            return f"<grounding>{json.dumps({'bbox_2d': box, 'source': 'original_image'})}</grounding>"
        name, more = FUNCTIONS[tool.name if tool else ""]
        return f"<tool_call>\n{json.dumps({'name': name, 'arguments': {'bbox_2d': box, **more}})}\n</tool_call>"

    def region(self) -> Region:
        """Where it looks: around the target, or as far from it as can be."""
        n_calls = self.asked.n_calls
        x1, y1, x2, y2 = self.asked.truth.get("target_box") or (0, 0, 1, 1)
        x, y = ((first + last) / 2 / SIDE for first, last in ((x1, x2), (y1, y2)))
        side = self.within((0.08, 0.12), f"side {n_calls}")
        is_later = n_calls > 0 and not self.has_seen and self.kind != "never-stops"
        if not (is_later or draw.uniform(*self.of(f"aim {n_calls}")) < self.planted.aim):
            x, y = (x + 0.5) % 1, (y + 0.5) % 1
        left, top = (
            min(max(0.0, centre - side / 2 + self.within((-0.02, 0.02), f"{axis} {n_calls}")), 1 - side)
            for axis, centre in (("x", x), ("y", y))
        )
        return left, top, left + side, top + side


FUNCTIONS: Mapping[str, tuple[str, dict[str, object]]] = {
    "qwen3_vl": ("image_zoom_in_tool", {"label": "the target", "img_idx": 0}),
    "deepeyes": ("image_zoom_in_tool", {"label": "the target"}),
    "pixel_reasoner": ("crop_image_normalized", {"target_image": 1}),
}
