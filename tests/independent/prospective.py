"""What a model predicts that a withheld input would do, against what it does: cells, tasks, flags, wirings, claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from tests.independent.calls import Row
from tests.independent.study import Cell, Study
from tests.independent.sums import correlation, exact, middle, rate, spread, squared_shares

WIRINGS = ("mixed", "assess", "plain")
CLAIMS = {"AB": (("alone_a", "A"), ("alone_b", "B")), "A": (("with_other", "AB"),), "B": (("with_other", "AB"),)}


class Restored(NamedTuple):
    """One item shown one input alone: the change claimed, the change executed, the flag (None where not read)."""

    item_id: str
    predicted: bool
    executed: bool
    insufficient: bool | None


def restored(study: Study, cell: Cell, arm: str, replicate: int | None = None) -> list[Restored]:
    found = []
    for item_id in study.asked(cell, arm, "assess") if replicate is None else study.scored.get((cell, arm, "assess", replicate), {}):
        answer, claimed, flag = (
            study.field(cell, item_id, arm, "assess", name, replicate) for name in ("answer", "with_other", "sufficiency")
        )
        joint = study.field(cell, item_id, "AB", "plain", replicate=replicate)
        if None not in (answer, claimed, joint):
            found.append(Restored(item_id, claimed != answer, answer != joint, None if flag is None else flag == "INSUFFICIENT"))
    return found


def single(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("A", "B"):
        for item_id in study.asked(cell, arm, "assess"):
            yield {
                **cell._asdict(),
                "arm": arm,
                "item_id": item_id,
                "cluster_id": study.cluster(item_id),
                "gold": study.gold(cell.task, item_id),
                "assess_answer": study.field(cell, item_id, arm, "assess"),
                "with_other": study.field(cell, item_id, arm, "assess", "with_other"),
                "sufficiency": study.field(cell, item_id, arm, "assess", "sufficiency"),
                "plain_answer": study.field(cell, item_id, arm, "plain"),
                "joint_assess_answer": study.field(cell, item_id, "AB", "assess"),
                "joint_plain_answer": study.field(cell, item_id, "AB", "plain"),
            }


def prospective_item(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("A", "B"):
        for item in restored(study, cell, arm):
            yield {
                **cell._asdict(),
                "arm": arm,
                "item_id": item.item_id,
                "cluster_id": study.cluster(item.item_id),
                "predicted_changed": item.predicted,
                "executed_changed": item.executed,
                "claimed_insufficient": item.insufficient,
            }


def change(study: Study, items: list[Restored]) -> Row:
    predicted, executed = sum(item.predicted for item in items), sum(item.executed for item in items)
    return {
        **study.size([item.item_id for item in items]),
        "n_predicted_changed": predicted,
        "n_executed_changed": executed,
        "predicted_change": rate(predicted, len(items)),
        "executed_change": rate(executed, len(items)),
        "gap": rate(executed - predicted, len(items)),
    }


def prospective_cell(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("A", "B"):
        n_asked = len(study.asked(cell, arm, "assess"))
        yield {**cell._asdict(), "arm": arm, "n_asked": n_asked, **change(study, restored(study, cell, arm))}


def by_task(study: Study) -> Iterator[tuple[bool, str, list[list[Restored]]]]:
    conditions = study.conditions("A", "B")
    for thinking, task in sorted({(cell.thinking, cell.task) for cell, _ in conditions}):
        yield thinking, task, [restored(study, cell, arm) for cell, arm in conditions if (cell.thinking, cell.task) == (thinking, task)]


def prospective_task(study: Study) -> Iterator[Row]:
    for thinking, task, sets in by_task(study):
        rows = [change(study, items) for items in sets if items]
        gaps = [row["n_executed_changed"] - row["n_predicted_changed"] for row in rows]
        yield {
            "thinking": thinking,
            "task": task,
            "n_cells": len(rows),
            "n_empty_cells": len(sets) - len(rows),
            "n_items": sum(row["n_items"] for row in rows),
            "n_clusters": study.n_clusters(item.item_id for items in sets for item in items),
            **spread("predicted_change", (row["predicted_change"] for row in rows)),
            **spread("executed_change", (row["executed_change"] for row in rows)),
            **spread("gap", (row["gap"] for row in rows)),
            "n_above": sum(gap > 0 for gap in gaps),
            "n_on": sum(gap == 0 for gap in gaps),
            "n_below": sum(gap < 0 for gap in gaps),
        }


def flags(study: Study, items: Iterable[Restored]) -> Row:
    flagged = [item for item in items if item.insufficient is not None]
    n, insufficient = len(flagged), sum(bool(item.insufficient) for item in flagged)
    changed, hit = sum(item.executed for item in flagged), sum(bool(item.executed and item.insufficient) for item in flagged)
    same = sum(bool(item.insufficient and not item.predicted) for item in flagged)
    moved = sum(bool(item.predicted and not item.insufficient) for item in flagged)
    return {
        **study.size([item.item_id for item in flagged]),
        "n_claimed_insufficient": insufficient,
        "n_executed_changed": changed,
        "n_flagged_changed": hit,
        "claimed_insufficient": rate(insufficient, n),
        "precision": rate(hit, insufficient),
        "recall": rate(hit, changed),
        "base_rate": rate(changed, n),
        "silent_failure": rate(changed - hit, n),
        "missed": rate(changed - hit, changed),
        "insufficient_yet_same": rate(same, n),
        "sufficient_yet_changed": rate(moved, n),
        "self_contradiction": rate(same + moved, n),
    }


def sufficiency_cell(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("A", "B"):
        yield {**cell._asdict(), "arm": arm, **flags(study, restored(study, cell, arm))}


def sufficiency_task(study: Study) -> Iterator[Row]:
    names = ("claimed_insufficient", "precision", "recall", "base_rate", "silent_failure", "missed", "self_contradiction")
    for thinking, task, sets in by_task(study):
        rows = [row for row in (flags(study, items) for items in sets) if row["n_items"]]
        summary = {key: value for name in names for key, value in spread(name, (row[name] for row in rows)).items()}
        yield {
            "thinking": thinking,
            "task": task,
            "n_cells": len(rows),
            "n_empty_cells": len(sets) - len(rows),
            "n_items": sum(row["n_items"] for row in rows),
            "n_clusters": study.n_clusters(item.item_id for items in sets for item in items if item.insufficient is not None),
            "n_cells_precision": sum(row["precision"] is not None for row in rows),
            "n_cells_recall": sum(row["recall"] is not None for row in rows),
            **summary,
        }


def counterfactual_item(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("AB", "A", "B"):
        for claim, target in CLAIMS[arm]:
            for item_id in study.asked(cell, arm, "assess"):
                given, claimed = study.field(cell, item_id, arm, "assess"), study.field(cell, item_id, arm, "assess", claim)
                executed = study.field(cell, item_id, target, "plain")
                if None not in (given, claimed, executed):
                    yield {
                        **cell._asdict(),
                        "arm": arm,
                        "claim": claim,
                        "item_id": item_id,
                        "cluster_id": study.cluster(item_id),
                        "gold": study.gold(cell.task, item_id),
                        "claimed": claimed,
                        "executed": executed,
                        "agreed": claimed == executed,
                        "copied": given == executed,
                    }


def counterfactual_agreement(study: Study) -> Iterator[Row]:
    items = list(counterfactual_item(study))
    for cell, arm in study.conditions("AB", "A", "B"):
        for claim, _ in CLAIMS[arm]:
            key = {**cell._asdict(), "arm": arm, "claim": claim}
            rows = [row for row in items if key.items() <= row.items()]
            n, n_agreed, n_copied = len(rows), sum(row["agreed"] for row in rows), sum(row["copied"] for row in rows)
            claims, answers = Counter(row["claimed"] for row in rows), Counter(row["executed"] for row in rows)
            yield {
                **key,
                **study.size([row["item_id"] for row in rows]),
                "n_agreed": n_agreed,
                "agreement": rate(n_agreed, n),
                "n_copied": n_copied,
                "copy_baseline": rate(n_copied, n),
                "chance_labels": squared_shares([row["gold"] for row in rows]),
                "chance_answers": rate(sum(count * answers[value] for value, count in claims.items()), n * n),
            }


def rewired(study: Study, cell: Cell, arm: str) -> list[tuple[str, dict[str, bool]]]:
    """The items whose single and joint answers were read under both templates, and whether they differ under each wiring."""
    found = []
    for item_id in study.asked(cell, arm, "assess"):
        one, joint = ({name: study.field(cell, item_id, an_arm, name) for name in ("plain", "assess")} for an_arm in (arm, "AB"))
        if None not in (*one.values(), *joint.values()):
            changed = {wiring: one[wiring] != joint[wiring] for wiring in ("assess", "plain")}
            found.append((item_id, {"mixed": one["assess"] != joint["plain"], **changed}))
    return found


def prospective_wiring_item(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("A", "B"):
        for item_id, changed in rewired(study, cell, arm):
            for wiring in WIRINGS:
                key = {**cell._asdict(), "arm": arm, "wiring": wiring, "item_id": item_id, "cluster_id": study.cluster(item_id)}
                yield {**key, "executed_changed": changed[wiring]}


def prospective_wiring(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("A", "B"):
        items, predicted = rewired(study, cell, arm), change(study, restored(study, cell, arm))
        for wiring in WIRINGS:
            n = sum(changed[wiring] for _, changed in items)
            yield {
                **cell._asdict(),
                "arm": arm,
                "wiring": wiring,
                **study.size([item_id for item_id, _ in items]),
                "n_executed_changed": n,
                "executed_change": rate(n, len(items)),
                "predicted_change": predicted["predicted_change"],
                "n_predicted_changed": predicted["n_predicted_changed"],
                "n_predicted": predicted["n_items"],
            }


def prospective_wiring_task(study: Study) -> Iterator[Row]:
    cells = list(prospective_wiring(study))
    mixed = {tuple(row[name] for name in ("model_id", "thinking", "task", "arm")): row for row in cells if row["wiring"] == "mixed"}
    groups = {(row["thinking"], task) for row in cells for task in (row["task"], "all")}
    for thinking, task in sorted(groups):
        for wiring in WIRINGS:
            rows = [row for row in cells if row["thinking"] == thinking and task in (row["task"], "all") and row["wiring"] == wiring]
            pairs = [(row, mixed[row["model_id"], thinking, row["task"], row["arm"]]) for row in rows if row["n_items"]]
            excess = [
                Fraction(row["n_executed_changed"], row["n_items"]) - Fraction(row["n_predicted_changed"], row["n_predicted"])
                for row, _ in pairs
                if row["n_predicted"]
            ]
            yield {
                "thinking": thinking,
                "task": task,
                "wiring": wiring,
                "n_cells": len(pairs),
                "predicted_change": middle(row["predicted_change"] for row in rows),
                **spread("executed_change", (row["executed_change"] for row, _ in pairs)),
                "n_above": sum(value > 0 for value in excess),
                "n_on": sum(value == 0 for value in excess),
                "n_below": sum(value < 0 for value in excess),
                "n_positive": sum(row["n_executed_changed"] > 0 for row, _ in pairs),
                "n_at_least_mixed": sum(row["n_executed_changed"] >= base["n_executed_changed"] for row, base in pairs),
                "correlation_with_mixed": correlation([(row["executed_change"], base["executed_change"]) for row, base in pairs]),
            }


def noise_headline(study: Study) -> Iterator[Row]:
    """Replicate by replicate, on the items that every one of them read."""
    for cell, arm in sorted({(cell, arm) for cell, arm, template, _ in study.scored if template == "assess" and arm in ("A", "B")}):
        pairs = [
            replicate
            for a_cell, an_arm, template, replicate in study.scored
            if (a_cell, an_arm, template) == (cell, arm, "assess")
            and study.scored[cell, arm, "assess", replicate].keys() & study.scored.get((cell, "AB", "plain", replicate), {}).keys()
        ]
        if len(pairs) < 2:
            continue
        read = [{item.item_id: item for item in restored(study, cell, arm, replicate)} for replicate in pairs]
        common = sorted(set.intersection(*(set(items) for items in read)))
        predicted = [Fraction(sum(items[item_id].predicted for item_id in common), len(common) or 1) for items in read]
        executed = [Fraction(sum(items[item_id].executed for item_id in common), len(common) or 1) for items in read]
        gap = [after - before for before, after in zip(predicted, executed, strict=True)]
        for measure, values in (("predicted_change", predicted), ("executed_change", executed), ("gap", gap)):
            yield {
                **cell._asdict(),
                "arm": arm,
                "measure": measure,
                "n_replicates": len(pairs),
                **study.size(common),
                "value_min": exact(min(values)) if common else None,
                "value_max": exact(max(values)) if common else None,
                "spread": exact(max(values) - min(values)) if common else None,
            }
