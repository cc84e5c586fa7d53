"""Which input a model credits for its joint answer, against which input alone reproduces it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product

from tests.independent.calls import Row
from tests.independent.study import Cell, Study
from tests.independent.sums import ATTRIBUTIONS, attribution, rate


def attributed(study: Study, cell: Cell) -> list[Row]:
    """The items whose six answers were all read: stated, executed by plain arms, and by assess arms where those were read too."""
    found = []
    for item_id in study.asked(cell, "AB", "assess"):
        stated = [study.field(cell, item_id, "AB", "assess", name) for name in ("alone_a", "alone_b", "answer")]
        plain, assess = ([study.field(cell, item_id, arm, template) for arm in ("A", "B", "AB")] for template in ("plain", "assess"))
        if None not in stated + plain:
            found.append(
                {
                    **cell._asdict(),
                    "item_id": item_id,
                    "cluster_id": study.cluster(item_id),
                    "stated": attribution(*stated),
                    "plain": attribution(*plain),
                    "assess": None if None in assess else attribution(*assess),
                }
            )
    return found


def groups(study: Study, wired: bool = False) -> Iterator[tuple[Cell, list[Row]]]:
    """Each model's items, then those of all models together."""
    pooled: dict[Cell, list[Row]] = defaultdict(list)
    for cell, _ in study.conditions("AB"):
        items = [item for item in attributed(study, cell) if not wired or item["assess"] is not None]
        pooled[cell._replace(model_id="pooled")] += items
        yield cell, items
    yield from pooled.items()


def size(study: Study, items: list[Row]) -> Row:
    return study.size([item["item_id"] for item in items])


def retrospective_item(study: Study) -> Iterator[Row]:
    for cell, _ in study.conditions("AB"):
        for item in attributed(study, cell):
            executed = item.pop("plain")
            item.pop("assess")
            yield {**item, "executed": executed}


def retrospective_wiring_item(study: Study) -> Iterator[Row]:
    for cell, _ in study.conditions("AB"):
        yield from (item for item in attributed(study, cell) if item["assess"] is not None)


def retrospective(study: Study) -> Iterator[Row]:
    for cell, items in groups(study):
        for (side, read), name in product((("stated", "stated"), ("executed", "plain")), ATTRIBUTIONS):
            n = sum(item[read] == name for item in items)
            yield {**cell._asdict(), "side": side, "attribution": name, "n": n, "share": rate(n, len(items)), **size(study, items)}


def retrospective_difference(study: Study) -> Iterator[Row]:
    for cell, items in groups(study):
        for name in ATTRIBUTIONS:
            n_stated, n_executed = (sum(item[read] == name for item in items) for read in ("stated", "plain"))
            yield {
                **cell._asdict(),
                "attribution": name,
                **size(study, items),
                "n_stated": n_stated,
                "n_executed": n_executed,
                "stated_share": rate(n_stated, len(items)),
                "executed_share": rate(n_executed, len(items)),
                "difference": rate(n_executed - n_stated, len(items)),
            }


def attribution_agreement(study: Study) -> Iterator[Row]:
    for cell, items in groups(study):
        agreement = rate(sum(item["stated"] == item["plain"] for item in items), len(items))
        for stated, executed in product(ATTRIBUTIONS, ATTRIBUTIONS):
            n = sum((item["stated"], item["plain"]) == (stated, executed) for item in items)
            key = {**cell._asdict(), "stated": stated, "executed": executed}
            yield {**key, "n": n, "share": rate(n, len(items)), "agreement": agreement, **size(study, items)}


def retrospective_wiring(study: Study) -> Iterator[Row]:
    for cell, items in groups(study, wired=True):
        for wiring, name in product(("plain", "assess"), ATTRIBUTIONS):
            n, n_stated = sum(item[wiring] == name for item in items), sum(item["stated"] == name for item in items)
            yield {
                **cell._asdict(),
                "wiring": wiring,
                "attribution": name,
                **size(study, items),
                "n": n,
                "share": rate(n, len(items)),
                "n_stated": n_stated,
                "stated_share": rate(n_stated, len(items)),
            }
