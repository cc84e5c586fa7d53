"""Literal rows of a small tool-use study: rollouts with turns, observations and probes, and what a test does not speak of filled in."""

import json
import math
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from analysis import catalog
from tests.sql.literal import Rows, insert

Row = dict[str, Any]
OPTIONS = {"A": "red", "B": "blue", "C": "green", "D": "white"}
TOKENS = {"A": [39], "B": [40], "C": [41], "D": [42]}
CALLING = "<think>look closer</think><tool_call>1</tool_call>"


def reply(content: str | None) -> str:
    """A chat completion that says `content`."""
    return json.dumps({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]})


def reading(logprobs: dict[int, Any], sampled: tuple[int, Any] = (349, -2.5)) -> str:
    """A reply for one token with these log-probabilities by token id; the sampled token is not among them."""
    top = [{"token": f"token_id:{token}", "logprob": value} for token, value in logprobs.items()]
    first = {"token": f"token_id:{sampled[0]}", "logprob": sampled[1], "top_logprobs": top}
    return json.dumps({"choices": [{"logprobs": {"content": [first]}}]})


def gap_reading(gap: float) -> str:
    """A reading in which gold A is ahead of B by `gap`, and C and D have next to nothing."""
    masses = {39: (1 + gap) / 2, 40: (1 - gap) / 2, 41: 1e-9, 42: 1e-9}
    return reading({token: math.log(mass) for token, mass in masses.items()})


class Study:
    """Collects the raw tables of one study, `s`, row by row."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Row]] = defaultdict(list)

    @property
    def given(self) -> dict[str, Rows]:
        """The tables by the names that `literal.run` knows."""
        return {f"raw.{name}": rows for name, rows in self.tables.items()}

    def write(self, path: Path) -> None:
        """Make a warehouse file of the tables."""
        with duckdb.connect(str(path)) as connection:
            connection.execute(catalog.load().raw_schema)
            for name, rows in self.tables.items():
                insert(connection, name, rows)

    def item(self, item_id: str = "i", gold: str = "A", options: dict[str, str] | None = OPTIONS, **columns: Any) -> None:
        annotation = json.dumps({"options": options} if options else {})
        row = {"item_id": item_id, "task": "vstar", "cluster_id": item_id, "gold": json.dumps(gold), "annotation": annotation}
        self.tables["item"].append(row | columns)

    def rollout(self, rollout_id: str, said: str | None = "<answer>A</answer>", n_calls: int = 0, **columns: Any) -> None:
        """A finished rollout of one call a turn, whose last turn says `said`; the study's grid asks for it."""
        end = {"attempt": 1, "max_calls": 12, "end_reason": "answer"}
        self.tables["rollout"].append({"rollout_id": rollout_id} | {name: columns.pop(name, value) for name, value in end.items()})
        for turn in range(1, n_calls + 2):
            self.turn(rollout_id, turn, CALLING if turn <= n_calls else said, **columns)
            if turn <= n_calls:
                self.observation(rollout_id, turn)

    def turn(self, rollout_id: str, turn: int, said: str | None, **columns: Any) -> None:
        about = {
            "protocol": "tool_use",
            "model_id": "m",
            "thinking": False,
            "task": "vstar",
            "item_id": "i",
            "arm": "tool",
            "template": "free",
        }
        about |= {"replicate": 0} | {name: columns.pop(name) for name in list(columns) if name in (*about, "replicate")}
        key = columns.pop("request_key", f"{rollout_id}/{turn}")
        asked = {"study": "s", "grid_id": "0001-a", "created_at": datetime(2026, 1, 1), "request_key": key}
        if key not in {row["request_key"] for row in self.tables["grid"]}:
            self.tables["grid"].append(asked | about)
        said_row = {"completion_id": f"{key}/{rollout_id}/{turn}/{columns.get('attempt', 1)}", "request_key": key, "attempt": 1}
        self.tables["completion"].append(said_row | about | {"rollout_id": rollout_id, "turn": turn, "response": reply(said)} | columns)

    def observation(self, rollout_id: str, turn: int, call_index: int = 0, **columns: Any) -> None:
        row = {"rollout_id": rollout_id, "turn": turn, "call_index": call_index, "draw": 0, "executed": '{"bbox_2d": [1, 2, 3, 4]}'}
        self.tables["observation"].append(row | columns)

    def probe(self, rollout_id: str, turn: int, stage: str, response: str | None, draw: int = 0, **columns: Any) -> None:
        row = {"rollout_id": rollout_id, "turn": turn, "call_index": 0, "stage": stage, "draw": draw, "attempt": 1, "http_status": 200}
        self.tables["probe"].append(row | {"options": json.dumps(TOKENS), "response": response} | columns)

    def probes(self, rollout_id: str, turn: int, before: float, real: float, *crops: float, **columns: Any) -> None:
        """All readings of a call: its gaps before, after the observation, and after each counterfactual crop."""
        self.probe(rollout_id, turn, "before", gap_reading(before), **columns)
        self.probe(rollout_id, turn, "real", gap_reading(real), **columns)
        for draw, crop in enumerate(crops, start=1):
            self.probe(rollout_id, turn, "counterfactual", gap_reading(crop), draw, **columns)


def small_study() -> Study:
    """One model on two items of V*, under every policy and intervention, one tool rollout of each probed."""
    study = Study()
    for item in ("a", "b"):
        study.item(item, inputs=json.dumps({"question": f"What colour is {item}?", "image": f"image of {item}"}))
        study.rollout(f"{item}/direct", "<answer>B</answer>", item_id=item, arm="direct")
        study.rollout(f"{item}/tool", n_calls=2, item_id=item)
        study.probes(f"{item}/tool", 1, 0.1, 0.6, 0.1, 0.1, 0.1)
        study.probes(f"{item}/tool", 2, 0.6, 0.65, 0.6, 0.6, 0.6)
        for arm in ("random_crop", "noise", "blank"):
            study.rollout(f"{item}/{arm}", None, n_calls=3, max_calls=3, end_reason="call_limit", item_id=item, arm=arm)
            study.rollout(f"{item}/{arm}/forced", n_calls=3, max_calls=3, item_id=item, arm=arm, template="force_answer")
    return study
