"""What every view adds to its points: the ends of each estimate, its standard error, and how they were drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from tests.independent.calls import Row
from tests.independent.grounding import annotated, grounding_item
from tests.independent.performance import films, replicates
from tests.independent.prospective import CLAIMS, WIRINGS, Restored, counterfactual_item, restored, rewired
from tests.independent.resampling import Bootstrap, Contribution, Estimate, Median, holm
from tests.independent.retrospective import groups
from tests.independent.study import Cell
from tests.independent.sums import ATTRIBUTIONS, Scored, class_counts, metric_of, score, set_f1

Ends = Iterator[tuple[Row, Row]]  # key of the row, the columns that it gains
FLAG_RATES = ("claimed_insufficient", "precision", "recall", "base_rate", "silent_failure", "missed", "self_contradiction")


def columns(found: Mapping[str, Estimate], *more: str) -> Row:
    return {column: value for name, estimate in found.items() for column, value in estimate.columns(name, *more).items()}


def pooled(rows: Iterable[tuple[Row, dict[str, Estimate]]]) -> Iterator[tuple[Row, dict[str, Estimate]]]:
    """The medians of each group of cells."""
    cells: dict[tuple[Any, ...], list[dict[str, Estimate]]] = defaultdict(list)
    for key, found in rows:
        cells[tuple(key.items())].append(found)
    for items, group in cells.items():
        yield dict(items), {name: Median([cell[name] for cell in group]) for name in group[0]}


# -- what a model predicts of a withheld input, and its flag


def of(
    items: Iterable[Restored], hit: Callable[[Restored], Any], among: Callable[[Restored], Any] = lambda item: True
) -> list[Contribution]:
    """One contribution an item: whether it is a hit, among those that count."""
    return [(item.item_id, int(bool(hit(item))) if among(item) else 0, int(bool(among(item)))) for item in items]


def change(draw: Bootstrap, task: str, items: Sequence[Restored]) -> dict[str, Estimate]:
    gap = [(item.item_id, item.executed - item.predicted, 1) for item in items]
    return {
        "predicted_change": draw.ratio(task, of(items, lambda item: item.predicted)),
        "executed_change": draw.ratio(task, of(items, lambda item: item.executed)),
        "gap": draw.ratio(task, gap, "difference"),
    }


def flags(draw: Bootstrap, task: str, items: Sequence[Restored]) -> dict[str, Estimate]:
    flagged = [item for item in items if item.insufficient is not None]
    contributions = {
        "claimed_insufficient": of(flagged, lambda item: item.insufficient),
        "precision": of(flagged, lambda item: item.executed, lambda item: item.insufficient),
        "recall": of(flagged, lambda item: item.insufficient, lambda item: item.executed),
        "base_rate": of(flagged, lambda item: item.executed),
        "silent_failure": of(flagged, lambda item: item.executed and not item.insufficient),
        "missed": of(flagged, lambda item: not item.insufficient, lambda item: item.executed),
        "insufficient_yet_same": of(flagged, lambda item: item.insufficient and not item.predicted),
        "sufficient_yet_changed": of(flagged, lambda item: item.predicted and not item.insufficient),
        "self_contradiction": of(flagged, lambda item: item.predicted != item.insufficient),
    }
    return {name: draw.ratio(task, found) for name, found in contributions.items()}


def by_cell(draw: Bootstrap) -> list[tuple[Cell, str, list[Restored]]]:
    return [(cell, arm, restored(draw.study, cell, arm)) for cell, arm in draw.study.conditions("A", "B")]


def prospective_cell(draw: Bootstrap) -> Ends:
    cells = [(cell, arm, change(draw, cell.task, items)) for cell, arm, items in by_cell(draw)]
    adjusted: dict[tuple[Cell, str], float | None] = {}
    for thinking in (False, True):
        family = [(cell, arm, found["gap"].p) for cell, arm, found in cells if cell.thinking == thinking]
        adjusted |= dict(zip([(cell, arm) for cell, arm, _ in family], holm([p for _, _, p in family]), strict=True))
    for cell, arm, found in cells:
        tested = {"gap_p": found["gap"].p, "gap_p_holm": adjusted[cell, arm]}
        yield {**cell._asdict(), "arm": arm}, {**columns(found, "se"), **tested, **found["gap"].once()}


def prospective_task(draw: Bootstrap) -> Ends:
    rows = (({"thinking": cell.thinking, "task": cell.task}, change(draw, cell.task, items)) for cell, _, items in by_cell(draw))
    for key, found in pooled(rows):
        yield key, {**columns(found), **found["gap"].once()}


def sufficiency_cell(draw: Bootstrap) -> Ends:
    for cell, arm, items in by_cell(draw):
        found = flags(draw, cell.task, items)
        yield {**cell._asdict(), "arm": arm}, {**columns(found, "se"), **found["base_rate"].once()}


def sufficiency_task(draw: Bootstrap) -> Ends:
    rows = (({"thinking": cell.thinking, "task": cell.task}, flags(draw, cell.task, items)) for cell, _, items in by_cell(draw))
    for key, found in pooled(rows):
        yield key, {**columns({name: found[name] for name in FLAG_RATES}), **found["base_rate"].once()}


def counterfactual_agreement(draw: Bootstrap) -> Ends:
    items = list(counterfactual_item(draw.study))
    for cell, arm in draw.study.conditions("AB", "A", "B"):
        for claim, _ in CLAIMS[arm]:
            key = {**cell._asdict(), "arm": arm, "claim": claim}
            rows = [row for row in items if key.items() <= row.items()]
            found = {
                "agreement": draw.ratio(cell.task, [(row["item_id"], row["agreed"], 1) for row in rows]),
                "copy_baseline": draw.ratio(cell.task, [(row["item_id"], row["copied"], 1) for row in rows]),
            }
            yield key, {**columns(found, "se"), **found["agreement"].once()}


def wired(draw: Bootstrap) -> Iterator[tuple[Cell, str, str, Estimate]]:
    for cell, arm in draw.study.conditions("A", "B"):
        items = rewired(draw.study, cell, arm)
        for wiring in WIRINGS:
            yield cell, arm, wiring, draw.ratio(cell.task, [(item_id, changed[wiring], 1) for item_id, changed in items])


def prospective_wiring(draw: Bootstrap) -> Ends:
    predicted = {(cell, arm): change(draw, cell.task, items)["predicted_change"] for cell, arm, items in by_cell(draw)}
    for cell, arm, wiring, executed in wired(draw):
        found = {"executed_change": executed, "predicted_change": predicted[cell, arm]}
        yield {**cell._asdict(), "arm": arm, "wiring": wiring}, {**columns(found, "se"), **executed.once()}


def prospective_wiring_task(draw: Bootstrap) -> Ends:
    predicted = [(cell, change(draw, cell.task, items)["predicted_change"]) for cell, _, items in by_cell(draw)]
    executed = list(wired(draw))
    for thinking, task in sorted({(cell.thinking, task) for cell, _ in predicted for task in (cell.task, "all")}):
        said = Median([found for cell, found in predicted if cell.thinking == thinking and task in (cell.task, "all")])
        for wiring in WIRINGS:
            did = Median([e for cell, _, name, e in executed if (cell.thinking, name) == (thinking, wiring) and task in (cell.task, "all")])
            found = {"predicted_change": said, "executed_change": did}
            yield {"thinking": thinking, "task": task, "wiring": wiring}, {**columns(found), **did.once()}


# -- attributions


def has(**wanted: str) -> Callable[[Row], bool]:
    """Whether an item holds these values."""
    return lambda item: wanted.items() <= item.items()


def share(draw: Bootstrap, task: str, items: list[Row], hit: Callable[[Row], Any], kind: str = "rate") -> Estimate:
    return draw.ratio(task, [(item["item_id"], int(hit(item)), 1) for item in items], kind)


def retrospective(draw: Bootstrap) -> Ends:
    for cell, items in groups(draw.study):
        for (side, read), name in product((("stated", "stated"), ("executed", "plain")), ATTRIBUTIONS):
            found = share(draw, cell.task, items, has(**{read: name}))
            yield {**cell._asdict(), "side": side, "attribution": name}, {**found.columns("share", "se"), **found.once()}


def retrospective_difference(draw: Bootstrap) -> Ends:
    for cell, items in groups(draw.study):
        for name in ATTRIBUTIONS:
            sides = {
                "stated_share": share(draw, cell.task, items, has(stated=name)),
                "executed_share": share(draw, cell.task, items, has(plain=name)),
            }
            moved = [(item["item_id"], (item["plain"] == name) - (item["stated"] == name), 1) for item in items]
            delta = draw.ratio(cell.task, moved, "difference")
            yield {**cell._asdict(), "attribution": name}, {**columns(sides), **delta.columns("difference", "se", "p"), **delta.once()}


def attribution_agreement(draw: Bootstrap) -> Ends:
    for cell, items in groups(draw.study):
        agreement = share(draw, cell.task, items, lambda item: item["stated"] == item["plain"])
        for stated, executed in product(ATTRIBUTIONS, ATTRIBUTIONS):
            found = {"share": share(draw, cell.task, items, has(stated=stated, plain=executed)), "agreement": agreement}
            yield {**cell._asdict(), "stated": stated, "executed": executed}, {**columns(found, "se"), **agreement.once()}


def retrospective_wiring(draw: Bootstrap) -> Ends:
    for cell, items in groups(draw.study, wired=True):
        for wiring, name in product(("plain", "assess"), ATTRIBUTIONS):
            found = {
                "share": share(draw, cell.task, items, has(**{wiring: name})),
                "stated_share": share(draw, cell.task, items, has(stated=name)),
            }
            yield {**cell._asdict(), "wiring": wiring, "attribution": name}, {**columns(found, "se"), **found["share"].once()}


# -- annotated evidence


def aligned(side: str, row: Row) -> bool:
    return bool(row[side] == row["evidence"])


def grounding(draw: Bootstrap) -> Ends:
    items = list(grounding_item(draw.study))
    for cell in draw.study.cells:
        rows = [row for row in items if cell._asdict().items() <= row.items()]
        if not rows:
            continue
        answered = [row for row in rows if row["golden_correct"] is not None and row["other_correct"] is not None]
        told = [row for row in rows if row["stated"] is not None]
        found = {
            "accuracy_golden": share(draw, cell.task, answered, lambda row: row["golden_correct"]),
            "accuracy_other": share(draw, cell.task, answered, lambda row: row["other_correct"]),
            "accuracy_delta": share(draw, cell.task, answered, lambda row: row["golden_correct"] - row["other_correct"], "difference"),
            "alignment_delta": share(draw, cell.task, told, lambda row: aligned("stated", row) - aligned("executed", row), "difference"),
        }
        for side in ("stated", "executed"):
            single = [row for row in told if row[side] in ("A", "B")]
            found[f"alignment_{side}"] = share(draw, cell.task, told, partial(aligned, side))
            found[f"single_{side}"] = draw.ratio(cell.task, [(row["item_id"], row in single, 1) for row in told])
            found[f"golden_given_single_{side}"] = share(draw, cell.task, single, partial(aligned, side))
        delta = found["alignment_delta"]
        yield dict(cell._asdict()), {**columns(found, "se"), "alignment_delta_p": delta.p, **delta.once()}


def grounding_prospective(draw: Bootstrap) -> Ends:
    for cell in draw.study.cells:
        held = annotated(draw.study, cell)
        arms = [arm for a_cell, arm in draw.study.conditions("A", "B") if a_cell == cell]
        if not any(item_id in held for arm in arms for item_id in draw.study.asked(cell, arm, "assess")):
            continue
        for shown in ("golden", "other"):
            items = [
                item
                for arm in arms
                for item in restored(draw.study, cell, arm)
                if item.item_id in held and (held[item.item_id] == arm) == (shown == "golden")
            ]
            changed, flagged = change(draw, cell.task, items), flags(draw, cell.task, items)
            kept = {name: flagged[name] for name in ("claimed_insufficient", "precision", "recall", "silent_failure", "missed")}
            yield {**cell._asdict(), "shown": shown}, {**columns({**changed, **kept}, "se"), **changed["gap"].once()}


# -- scores and their costs


def mark(task: str, pair: Scored) -> Fraction:
    """What one answer adds to a score that is a mean over answers."""
    gold, answer = pair
    return set_f1(gold, answer) if metric_of(task) == "sample_f1" else Fraction(gold == answer)


def scored(draw: Bootstrap, task: str, rows: Mapping[str, Scored]) -> Estimate:
    if metric_of(task) == "macro_f1":
        return macro(draw, task, rows)
    return draw.ratio(task, [(item_id, mark(task, pair), 1) for item_id, pair in rows.items()])


def macro(draw: Bootstrap, task: str, rows: Mapping[str, Scored]) -> Estimate:
    """A mean of the ratios of those classes that occur in the resample."""
    sums: dict[str, list[Contribution]] = defaultdict(list)
    for item_id, pair in rows.items():
        for name, hit, missed, alarm in class_counts(*pair):
            sums[name].append((item_id, 2 * hit, 2 * hit + missed + alarm))
    found = [draw.ratio(task, contributions).values for contributions in sums.values()]
    totals, counts = np.nansum(found, axis=0), np.sum(~np.isnan(found), axis=0)
    values = np.divide(totals, counts, out=np.full(draw.resamples, np.nan), where=counts > 0)
    point = score(task, list(rows.values()))
    return Estimate(None if point is None else float(point), values, len(rows), draw.study.n_clusters(rows), seed=draw.seed)


def task_performance(draw: Bootstrap) -> Ends:
    for cell, arm, template in draw.study.templates:
        rows = draw.study.headline(cell, arm, template)
        correct = [(item_id, int(gold == answer), 1) for item_id, (gold, answer) in rows.items()]
        found = {"accuracy": draw.ratio(cell.task, correct), "score": scored(draw, cell.task, rows)}
        yield {**cell._asdict(), "arm": arm, "template": template}, {**columns(found, "se"), **found["accuracy"].once()}


def cost(draw: Bootstrap, task: str, plain: Mapping[str, Scored], assess: Mapping[str, Scored]) -> dict[str, Estimate]:
    before, after = scored(draw, task, plain), scored(draw, task, assess)
    if metric_of(task) == "macro_f1":
        point = None if before.point is None or after.point is None else after.point - before.point
        paid = Estimate(point, after.values - before.values, before.n, before.n_clusters, "difference", seed=draw.seed)
    else:
        marks = [(item_id, mark(task, assess[item_id]) - mark(task, plain[item_id]), 1) for item_id in plain]
        paid = draw.ratio(task, marks, "difference")
    read = [(i, int(plain[i][1] != assess[i][1]), 1) for i in plain if plain[i][1] is not None and assess[i][1] is not None]
    return {"score_plain": before, "score_assess": after, "cost": paid, "answer_moved": draw.ratio(task, read)}


def costs(draw: Bootstrap) -> Iterator[tuple[Cell, str, dict[str, Estimate]]]:
    for cell, arm in draw.study.conditions("AB", "A", "B"):
        plain, assess = draw.study.headline(cell, arm, "plain"), draw.study.headline(cell, arm, "assess")
        if plain:
            both = [item_id for item_id in plain if item_id in assess]
            yield cell, arm, cost(draw, cell.task, {i: plain[i] for i in both}, {i: assess[i] for i in both})


def assessment_cost(draw: Bootstrap) -> Ends:
    for cell, arm, found in costs(draw):
        yield {**cell._asdict(), "arm": arm}, {**columns(found, "se"), **found["cost"].once()}


def assessment_cost_task(draw: Bootstrap) -> Ends:
    rows = [
        ({"thinking": cell.thinking, "task": cell.task, "arm_type": "joint" if arm == "AB" else "single"}, found)
        for cell, arm, found in costs(draw)
    ]
    for key, found in pooled(rows):
        ends = [cell["cost"].ends() for cell_key, cell in rows if cell_key == key]
        counts = {
            "n_lower": sum(high is not None and high < 0 for _, high in ends),
            "n_higher": sum(low is not None and low > 0 for low, _ in ends),
        }
        kept = {name: found[name] for name in ("cost", "answer_moved")}
        yield key, {**columns(kept), **counts, **found["cost"].once()}


def title_floor(draw: Bootstrap) -> Ends:
    for cell in draw.study.cells:
        if draw.study.asked(cell, "title", "plain"):
            pairs = films(draw.study, cell).items()
            found = {
                "title_score": draw.ratio(cell.task, [(film, title, 1) for film, (title, _) in pairs]),
                "joint_score": draw.ratio(cell.task, [(film, joint, 1) for film, (_, joint) in pairs]),
                "recovered": draw.ratio(cell.task, [(film, title, joint) for film, (title, joint) in pairs], "ratio"),
            }
            yield dict(cell._asdict()), {**columns(found, "se"), **found["title_score"].once()}


def noise_floor(draw: Bootstrap) -> Ends:
    for cell, arm, template in sorted({key[:3] for key in draw.study.scored}):
        numbers = replicates(draw.study, cell, arm, template)
        if len(numbers) < 2:
            continue
        read: dict[str, list[str]] = defaultdict(list)
        for number in numbers:
            for item_id, (_, answer) in draw.study.scored[cell, arm, template, number].items():
                if answer is not None:
                    read[item_id].append(answer)
        flipped = [(item_id, int(len(set(answers)) > 1), 1) for item_id, answers in read.items() if len(answers) > 1]
        found = draw.ratio(cell.task, flipped)
        yield {**cell._asdict(), "arm": arm, "template": template}, {**found.columns("flip_rate", "se"), **found.once()}
