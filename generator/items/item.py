"""An item of a data set: what every loader yields and `raw.item` holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Item:
    """One item. `item_id` is stable and readable (`isobench/math_parity/313`); `cluster_id` is the unit that is resampled.

    `gold` is a JSON value (a list of genres, `"even"`, `24`, `"A"`). `inputs` is what a prompt may show, images by the sha256 of the
    bytes that are sent. `annotation` is what else is known. `source` names the file in the public data set, `source_sha256` its content.
    """

    item_id: str
    task: str
    cluster_id: str
    gold: Any
    inputs: dict[str, Any]
    annotation: dict[str, Any] = field(default_factory=dict)
    source: str | None = None
    source_sha256: str | None = None
