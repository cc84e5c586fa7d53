"""The tool loop: a model is asked, its calls are carried out, and it is asked again until it answers or the limit is reached.

A rollout's turns follow each other, and many rollouts are under way at once: each turn is a request of the run's client. A call is read
only to carry it out. An intervention (seed 001, 3.3.2) replaces every image that is returned and nothing else.

Everything is stored as it happens: a row of `raw.completion` for each exchange, of `raw.observation` and `raw.image` for what was returned
before the next turn is asked, and the row of `raw.rollout` with the last exchange. A rollout without that row does not count: what a
stop left of it stays, and another attempt takes its place.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from generator import conversation, tools
from generator.conversation import Chat
from generator.grid import Cell, rollout_decoding
from generator.journal import Record, Row
from generator.pictures import Pictures
from generator.record import Call, completion_row
from generator.reply import Reply, Spoken, departs, outgrew, spoken
from generator.tools import FORCE_ANSWER, Interface, Kind, Malformed, Observation, Shown

EndReason = Literal["answer", "call_limit", "no_answer", "truncated", "error"]
INTERVENTIONS: Mapping[str, Kind] = {"random_crop": "random_crop", "noise": "noise", "blank": "blank"}
ANSWER_MARKS = ("<answer>", "\\boxed{")
UNDER_WAY = 2  # rollouts for each request in flight: the others execute calls meanwhile


def rollout_id(request_key: str, attempt: int) -> str:
    """The id of one attempt (from 1) at a rollout."""
    return _digest(f"rollout|{request_key}|{attempt}")


def draw_seed(cell: Cell, turn: int, call_index: int, draw: int) -> int:
    """The seed of one sampled crop or noise image, from 0 to 2^53: the replicate's own for each call and draw, whatever the model."""
    return int(_digest(f"draw|{cell.seed}|{cell.item_id}|{turn}|{call_index}|{draw}")[:13], 16)


@dataclass
class Rollout:
    """One attempt at a cell: the conversation so far, what was shown in it, and in the end how it ended."""

    cell: Cell
    attempt: int
    max_calls: int
    pictures: Pictures
    messages: list[Chat] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    """The images that tools returned."""
    turn: int = 1
    n_calls: int = 0
    waiting: list[tools.Call | Malformed] = field(default_factory=list)
    """Calls of the last turn that are to be carried out before the next."""
    end_reason: EndReason | None = None

    def __post_init__(self) -> None:
        self.rollout_id = rollout_id(self.cell.request_key, self.attempt)
        self.tool = tools.interface(self.cell.model.interface or "")
        self.kind = INTERVENTIONS.get(self.cell.arm)

    def request(self, record: Callable[[Iterable[Record]], None]) -> dict[str, Any]:
        """The request of this turn, as it is stored; calls that wait are carried out first, and what they return is recorded."""
        if not self.messages:
            self._open(record)
        if self.waiting:
            self._observe(record)
        return {"model": self.cell.model.identifier, "messages": list(self.messages), **rollout_decoding(self.cell)}

    def hear(self, said: Spoken) -> None:
        """Take in what the model said: either its calls wait for the next turn, or the rollout has ended."""
        calls = [] if self.cell.arm == "direct" else self.tool.calls(said.text)
        left = self.max_calls - self.n_calls
        if said.is_cut:
            self.end_reason = "truncated"
        elif calls and left > 0:
            self.messages.append({"role": "assistant", "content": said.text})
            self.waiting, self.turn = calls[:left], self.turn + 1
        elif calls:
            self.end_reason = "call_limit"
        elif "<think>" in said.text.rpartition("</think>")[2]:
            self.end_reason = "truncated"
        else:
            self.end_reason = "answer" if any(mark in said.text.rpartition("</think>")[2] for mark in ANSWER_MARKS) else "no_answer"

    def row(self) -> Row:
        """The row of `raw.rollout`."""
        return {
            "rollout_id": self.rollout_id,
            "attempt": self.attempt,
            "max_calls": self.max_calls,
            "end_reason": self.end_reason,
        }

    def _open(self, record: Callable[[Iterable[Record]], None]) -> None:
        item = self.cell.item
        image_sha256 = item.inputs["image"]
        if row := self.pictures.first(image_sha256, self.tool):
            record([("image", row)])
            image_sha256 = row["image_sha256"]
        self.messages = conversation.opening(conversation.prompt(self.cell.arm, self.tool, item), image_sha256)

    def _observe(self, record: Callable[[Iterable[Record]], None]) -> None:
        """Carry out the calls that wait, replace what they return where the arm says so, and put it into the conversation."""
        turn, source = self.turn - 1, self.cell.item.inputs["image"]
        every = [tools.original(self.pictures.image(source)), *self.shown]
        returned = [self._returned(call, turn, every) for call in self.waiting]
        kept = {id(one.image): self.pictures.keep(one.image, source, f"returned by {self.tool.name}") for one in returned if one.image}
        rows: list[Record] = [("image", row) for row in kept.values()]
        for call, observation in zip(self.waiting, returned, strict=True):
            seed = draw_seed(self.cell, turn, call.index, 0) if self.kind and observation.image else None
            place = {"rollout_id": self.rollout_id, "turn": turn, "draw": 0, "kind": self.kind or "real", "seed": seed}
            rows.append(("observation", place | observation_row(self.tool, call, observation, kept.get(id(observation.image)))))
        record(rows)
        told = self.tool.observation_messages(returned, turn, len(every))
        self.messages += [conversation.chat(message, lambda image: kept[id(image)]["image_sha256"]) for message in told]
        self.shown += [observation.shown for observation in returned if observation.shown]
        self.n_calls, self.waiting = self.n_calls + len(self.waiting), []
        if self.cell.template == "force_answer" and self.n_calls >= self.max_calls:
            self.messages[-1]["content"].append(conversation.text_part(f"\n{FORCE_ANSWER}"))

    def _returned(self, call: tools.Call | Malformed, turn: int, shown: list[Shown]) -> Observation:
        """What a call returns in this arm."""
        observation = self.tool.execute(call, shown)
        return self.tool.replaced(observation, shown, self.kind, draw_seed(self.cell, turn, call.index, 0)) if self.kind else observation


def observation_row(tool: Interface, call: tools.Call | Malformed, observation: Observation, image: Row | None) -> dict[str, Any]:
    """The columns of `raw.observation` that say what was asked and what came of it; `image` is the row of what was kept."""
    executed = observation.executed
    return {
        "call_index": call.index,
        "requested": {"malformed": call.text} if isinstance(call, Malformed) else call.requested,
        "executed": executed if observation.text is None else {**(executed or {}), "text": observation.text},
        "frame": tool.frame,
        "image_sha256": image and image["image_sha256"],
        "width": image and image["width"],
        "height": image and image["height"],
        "error": observation.error,
    }


@dataclass(frozen=True, kw_only=True)
class Turn(Call):
    """One turn of a rollout as a call of the run; `asked` is what was sent last, as it is stored."""

    rollout: Rollout
    turn: int
    feed: Feed
    asked: dict[str, Any]

    def rows(self, attempt: int, reply: Reply, answered: Row) -> list[Record]:
        """The exchange, and the rollout's row where it ends here."""
        rollout = self.rollout
        if self.is_last(attempt, reply):
            self._take(attempt, reply, answered)
        row = completion_row(rollout.cell, self.asked, attempt, reply, answered) | {
            "completion_id": _digest(f"turn|{rollout.rollout_id}|{self.turn}|{attempt}"),
            "rollout_id": rollout.rollout_id,
            "turn": self.turn,
        }
        ended: list[Record] = [("rollout", rollout.row())] if rollout.end_reason else []
        return [("completion", row), *ended]

    def _take(self, attempt: int, reply: Reply, answered: Row) -> None:
        model, rollout = self.model, self.rollout
        said = None if departs(model.provider, model.precision, answered) else spoken(reply)
        if said is not None:
            rollout.hear(said)
        elif outgrew(reply) and self.turn > 1:  # the paper's limit on calls is not the only one
            rollout.end_reason = "truncated"
        elif attempt >= self.most:
            rollout.end_reason = "error"

    def settles(self, attempt: int, reply: Reply) -> bool:
        """Whether the rollout ends here."""
        return self.rollout.end_reason is not None

    def recorded(self, attempt: int, reply: Reply) -> None:
        """Go on with the rollout: its next turn, or this one again."""
        if self.is_last(attempt, reply):
            self.feed.go_on(self.rollout, attempt if self.rollout.turn == self.turn else 0)


class Feed:
    """The turns of many rollouts as a client takes them: next turns as they come, new rollouts while fewer than `most` are under way.

    `todo` gives the cells that want a rollout, with the attempts that were begun already; `tries` is how many exchanges a turn may take.
    To be iterated once, in the client's event loop; `go_on` is called from the client's recording thread.
    """

    def __init__(
        self,
        todo: Iterable[tuple[Cell, int]],
        max_calls: int,
        tries: int,
        most: int,
        pictures: Pictures,
        record: Callable[[Iterable[Record]], None],
    ) -> None:
        self._todo, self._max_calls, self._tries, self._most = iter(todo), max_calls, tries, most
        self._pictures, self._record = pictures, record
        self._ready: deque[Turn] = deque()
        self._under_way = 0
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop

    async def __aiter__(self) -> AsyncIterator[Turn]:
        self._loop = asyncio.get_running_loop()
        while True:
            if self._ready:
                yield self._ready.popleft()
            elif self._under_way < self._most and (begun := next(self._todo, None)):
                self._under_way += 1
                cell, stored = begun
                yield self._asked(Rollout(cell, stored + 1, self._max_calls, self._pictures), 0)
            elif self._under_way:
                self._changed.clear()
                await self._changed.wait()
            else:
                return

    def go_on(self, rollout: Rollout, attempts: int) -> None:
        """Ask the rollout's turn, of which so many exchanges are stored; or begin another where this one has ended."""
        turn = None if rollout.end_reason else self._asked(rollout, attempts)
        self._loop.call_soon_threadsafe(self._put, turn)

    def _put(self, turn: Turn | None) -> None:
        if turn:
            self._ready.append(turn)
        else:
            self._under_way -= 1
        self._changed.set()

    def _asked(self, rollout: Rollout, attempts: int) -> Turn:
        asked: dict[str, Any] = {}

        def build() -> bytes:
            asked.update(rollout.request(self._record))
            return conversation.sent(asked, self._pictures)

        key = f"{rollout.rollout_id}/{rollout.turn}"
        return Turn(
            key, build, attempts, model=rollout.cell.model, most=self._tries, rollout=rollout, turn=rollout.turn, feed=self, asked=asked
        )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
