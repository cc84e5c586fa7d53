"""Literal rows of `arm.item` and `arm.answer`, with everything that a test does not speak of filled in."""

from typing import Any

Row = dict[str, Any]
ARMS = ("ab_plain", "ab_assess", "a_plain", "a_assess", "b_plain", "b_assess")


def item(item_id: str, **columns: Any) -> Row:
    """A row of `arm.item` that was asked all six arms; what `columns` leaves out was not read."""
    return {**_about(item_id), **{f"{arm}_asked": True for arm in ARMS}, **columns}


def answer(item_id: str, arm: str, template: str, said: str | None, **columns: Any) -> Row:
    """A row of `arm.answer` whose call completed and said `said` (None: unreadable)."""
    outcome = "unparsed_answer" if said is None else "usable"
    call = {"arm": arm, "template": template, "replicate": 0, "call_item_id": item_id, "outcome": outcome, "answer": said}
    return {**_about(item_id), **call, **columns}


def _about(item_id: str) -> Row:
    task = "isobench/math_parity"
    return {"model_id": "m", "thinking": False, "task": task, "item_id": item_id, "cluster_id": item_id, "gold": "even"}


def only(rows: list[Row], **key: Any) -> Row:
    """The one row of that key."""
    found = [row for row in rows if key.items() <= row.items()]
    assert len(found) == 1, f"{len(found)} rows of {key}"
    return found[0]


def pick(rows: list[Row], *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of all rows, in order."""
    return sorted(tuple(row[column] for column in columns) for row in rows)
