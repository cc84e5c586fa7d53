"""Checkpoints of stored rollouts: which answer a model would give before a call, after its observation, and after another in its place.

Seed 001, 3.3.3 and A.3. At each checkpoint the conversation is taken as it was, the literal `<answer>` is appended as the beginning of the
model's next words, and the log-probabilities of the options' tokens are read there. Real and counterfactual share every byte but one image.

- `before` a call: the turn up to its first call, in place of which `<answer>` stands.
- `real`: after all observations of the turn. `counterfactual` (draws 1 to 3): the same, with one observation replaced by a random crop of
  its size [decided: where a turn makes several calls, the others stay].
- A call that ended in a tool error shows nothing, and is probed before alone.

Nothing of a rollout is asked again: calls are carried out anew from the stored text, so that probing may be done at any time. Open-ended
items have no options: their gold text is appended, and the log-probabilities of its tokens are read from the prompt.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from analysis.errors import ProviderError
from analysis.session import Session
from generator import conversation, tools
from generator.client import Client
from generator.conversation import Chat, Exchange
from generator.grid import Cell
from generator.journal import Record, Row
from generator.models import Model
from generator.pictures import Pictures
from generator.record import Call
from generator.reply import Reply, json_object
from generator.rollout import draw_seed, observation_row
from generator.tools import Malformed, Observation, Shown

MARK = "<answer>"
TOKENIZE = "../tokenize"  # beside vLLM's /v1

# The checkpoints of finished rollouts that were not read: never asked, or the last exchange failed. What came back is a reading, whatever
# it holds: whether it can be used is the views' to say.
MISSING = """
    WITH call AS (
        SELECT
            finished.rollout_id, finished.last_completion_id, observation.turn, observation.call_index,
            observation.error IS NOT NULL AS is_error
        FROM tooluse.finished AS finished
        INNER JOIN raw.observation AS observation ON finished.rollout_id = observation.rollout_id AND observation.draw = 0
        WHERE
            finished.model_id = ? AND finished.arm = 'tool' AND finished.template = 'free' AND finished.replicate < ?
            AND finished.end_reason <> 'error'
    ),
    place AS (
        SELECT stage, draw
        FROM (
            VALUES ('before', 0), ('real', 0), ('counterfactual', 1), ('counterfactual', 2), ('counterfactual', 3)
        ) AS places (stage, draw)
    ),
    last_reading AS (
        SELECT rollout_id, turn, call_index, stage, draw, attempt, http_status BETWEEN 200 AND 299 AND error IS NULL AS is_read
        FROM raw.probe
        QUALIFY row_number() OVER (PARTITION BY rollout_id, turn, call_index, stage, draw ORDER BY attempt DESC) = 1
    )
    SELECT
        call.rollout_id, call.last_completion_id, call.turn, call.call_index, place.stage, place.draw,
        COALESCE(last_reading.attempt, 0) AS attempts
    FROM call
    INNER JOIN place ON place.stage = 'before' OR NOT call.is_error
    LEFT JOIN last_reading
        ON call.rollout_id = last_reading.rollout_id AND call.turn = last_reading.turn AND call.call_index = last_reading.call_index
        AND place.stage = last_reading.stage AND place.draw = last_reading.draw
    WHERE NOT COALESCE(last_reading.is_read, FALSE)
    ORDER BY call.rollout_id, call.turn, call.call_index, place.stage, place.draw
"""


class Checkpoint(NamedTuple):
    """A place of a rollout that is to be read, and the exchanges that were stored of it."""

    turn: int
    call_index: int
    stage: str
    draw: int
    attempts: int


class Step(NamedTuple):
    """One call of a rollout, carried out anew: what was shown before its turn, what it returned, its image's place among the turn's."""

    call: tools.Call | Malformed
    observation: Observation
    shown: Sequence[Shown]
    place: int


class Replay:
    """A stored rollout under the unhindered tool, from the last of its stored requests. May be used from several threads."""

    def __init__(self, cell: Cell, rollout_id: str, messages: Sequence[Chat], pictures: Pictures) -> None:
        self.cell, self.rollout_id, self.pictures = cell, rollout_id, pictures
        self.tool = tools.interface(cell.model.interface or "")
        self.exchanges = conversation.exchanges(messages)
        self._steps: dict[tuple[int, int], Step] = {}
        self._lock = threading.Lock()

    def messages(self, at: Checkpoint, record: Callable[[Iterable[Record]], None]) -> list[Chat]:
        """The conversation up to a checkpoint, with the beginning of an answer at its end; a counterfactual image is kept and recorded."""
        turn = self.exchanges[at.turn - 1]
        if at.stage == "before":
            calls = self.tool.calls(turn.said)
            return [*turn.before, _assistant(turn.said[: calls[0].start] + MARK)]
        told = turn.told if at.stage == "real" else self._replaced(turn, at, record)
        return [*turn.before, _assistant(turn.said), *told, _assistant(MARK)]

    def _replaced(self, turn: Exchange, at: Checkpoint, record: Callable[[Iterable[Record]], None]) -> Sequence[Chat]:
        """What the turn was told, with another crop in the place of one."""
        step = self.steps()[at.turn, at.call_index]
        seed = draw_seed(self.cell, at.turn, at.call_index, at.draw)
        observation = self.tool.replaced(step.observation, step.shown, "random_crop", seed)
        assert observation.image is not None  # noqa: S101 - a call that returned none has no counterfactual
        image = self.pictures.keep(observation.image, self.cell.item.inputs["image"], f"returned by {self.tool.name}")
        place = {"rollout_id": self.rollout_id, "turn": at.turn, "draw": at.draw, "kind": "random_crop", "seed": seed}
        record([("image", image), ("observation", place | observation_row(self.tool, step.call, observation, image))])
        return conversation.with_image(turn.told, step.place, image["image_sha256"])

    def steps(self) -> Mapping[tuple[int, int], Step]:
        """The calls by turn and index."""
        with self._lock:
            if not self._steps:
                self._steps = {(turn, step.call.index): step for turn, step in self._replayed()}
            return self._steps

    def _replayed(self) -> Iterator[tuple[int, Step]]:
        shown: list[Shown] = [tools.original(self.pictures.image(self.cell.item.inputs["image"]))]
        for turn, exchange in enumerate(self.exchanges, start=1):
            before, place = list(shown), 0
            n_returned = sum(1 for _ in conversation.images(exchange.told))
            for call in self.tool.calls(exchange.said):
                observation = self.tool.execute(call, before)
                yield turn, Step(call, observation, before, place)
                if observation.shown and place < n_returned:  # what was over the limit was not carried out
                    shown.append(observation.shown)
                    place += 1


@dataclass(frozen=True)
class Readout:
    """What is read at a checkpoint: the token ids of each label. Options are read at the next token; `gold`, a text, is read itself."""

    tokens: Mapping[str, Sequence[int]]
    gold: str | None = None

    def fields(self) -> dict[str, Any]:
        """The fields of the request body that ask for it: vLLM's own, since `top_logprobs` ends at 20 and can miss an option."""
        common = {
            "temperature": 0.0,
            "max_tokens": 1,
            "continue_final_message": True,
            "add_generation_prompt": False,
            "return_tokens_as_token_ids": True,
            # with a reasoning parser the continuation would else be taken for reasoning
            "chat_template_kwargs": {"enable_thinking": False},
        }
        if self.gold is not None:
            return {**common, "prompt_logprobs": 1}
        return {**common, "logprobs": True, "logprob_token_ids": [token for ids in self.tokens.values() for token in ids]}


@dataclass(frozen=True, kw_only=True)
class Probe(Call):
    """One reading at a checkpoint as a call of the run; `asked` is what was sent last, as it is stored."""

    replay: Replay
    at: Checkpoint
    readout: Readout
    asked: dict[str, Any]

    @classmethod
    def of(cls, replay: Replay, at: Checkpoint, readout: Readout, most: int, record: Callable[[Iterable[Record]], None]) -> Probe:
        """The call for a checkpoint, in at most `most` exchanges."""
        model, asked = replay.cell.model, dict[str, Any]()

        def build() -> bytes:
            messages = replay.messages(at, record)
            messages[-1]["content"] += readout.gold or ""
            asked.update(model=model.identifier, messages=messages, seed=replay.cell.seed, **readout.fields())
            return conversation.sent(asked, replay.pictures)

        key = f"{replay.rollout_id}/{'/'.join(map(str, at[:4]))}"
        return cls(key, build, at.attempts, model=model, most=most, replay=replay, at=at, readout=readout, asked=asked)

    def rows(self, attempt: int, reply: Reply, answered: Row) -> list[Record]:
        """One row of `raw.probe`, with the body as it came."""
        row = {
            "rollout_id": self.replay.rollout_id,
            **{name: getattr(self.at, name) for name in ("turn", "call_index", "stage", "draw")},
            "attempt": attempt,
            **{name: answered[name] for name in ("provider", "precision", "engine_version")},
            "options": dict(self.readout.tokens),
            "request": dict(self.asked),
            "http_status": reply.http_status,
            "response": None if reply.body is None else reply.body.decode("utf-8", "replace"),
            "error": None if reply.error is None else dict(reply.error),
        }
        if self.is_last(attempt, reply):
            self.asked.clear()  # a run holds its calls to the end
        return [("probe", row)]


def readouts(cells: Iterable[Cell], asking: Client, model: Model) -> dict[str, Readout]:
    """What is read of each of these cells' items, by item_id. Raises as `token_ids`."""
    chosen = {cell.item_id: cell.item for cell in cells}
    options = {item_id: item.annotation.get("options") or {} for item_id, item in chosen.items()}
    forms = {form.format(letter) for letters in options.values() for letter in letters for form in model.option_forms}
    golds = {str(item.gold) for item_id, item in chosen.items() if not options[item_id]}
    ids = asyncio.run(token_ids(sorted(forms | golds), asking, model))
    for form in sorted(forms):
        if len(ids[form]) != 1:
            raise ProviderError(f"{model.model_id} writes the option {form!r} in {len(ids[form])} tokens: give it other option_forms")
    found = {}
    for item_id, item in chosen.items():
        letters = {letter: [ids[form.format(letter)][0] for form in model.option_forms] for letter in options[item_id]}
        found[item_id] = Readout(letters) if letters else Readout({"gold": ids[str(item.gold)]}, str(item.gold))
    return found


async def token_ids(texts: Sequence[str], asking: Client, model: Model) -> dict[str, list[int]]:
    """The ids of the tokens of each text, as the model's server says. ProviderError where it does not."""
    found: dict[str, list[int]] = {}
    async with asking:
        for text in texts:
            reply = await asking.post({"model": model.identifier, "prompt": text, "add_special_tokens": False}, TOKENIZE)
            ids = json_object(reply.body).get("tokens")
            if reply.http_status != 200 or not isinstance(ids, list) or not ids or not all(type(number) is int for number in ids):
                why = (reply.error or {}).get("message") or f"status {reply.http_status}"
                raise ProviderError(
                    f"{asking.where} does not say the tokens of {text!r} ({why}): {model.model_id} can only be probed on a vLLM server"
                )
            found[text] = ids
    return found


def missing(reading: Session, model_id: str, probed: int) -> dict[str, tuple[str, list[Checkpoint]]]:
    """The checkpoints that are to be read, by rollout, each with the completion whose request holds the whole rollout."""
    found: dict[str, tuple[str, list[Checkpoint]]] = {}
    for row in reading.rows(MISSING, [model_id, probed]):
        at = Checkpoint(*(row[name] for name in Checkpoint._fields))
        found.setdefault(row["rollout_id"], (row["last_completion_id"], []))[1].append(at)
    return found


def requests(reading: Session, completion_ids: Sequence[str]) -> dict[str, tuple[str, list[Chat]]]:
    """The request_key and the messages of stored requests, by completion; what was ingested has none."""
    rows = reading.rows(
        "SELECT completion_id, request_key, request FROM raw.completion WHERE completion_id IN (SELECT unnest(?)) AND request IS NOT NULL",
        [list(completion_ids)],
    )
    return {row["completion_id"]: (row["request_key"], json.loads(row["request"])["messages"]) for row in rows}


def _assistant(text: str) -> Chat:
    return {"role": "assistant", "content": text}
