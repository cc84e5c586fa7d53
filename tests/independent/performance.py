"""How well the answers fit the gold ones, what the self-report costs, what chance and noise would give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from tests.independent.calls import Row
from tests.independent.study import Cell, Study
from tests.independent.sums import Scored, class_counts, exact, metric_of, middle, rate, score, set_f1, spread, squared_shares


def replicates(study: Study, cell: Cell, arm: str, template: str) -> list[int]:
    return sorted(key[3] for key in study.scored if key[:3] == (cell, arm, template))


def row_sets(study: Study, cell: Cell, arm: str, template: str, replicate: int) -> dict[str, dict[str, Scored]]:
    """The rows that a score may be over: all attempted, those attempted under both templates, those attempted at every replicate."""
    rows = study.scored[cell, arm, template, replicate]
    other = study.scored.get((cell, arm, "assess" if template == "plain" else "plain", replicate), {})
    every = [study.scored[cell, arm, template, number] for number in replicates(study, cell, arm, template)]
    return {
        "attempted": rows,
        "paired": {item_id: pair for item_id, pair in rows.items() if item_id in other},
        "repeated": {i: pair for i, pair in rows.items() if len(every) > 1 and all(i in one for one in every)},
    }


def scored_answer(study: Study) -> Iterator[Row]:
    for (cell, arm, template, replicate), rows in study.scored.items():
        sets = row_sets(study, cell, arm, template, replicate)
        for item_id, (gold, answer) in rows.items():
            yield {
                **cell._asdict(),
                "arm": arm,
                "template": template,
                "replicate": replicate,
                "item_id": item_id,
                "cluster_id": study.cluster(item_id),
                "gold": gold,
                "answer": answer,
                "metric": metric_of(cell.task),
                "headline": replicate == study.replicate,
                "called": True,
                "attempted": True,
                "correct": gold == answer,
                "set_f1": float(set_f1(gold, answer)) if cell.task == "mmimdb" else None,
                "paired": item_id in sets["paired"],
                "n_replicates": len(replicates(study, cell, arm, template)),
                "repeated": item_id in sets["repeated"],
            }


def class_item(study: Study) -> Iterator[Row]:
    kept = ("model_id", "thinking", "task", "arm", "template", "replicate", "item_id", "cluster_id", "attempted", "paired", "repeated")
    for row in scored_answer(study):
        if row["metric"] == "macro_f1":
            for name, hit, missed, alarm in class_counts(row["gold"], row["answer"]):
                yield {**{key: row[key] for key in kept}, "class": name, "hit": hit, "missed": missed, "false_alarm": alarm}


def task_score(study: Study) -> Iterator[Row]:
    for cell, arm, template, replicate in study.scored:
        for name, rows in row_sets(study, cell, arm, template, replicate).items():
            if rows:
                key = {**cell._asdict(), "arm": arm, "template": template, "replicate": replicate, "metric": metric_of(cell.task)}
                yield {
                    **key,
                    "scored": name,
                    **study.size(list(rows)),
                    "n_lost": sum(answer is None for _, answer in rows.values()),
                    "n_correct": sum(gold == answer for gold, answer in rows.values()),
                    "score": exact(score(cell.task, list(rows.values()))),
                }


def task_performance(study: Study) -> Iterator[Row]:
    for cell, arm, template in study.templates:
        rows = study.headline(cell, arm, template)
        n_correct = sum(gold == answer for gold, answer in rows.values())
        yield {
            **cell._asdict(),
            "arm": arm,
            "template": template,
            "metric": metric_of(cell.task),
            "n_attempted": len(rows),
            **study.size(list(rows)),
            "n_lost": sum(answer is None for _, answer in rows.values()),
            "n_correct": n_correct,
            "accuracy": rate(n_correct, len(rows)),
            "score": exact(score(cell.task, list(rows.values()))),
        }


def films(study: Study, cell: Cell) -> dict[str, tuple[Fraction, Fraction]]:
    """Film -> F1 from its title, mean F1 of its joint rows."""
    title, joint = study.headline(cell, "title", "plain"), defaultdict(list)
    for item_id, pair in study.headline(cell, "AB", "plain").items() if title else ():
        joint[study.cluster(item_id)].append(set_f1(*pair))
    return {film: (set_f1(*pair), sum(joint[film], Fraction(0)) / len(joint[film])) for film, pair in title.items() if film in joint}


def title_item(study: Study) -> Iterator[Row]:
    for cell in study.cells:
        for film, (title, joint) in films(study, cell).items():
            key = {**cell._asdict(), "item_id": film, "cluster_id": study.cluster(film)}
            yield {**key, "title_f1": float(title), "joint_f1": float(joint)}


def title_floor(study: Study) -> Iterator[Row]:
    for cell in study.cells:
        if study.asked(cell, "title", "plain"):
            found = films(study, cell)
            title, joint = (sum((pair[side] for pair in found.values()), Fraction(0)) for side in (0, 1))
            yield {
                **cell._asdict(),
                **study.size(list(found)),
                "title_score": rate(title, len(found)),
                "joint_score": rate(joint, len(found)),
                "recovered": float(title / joint) if joint else None,
            }


def assessment_cost(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("AB", "A", "B"):
        plain, assess = study.headline(cell, arm, "plain"), study.headline(cell, arm, "assess")
        if not plain:
            continue
        both = [item_id for item_id in plain if item_id in assess]
        before, after = (score(cell.task, [side[item_id] for item_id in both]) for side in (plain, assess))
        read = [(plain[i][1], assess[i][1]) for i in both if plain[i][1] is not None and assess[i][1] is not None]
        n_moved = sum(a != b for a, b in read)
        yield {
            **cell._asdict(),
            "arm": arm,
            "metric": metric_of(cell.task),
            **study.size(both),
            "score_plain": exact(before),
            "score_assess": exact(after),
            "cost": exact(after - before) if before is not None and after is not None else None,
            "n_read": len(read),
            "n_moved": n_moved,
            "answer_moved": rate(n_moved, len(read)),
        }


def assessment_cost_task(study: Study) -> Iterator[Row]:
    groups: dict[tuple[bool, str, str], list[Row]] = defaultdict(list)
    for row in assessment_cost(study):
        groups[row["thinking"], row["task"], "joint" if row["arm"] == "AB" else "single"].append(row)
    for (thinking, task, arm_type), rows in groups.items():
        yield {
            "thinking": thinking,
            "task": task,
            "arm_type": arm_type,
            "n_cells": sum(row["cost"] is not None for row in rows),
            **spread("cost", (row["cost"] for row in rows)),
            "answer_moved": middle(row["answer_moved"] for row in rows),
        }


def chance_floor(study: Study) -> Iterator[Row]:
    for cell, arm, template in study.templates:
        asked = study.asked(cell, arm, template)
        answers = [answer for _, answer in study.headline(cell, arm, template).values() if answer is not None]
        yield {
            **cell._asdict(),
            "arm": arm,
            "template": template,
            **study.size(asked),
            "n_answers": len(answers),
            "chance_labels": squared_shares([study.gold(cell.task, item_id) for item_id in asked]),
            "chance_answers": squared_shares(answers),
        }


def noise_floor(study: Study) -> Iterator[Row]:
    for cell, arm, template in sorted({key[:3] for key in study.scored}):
        numbers = replicates(study, cell, arm, template)
        if len(numbers) < 2:
            continue
        sets = [row_sets(study, cell, arm, template, number)["repeated"] for number in numbers]
        scores = [value for rows in sets if (value := score(cell.task, list(rows.values()))) is not None]
        read: dict[str, list[str]] = defaultdict(list)
        for number in numbers:
            for item_id, (_, answer) in study.scored[cell, arm, template, number].items():
                if answer is not None:
                    read[item_id].append(answer)
        several = [answers for answers in read.values() if len(answers) > 1]
        n_flipped = sum(len(set(answers)) > 1 for answers in several)
        yield {
            **cell._asdict(),
            "arm": arm,
            "template": template,
            "metric": metric_of(cell.task),
            "n_replicates": len(numbers),
            **study.size(list(sets[0])),
            "score_min": exact(min(scores, default=None)),
            "score_max": exact(max(scores, default=None)),
            "score_spread": exact(max(scores) - min(scores)) if scores else None,
            "n_read": len(several),
            "n_flipped": n_flipped,
            "flip_rate": rate(n_flipped, len(several)),
        }
