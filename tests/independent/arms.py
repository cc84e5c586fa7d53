"""`attrition.condition`, `arm.answer` and `arm.item`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.independent.calls import Row
from tests.independent.study import Cell, Study
from tests.independent.sums import rate

FIELDS = ("answer", "alone_a", "alone_b", "with_other", "sufficiency")
REPORTS = {"AB": ("alone_a", "alone_b"), "A": ("with_other", "sufficiency"), "B": ("with_other", "sufficiency")}


def condition(study: Study) -> Iterator[Row]:
    groups: dict[tuple[Cell, str, str], list[Row]] = defaultdict(list)
    for request, row in study.calls.items():
        if request.replicate == study.replicate:
            groups[request.cell, request.arm, request.template].append(row)
    for (cell, arm, template), rows in groups.items():
        outcomes = Counter(row["outcome"] for row in rows)
        watched = [row for row in rows if "repetition_detection" in (row.get("request") or {})]
        completed = [row for row in rows if "lost_answer" in row]
        lost = sum(row["lost_answer"] or row["lost_report"] for row in completed)
        yield {
            **cell._asdict(),
            "arm": arm,
            "template": template,
            "n_requests": len(rows),
            "n_attempted": len(rows),
            **{f"n_{name}": outcomes[name] for name in ("truncated", "provider_error", "unparsed_answer", "unparsed_report", "usable")},
            "n_repetition": sum(row["outcome"] == "repetition" for row in watched) if watched else None,
            "n_repetition_unasked": outcomes["repetition"] - sum(row["outcome"] == "repetition" for row in watched),
            "n_completed": len(completed),
            "n_lost_answer": sum(row["lost_answer"] for row in completed),
            "n_lost_report": sum(row["lost_report"] for row in completed),
            "n_lost_either": lost,
            "parse_failure_of_completed": rate(lost, len(completed)),
        }


def answer(study: Study) -> Iterator[Row]:
    for request, row in study.answers.items():
        yield {
            **request._asdict(),
            "cluster_id": study.cluster(request.item_id),
            "gold": study.gold(request.task, request.item_id),
            "call_item_id": row["item_id"],
            "outcome": row["outcome"],
            **{field: row.get(field) for field in FIELDS},
        }


def item(study: Study) -> Iterator[Row]:
    for cell in study.cells:
        arms = [(arm, template) for arm in ("AB", "A", "B") for template in ("plain", "assess")]
        asked = {key: set(study.asked(cell, *key)) for key in arms}
        for item_id in sorted(set().union(*asked.values())):
            row = {**cell._asdict(), "item_id": item_id, "cluster_id": study.cluster(item_id), "gold": study.gold(cell.task, item_id)}
            for arm, template in arms:
                row[f"{arm.lower()}_{template}_asked"] = item_id in asked[arm, template]
                for field in ("answer", *(REPORTS[arm] if template == "assess" else ())):
                    row[f"{arm.lower()}_{template}_{field}"] = study.field(cell, item_id, arm, template, field)
            yield row
