"""The ingest form: one JSON object is one row of a raw table, its members named as the table's columns.

Of a completion model_id, task, item_id, arm, template and response are needed; absent, thinking is false, attempt 1, replicate 0 and
protocol `modality`. `table` names another raw table; `item` says what is known of the completion's item. A column that is null is absent.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

from generator.ingest.report import Unusable
from generator.ingest.source import Member, members
from generator.journal import columns_of
from generator.prompts import wordings
from generator.reply import Reply, metadata
from generator.warehouse import completion_id

TABLES = ("completion", "rollout", "observation", "probe", "item", "image")
MADE_HERE = frozenset({"completion_id", "request_key", "run_id"})  # a file's own have no meaning in another warehouse
NEEDED: Mapping[str, tuple[str, ...]] = {
    "completion": ("model_id", "task", "item_id", "arm", "template", "response"),
    "rollout": ("rollout_id",),
    "observation": ("rollout_id", "turn", "call_index"),
    "probe": ("rollout_id", "turn", "call_index", "stage"),
    "item": ("item_id", "task"),
    "image": ("image_sha256",),
}
ABSENT: Mapping[str, Mapping[str, Any]] = {
    "completion": {"protocol": "modality", "thinking": False, "replicate": 0, "attempt": 1},
    "rollout": {"attempt": 1},
    "observation": {"draw": 0},
    "probe": {"draw": 0, "attempt": 1},
}
TOOL_USE = {"arm": ("direct", "tool", "random_crop", "noise", "blank"), "template": ("free", "force_answer")}
ONE_OF: Mapping[str, tuple[str, ...]] = {
    "protocol": ("modality", "tool_use", "judge"),
    "end_reason": ("answer", "call_limit", "no_answer", "truncated", "error"),
    "kind": ("real", "random_crop", "noise", "blank"),
    "stage": ("before", "real", "counterfactual"),
}
LEAST = {"attempt": 1, "turn": 1}  # every other whole number counts from 0; a seed may be anything
IDENTIFIERS = ("item_id", "cluster_id", "rollout_id")  # may be whole numbers, if all of a file's are
SAID_OF_ITEM = ("cluster_id", "gold", "source", "source_sha256", "inputs", "annotation")
IDENTITY = ("protocol", "model_id", "thinking", "task", "item_id", "arm", "template", "replicate")
INT32, INT64, LARGEST = 2**31 - 1, 2**63 - 1, 1e300

Facts = dict[tuple[str, ...], str]
"""What is said of an item, as JSON text by path: `("gold",)`, `("annotation", "options")`."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a raw table that a record holds, and what the record says of an item."""

    table: str
    values: dict[str, Any]
    item: Facts = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    spelt: tuple[tuple[str, str, bool], ...] = ()
    """Each identifier: column, text, and whether a whole number stood in the file."""


def read(given: Mapping[str, Member], study: str, model: str | None = None) -> Row:
    """The row that one record holds; `model` names the model of a record that names none. Raises Unusable."""
    table = _table(given.get("table"))
    readers = _readers(table)
    values: dict[str, Any] = dict(ABSENT.get(table, {}))
    if model and table == "completion":
        values["model_id"] = model
    ignored: list[str] = []
    for name, member in given.items():
        if name not in readers:
            ignored.append(name)
        elif member.value is not None:
            values[name] = readers[name](name, member)
    identifiers = {name: given[name].value for name in IDENTIFIERS if name in given}
    _require(table, values, given)
    facts: Facts = {}
    if table == "completion":
        _check_condition(values)
        values["request_key"] = request_key(study, values)
        values["completion_id"] = completion_id(values["request_key"], values["attempt"])
        values = _who_answered(values) | values
        if (item := given.get("item")) and item.value is not None:
            facts = said_of_item(item.text)
            identifiers["cluster_id"] = item.value.get("cluster_id")
            ignored += [f"item.{name}" for name in item.value if name not in SAID_OF_ITEM]
    elif table == "item":
        facts = _facts(given)
    spelt = tuple((name, str(value), type(value) is int) for name, value in identifiers.items() if value is not None)
    return Row(table, values, facts, tuple(name for name in ignored if name not in ("table", "item")), spelt)


def _who_answered(values: Mapping[str, Any]) -> dict[str, Any]:
    """Who answered and what it cost, as far as the body says so: for the columns that the line leaves out."""
    response = values.get("response")
    if response is None:
        return {}
    reply = Reply(datetime.now(UTC), 0.0, body=response.encode("utf-8", "surrogatepass"))
    return {name: value for name, value in metadata(reply).items() if value is not None}


def request_key(study: str, values: Mapping[str, Any]) -> str:
    """The key of an ingested request: it is told apart by study and condition, for what else it carried is not known.

    A turn of a rollout is a request of its own, and so is a judge's ruling on a rollout.
    """
    parts = {"source": "ingest", "study": study} | {name: values[name] for name in IDENTITY}
    if values["protocol"] != "modality":
        parts |= {name: values[name] for name in ("rollout_id", "turn") if name in values}
    return hashlib.sha256(canonical(parts).encode()).hexdigest()[:32]


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def canonical(value: Any) -> str:
    """The one JSON text of a value."""
    return _encode(value)


@lru_cache(maxsize=4096)
def said_of_item(text: str) -> Facts:
    """The facts in a completion's `item`. Cached, since a file says the same of an item once per arm and model."""
    try:
        return _facts(members(text))
    except Unusable as fault:
        raise Unusable("wrong column type", f"item: {fault.detail}") from None


def _facts(given: Mapping[str, Member]) -> Facts:
    facts: Facts = {}
    for name in SAID_OF_ITEM:
        member = given.get(name)
        if member is None or member.value is None:
            continue
        if name in ("inputs", "annotation"):
            if not isinstance(member.value, dict):
                raise Unusable("wrong column type", f"{name} of an item must be an object, not {_shown(member)}")
            facts |= {(name, key): part.text for key, part in members(member.text).items()}
        else:
            facts[(name,)] = member.text if name == "gold" else json.dumps(_text(name, member))
    return facts


def _table(member: Member | None) -> str:
    table = "completion" if member is None else member.value
    if not isinstance(table, str) or table not in TABLES:
        raise Unusable("unknown table", f"{_shown(member)} is none of {', '.join(TABLES)}")
    return table


def _require(table: str, values: Mapping[str, Any], given: Mapping[str, Member]) -> None:
    """A completion's response may be null: the call then failed, and its `error` says how."""
    needed = NEEDED[table]
    if table == "completion" and values["protocol"] == "tool_use":
        needed = (*needed, "rollout_id", "turn")
    missing = [name for name in needed if name not in values and not (name == "response" and name in given)]
    if missing:
        raise Unusable("missing column", ", ".join(missing))


def _check_condition(values: Mapping[str, Any]) -> None:
    """Whether the protocol has this task, arm and template: no view could read a row of another."""
    if values["protocol"] == "tool_use":
        for name, names in TOOL_USE.items():
            _check_one_of(name, values[name], names)
    elif values["protocol"] == "modality":
        known = conditions()
        _check_one_of("task", values["task"], tuple(known))
        _check_one_of("arm", values["arm"], tuple(known[values["task"]]))
        _check_one_of("template", values["template"], known[values["task"]][values["arm"]])


@cache
def conditions() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The templates that the modality protocol has, by task and arm."""
    known: dict[str, dict[str, tuple[str, ...]]] = {}
    for task, wording in wordings().items():
        for arm, template in wording.conditions():
            arms = known.setdefault(task, {})
            arms[arm] = (*arms.get(arm, ()), template)
    return known


def _check_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise Unusable(f"unknown {name}", f"{value!a} is none of {', '.join(known)}")


Reader = Callable[[str, Member], Any]


@cache
def _readers(table: str) -> Mapping[str, Reader]:
    """How each column of a table is read from a member of that name."""
    kinds = {name: kind for name, kind in columns_of(table).items() if name not in MADE_HERE}
    readers = {name: _one_of if name in ONE_OF else READERS[kind] for name, kind in kinds.items()}
    if table == "completion":
        readers["response"] = _body
    if table == "probe":  # has no column for a body that is no text
        readers["response"] = lambda name, member: _text(name, member) if isinstance(member.value, str) else member.text
    return readers


def _verbatim(name: str, member: Member) -> str:
    """What stands in the file, so that no number is rounded and no key dropped."""
    return member.text


def _body(name: str, member: Member) -> str:
    """A response is a text of any kind, or the object itself."""
    return member.value if isinstance(member.value, str) else member.text


def _one_of(name: str, member: Member) -> str:
    value = _text(name, member)
    _check_one_of(name, value, ONE_OF[name])
    return value


def _text(name: str, member: Member) -> str:
    if name in IDENTIFIERS and type(member.value) is int:
        return member.text
    if not isinstance(member.value, str) or not member.value:
        raise Unusable("wrong column type", f"{name} must be text, not {_shown(member)}")
    if not (member.value.isascii() or member.value.encode("utf-8", "replace").decode() == member.value):
        raise Unusable("wrong column type", f"{name} holds half a surrogate pair, which is no text: {_shown(member)}")
    return sys.intern(member.value)  # a file names few models, tasks and items, many times


def _flag(name: str, member: Member) -> bool:
    if not isinstance(member.value, bool):
        raise Unusable("wrong column type", f"{name} must be true or false, not {_shown(member)}")
    return member.value


def _whole(name: str, member: Member, most: int) -> int:
    least = -most if name == "seed" else LEAST.get(name, 0)
    if type(member.value) is not int or not least <= member.value <= most:
        raise Unusable("wrong column type", f"{name} must be a whole number from {least} to {most}, not {_shown(member)}")
    return member.value


def _real(name: str, member: Member) -> float:
    if type(member.value) not in (int, float) or not abs(member.value) <= LARGEST:  # not: NaN is larger than nothing
        raise Unusable("wrong column type", f"{name} must be a number, not {_shown(member)}")
    return float(member.value)


def _moment(name: str, member: Member) -> datetime:
    """A time in UTC; one without an offset is taken to be."""
    try:
        moment = datetime.fromisoformat(member.value)
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (TypeError, ValueError, OverflowError):
        raise Unusable("wrong column type", f"{name} must be a time like 2026-01-31T12:00:00Z, not {_shown(member)}") from None


def _bytes(name: str, member: Member) -> bytes:
    raise Unusable("wrong column type", f"{name} cannot stand in a line of JSON: give the body as `response`")


READERS: Mapping[str, Reader] = {
    "JSON": _verbatim,
    "BLOB": _bytes,
    "VARCHAR": _text,
    "BOOLEAN": _flag,
    "INTEGER": lambda name, member: _whole(name, member, INT32),
    "BIGINT": lambda name, member: _whole(name, member, INT64),
    "DOUBLE": _real,
    "TIMESTAMP": _moment,
}


def _shown(member: Member | None) -> str:
    """A value in a message: what stands in the file, cut and made harmless for a terminal."""
    text = member.text if member else "nothing"
    return ascii(text[:40])[1:-1] + ("…" if len(text) > 40 else "")
