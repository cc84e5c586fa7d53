"""The tool-use audit's rollouts, calls and groups in plain Python, from raw rows in the ingest form and from the protocol, section 2."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

Row = dict[str, Any]
Checkpoint = tuple[float | None, float | None]  # gap, mass

DEFAULTS = {
    "tooluse.tau_sat": "0.95",
    "tooluse.epsilon": "0.01",
    "tooluse.calls": "first",
    "tooluse.hit_max_first": "false",
    "arm.replicate": "0",
}
CALLER = ("rollout_id", "model_id", "thinking", "task", "item_id", "cluster_id", "arm", "template", "replicate", "correct")
GRID = [(0.95, 0.005), (0.95, 0.01), (0.95, 0.02), (0.95, 0.05), (0.80, 0.01), (0.90, 0.01), (0.97, 0.01), (0.99, 0.01)]


# Answers


def final_text(turn: Row) -> str | None:
    """What follows the last closing think tag; None while one is open, or where there is no message."""
    try:
        body = turn["response"] if isinstance(turn["response"], dict) else json.loads(turn["response"])
        text = str(body["choices"][0]["message"]["content"] or "")
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    rest = text.rpartition("</think>")[2]
    return None if "<think>" in rest else rest


def stated(text: str | None) -> str | None:
    """The last answer element, else the last box whose braces balance."""
    if text is None:
        return None
    if found := re.findall(r"<answer>((?:(?!<answer>).)*?)</answer>", text, re.DOTALL):
        return str(found[-1])
    for start in reversed([match.end() for match in re.finditer(re.escape(r"\boxed{"), text)]):
        depth = 1
        for end in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            if depth == 0:
                return text[start:end]
    return None


def tidy(text: str) -> str:
    """Trimmed, without trailing punctuation, in lower case."""
    text = text.strip()
    while text and (text[-1] in ".,;:!?" or text[-1].isspace()):
        text = text[:-1]
    return text.lower()


def letter(value: str, options: Mapping[str, str]) -> str | None:
    """The option that a tidied answer names."""
    if match := re.match(r"\(([a-z])\)|([a-z])(?:[.:)]|$)", value):
        named = (match[1] or match[2]).upper()
        if named in options:
            return named
    same = [name for name, text in options.items() if tidy(text) == value]
    return same[0] if len(same) == 1 else None


# Readings


def checkpoint(probe: Row, gold: str) -> Checkpoint:
    """Gap and raw mass of one reading; (None, None) where it is unreadable."""
    try:
        if probe.get("error") or not 200 <= (probe.get("http_status") or 200) < 300:
            raise ValueError("the call failed")
        body = probe["response"] if isinstance(probe["response"], dict) else json.loads(probe["response"])
        first = body["choices"][0]["logprobs"]["content"][0]
        known: dict[str, float] = {}
        for entry in [*first["top_logprobs"], first]:
            known.setdefault(entry["token"], float(entry["logprob"]))
        values = {label: [known[f"token_id:{token}"] for token in tokens] for label, tokens in probe["options"].items()}
        if not all(math.isfinite(value) and value > -9999 for found in values.values() for value in found):
            raise ValueError("no probability")
    except (ValueError, KeyError, IndexError, TypeError):
        return None, None
    mass = {label: sum(map(math.exp, found)) for label, found in values.items()}
    total = sum(mass.values())
    return (mass[gold] - max(value for label, value in mass.items() if label != gold)) / total, total


def mean(values: list[float]) -> float | None:
    """None of nothing."""
    return math.fsum(values) / len(values) if values else None


def less(one: float | None, other: float | None) -> float | None:
    """A difference, not known where a side is not."""
    return None if one is None or other is None else one - other


# Three-valued logic: True, False, None


def less_or_equal(one: float | None, other: float) -> bool | None:
    return None if one is None else one <= other


def no(a: bool | None) -> bool | None:
    return None if a is None else not a


def either(a: bool | None, b: bool | None) -> bool | None:
    return True if a or b else None if a is None or b is None else False


def both(a: bool | None, b: bool | None) -> bool | None:
    return no(either(no(a), no(b)))


class Rollouts:
    """A study of rollouts: the latest attempts, their calls with readings, and the group of each at any pair of thresholds."""

    def __init__(self, rows: list[Row], settings: Mapping[str, str] | None = None) -> None:
        given = DEFAULTS | dict(settings or {})
        self.tau, self.epsilon = float(given["tooluse.tau_sat"]), float(given["tooluse.epsilon"])
        self.all_calls, self.hit_max_first = given["tooluse.calls"] == "all", given["tooluse.hit_max_first"] == "true"
        self.replicate = int(given["arm.replicate"])
        tables: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            tables[row.get("table", "completion")].append(row)
        self.items = {row["item_id"]: row["item"] for row in tables["completion"] if "item" in row}
        self.turns: dict[str, dict[int, Row]] = defaultdict(dict)
        for turn in sorted(tables["completion"], key=lambda turn: turn["attempt"]):
            self.turns[turn["rollout_id"]][turn["turn"]] = turn
        self.observations: dict[str, list[Row]] = defaultdict(list)
        for row in sorted(tables["observation"], key=lambda row: (row["turn"], row["call_index"])):
            if row["draw"] == 0:
                self.observations[row["rollout_id"]].append(row)
        self.probes: dict[tuple[Any, ...], dict[tuple[str, int], Row]] = defaultdict(dict)
        for probe in sorted(tables["probe"], key=lambda probe: probe["attempt"]):
            self.probes[probe["rollout_id"], probe["turn"], probe["call_index"]][probe["stage"], probe["draw"]] = probe
        self.rollouts = {row["rollout_id"]: row for row in self._latest(tables["rollout"])}
        self.calls = [call for rollout in self.rollouts.values() for call in self._calls(rollout)]
        self.calls_of: dict[str, list[Row]] = defaultdict(list)
        for call in self.calls:
            self.calls_of[call["rollout_id"]].append(call)

    def _latest(self, ended: list[Row]) -> Iterator[Row]:
        latest: dict[tuple[Any, ...], Row] = {}
        for end in sorted(ended, key=lambda end: (end["attempt"], end["rollout_id"])):
            if turns := self.turns.get(end["rollout_id"]):
                first = next(iter(turns.values()))
                identity = {name: first[name] for name in ("model_id", "thinking", "task", "item_id", "arm", "template", "replicate")}
                latest[tuple(identity.values())] = {**end, **identity}
        for row in latest.values():
            n_calls = len(self.observations[row["rollout_id"]])
            reached = n_calls > 0 and n_calls >= row["max_calls"]
            hit_max = True if reached else None if row["end_reason"] == "error" else False
            cluster = self.items[row["item_id"]]["cluster_id"]
            yield {**row, "n_calls": n_calls, "hit_max": hit_max, "cluster_id": cluster, **self._answer(row)}

    def _answer(self, row: Row) -> Row:
        item = self.items[row["item_id"]]
        options = item["annotation"]["options"]
        turns = self.turns[row["rollout_id"]]
        said = tidy(stated(final_text(turns[max(turns)])) or "")
        named = letter(said, options)
        correct = None if row["end_reason"] == "error" else named is not None and named == item["gold"]
        return {"answer": named or said or None, "correct": correct}

    def _calls(self, rollout: Row) -> Iterator[Row]:
        gold = self.items[rollout["item_id"]]["gold"]
        shown = self.observations[rollout["rollout_id"]]
        turns = sorted({row["turn"] for row in shown})
        for number, row in enumerate(shown, start=1):
            probes = self.probes[rollout["rollout_id"], row["turn"], row["call_index"]]
            read = {place: checkpoint(probe, gold)[0] for place, probe in probes.items()}
            before, failed = read.get(("before", 0)), row["error"] is not None
            real = None if failed else read.get(("real", 0))
            crops = [read.get(("counterfactual", draw)) for draw in (1, 2, 3)]
            cf = None if failed or None in crops else mean([crop for crop in crops if crop is not None])
            is_first = number == 1 or shown[number - 2]["turn"] != row["turn"]
            turn_number = turns.index(row["turn"]) + 1
            yield {
                **{name: rollout[name] for name in CALLER},
                "turn": row["turn"],
                "call_index": row["call_index"],
                "call_number": number,
                "turn_number": turn_number,
                "first_of_turn": is_first,
                "is_counted": is_first or self.all_calls,
                "position": number if self.all_calls else turn_number,
                "is_error": failed,
                "n_checkpoints": len(probes),
                "gap_before": before,
                "gap_real": real,
                "gap_cf": cf,
                "veg": less(real, cf),
                "gain_real": less(real, before),
                "gain_cf": less(cf, before),
                "saturated": no(less_or_equal(before, self.tau)),
            }

    def diagnoses(self, tau: float, epsilon: float) -> Iterator[Row]:
        """The group of every unhindered tool rollout that made no call or was probed."""
        for rollout in self.rollouts.values():
            if (rollout["arm"], rollout["template"]) == ("tool", "free"):
                calls = self.calls_of[rollout["rollout_id"]]
                if not calls or any(call["n_checkpoints"] for call in calls):
                    yield self._diagnosis(rollout, calls, tau, epsilon)

    def _diagnosis(self, rollout: Row, calls: list[Row], tau: float, epsilon: float) -> Row:
        unseen = [None] if rollout["end_reason"] == "error" else []  # what it would have done is not known
        counted = [call for call in calls if call["is_counted"]]
        vegs = [call["veg"] for call in counted if not call["is_error"]] + unseen
        read = [veg for veg in vegs if veg is not None]
        first = calls[0]["gap_before"] if calls else None
        inactive = False if any(veg >= epsilon for veg in read) else None if None in vegs else True
        starts = None if first is None else first > tau
        later = [call["gap_before"] for call in counted if call["position"] >= 2] + unseen
        extended = True if any(gap is not None and gap > tau for gap in later) else None if None in later else False
        poer = both(no(starts), extended) if calls else None
        return {
            **{name: rollout[name] for name in ("rollout_id", "model_id", "thinking", "task", "item_id", "cluster_id", "replicate")},
            "n_calls": len(calls),
            "gap_first": first,
            "veg_max": max(read, default=None),
            "hit_max": rollout["hit_max"],
            "poer": poer,
            "mode": self._mode(len(calls), bool(unseen), rollout["hit_max"], either(starts, inactive), poer),
        }

    def _mode(self, n_calls: int, is_cut: bool, hit_max: bool | None, wasted: bool | None, poer: bool | None) -> str | None:
        """Algorithm 1. With a condition not known, the group that all its values agree on, if they do."""
        if n_calls == 0:
            return None if is_cut else "no_call"
        possible = {
            self._decide(hit, waste, extended)
            for hit in ([hit_max] if hit_max is not None else [True, False])
            for waste in ([wasted] if wasted is not None else [True, False])
            for extended in ([poer] if poer is not None else [True, False])
        }
        return possible.pop() if len(possible) == 1 else None

    def _decide(self, hit_max: bool, wasted: bool, poer: bool) -> str:
        if self.hit_max_first and hit_max:
            return "lwp"
        if wasted:
            return "cwl"
        return "lwp" if hit_max or poer else "calibrated"
