"""Attribution and self-knowledge against the annotated evidence."""

from __future__ import annotations

from collections.abc import Iterator

from tests.independent.calls import Row
from tests.independent.prospective import change, flags, restored
from tests.independent.retrospective import attributed
from tests.independent.study import Cell, Study
from tests.independent.sums import rate


def evidence(study: Study) -> Iterator[Row]:
    for item_id in study.items:
        if held := study.evidence(item_id):
            yield {"item_id": item_id, "evidence": held}


def annotated(study: Study, cell: Cell) -> dict[str, str]:
    """Question asked of the model in any arm -> the set that holds its evidence."""
    arms = [(arm, template) for arm in ("AB", "A", "B") for template in ("plain", "assess")]
    asked = sorted({item_id for arm, template in arms for item_id in study.asked(cell, arm, template)})
    return {item_id: held for item_id in asked if (held := study.evidence(item_id))}


def grounding_item(study: Study) -> Iterator[Row]:
    for cell in study.cells:
        told = {item["item_id"]: item for item in attributed(study, cell)}
        plain = {arm: study.headline(cell, arm, "plain") for arm in ("A", "B")}
        for item_id, held in annotated(study, cell).items():
            right = {arm: rows[item_id][0] == rows[item_id][1] if item_id in rows else None for arm, rows in plain.items()}
            yield {
                **cell._asdict(),
                "item_id": item_id,
                "cluster_id": study.cluster(item_id),
                "evidence": held,
                "golden_correct": right[held],
                "other_correct": right["B" if held == "A" else "A"],
                "stated": told.get(item_id, {}).get("stated"),
                "executed": told.get(item_id, {}).get("plain"),
            }


def grounding(study: Study) -> Iterator[Row]:
    items = list(grounding_item(study))
    for cell in study.cells:
        rows = [row for row in items if cell._asdict().items() <= row.items()]
        if not rows:
            continue
        scored = [row for row in rows if row["golden_correct"] is not None and row["other_correct"] is not None]
        included = [row for row in rows if row["stated"] is not None]
        golden, other = (sum(row[f"{name}_correct"] for row in scored) for name in ("golden", "other"))
        aligned = {side: sum(row[side] == row["evidence"] for row in included) for side in ("stated", "executed")}
        single = {side: sum(row[side] in ("A", "B") for row in included) for side in aligned}
        yield {
            **cell._asdict(),
            "n_annotated": len(rows),
            "n_scored": len(scored),
            "n_included": len(included),
            "n_clusters": study.n_clusters(row["item_id"] for row in included),
            "accuracy_golden": rate(golden, len(scored)),
            "accuracy_other": rate(other, len(scored)),
            "accuracy_delta": rate(golden - other, len(scored)),
            **{f"alignment_{side}": rate(aligned[side], len(included)) for side in aligned},
            "alignment_delta": rate(aligned["stated"] - aligned["executed"], len(included)),
            **{f"single_{side}": rate(single[side], len(included)) for side in aligned},
            **{f"golden_given_single_{side}": rate(aligned[side], single[side]) for side in aligned},
        }


def grounding_prospective(study: Study) -> Iterator[Row]:
    for cell in study.cells:
        held = annotated(study, cell)
        arms = [arm for a_cell, arm in study.conditions("A", "B") if a_cell == cell]
        if not any(item_id in held for arm in arms for item_id in study.asked(cell, arm, "assess")):
            continue
        for shown in ("golden", "other"):
            items = [
                item
                for arm in arms
                for item in restored(study, cell, arm)
                if item.item_id in held and (held[item.item_id] == arm) == (shown == "golden")
            ]
            changed, flagged = change(study, items), flags(study, items)
            yield {
                **cell._asdict(),
                "shown": shown,
                **{name: changed[name] for name in ("n_items", "n_clusters", "predicted_change", "executed_change", "gap")},
                "n_flagged": flagged["n_items"],
                **{name: flagged[name] for name in ("claimed_insufficient", "precision", "recall", "silent_failure", "missed")},
            }
