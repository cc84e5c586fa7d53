"""What lost answers could do to a gap, and what the calls cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from tests.independent.calls import Row
from tests.independent.intervals import Ends, columns
from tests.independent.resampling import Bootstrap
from tests.independent.study import Cell, Study
from tests.independent.sums import rate


def bounds(study: Study, cell: Cell, arm: str) -> list[tuple[str, bool, int, int]]:
    """Item, whether all was read, the least and the most of executed - predicted over all that its lost answers could be."""
    found = []
    for item_id in study.asked(cell, arm, "assess"):
        answer, claimed = (study.field(cell, item_id, arm, "assess", name) for name in ("answer", "with_other"))
        joint = study.field(cell, item_id, "AB", "plain")
        predicted = [0, 1] if answer is None or claimed is None else [int(claimed != answer)]
        executed = [0, 1] if answer is None or joint is None else [int(answer != joint)]
        gaps = [after - before for after in executed for before in predicted]
        found.append((item_id, len(gaps) == 1, min(gaps), max(gaps)))
    return found


def worst_case_item(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("A", "B"):
        for item_id, is_read, least, most in bounds(study, cell, arm):
            key = {**cell._asdict(), "arm": arm, "item_id": item_id, "cluster_id": study.cluster(item_id)}
            yield {**key, "is_read": is_read, "least": least, "most": most}


def prospective_worst_case(study: Study) -> Iterator[Row]:
    for cell, arm in study.conditions("A", "B"):
        items = bounds(study, cell, arm)
        read = [least for _, is_read, least, _ in items if is_read]
        gap = rate(sum(read), len(read))
        least, most = rate(sum(item[2] for item in items), len(items)), rate(sum(item[3] for item in items), len(items))
        assert least is not None
        assert most is not None
        worst = {1: least, -1: most}.get((gap > 0) - (gap < 0)) if gap is not None else None
        yield {
            **cell._asdict(),
            "arm": arm,
            "n_asked": len(items),
            "n_clusters": study.n_clusters(item[0] for item in items),
            "n_lost": len(items) - len(read),
            "gap": gap,
            "gap_least": least,
            "gap_most": most,
            "gap_worst": worst,
            "sign_holds": None if worst is None or gap is None else worst * gap > 0,
        }


def worst_case_ends(draw: Bootstrap) -> Ends:
    rows = {(row["model_id"], row["thinking"], row["task"], row["arm"]): row for row in prospective_worst_case(draw.study)}
    for cell, arm in draw.study.conditions("A", "B"):
        items, gap = bounds(draw.study, cell, arm), rows[*cell, arm]["gap"]
        found = {
            "gap_least": draw.ratio(cell.task, [(item_id, least, 1) for item_id, _, least, _ in items], "difference"),
            "gap_most": draw.ratio(cell.task, [(item_id, most, 1) for item_id, _, _, most in items], "difference"),
        }
        low, high = found["gap_least"].ends()[0], found["gap_most"].ends()[1]
        holds = None
        if gap and low is not None and high is not None:
            holds = low > 0 if gap > 0 else high < 0
        yield {**cell._asdict(), "arm": arm}, {**columns(found, "se"), "interval_holds": holds, **found["gap_least"].once()}


def spent(row: Row, name: str) -> float | None:
    """What the row says, or else its body."""
    body = row.get("response")
    usage = (body.get("usage") if isinstance(body, dict) else None) or {}
    said = {**usage, "cost_usd": usage.get("cost")}
    return row[name] if row.get(name) is not None else said.get(name)


def cost(study: Study) -> Iterator[Row]:
    """Every attempt and replicate counts."""
    groups: dict[tuple[Cell, str, str], list[Row]] = defaultdict(list)
    for row in study.rows:
        groups[Cell(row["model_id"], row["thinking"], row["task"]), row["arm"], row["template"]].append(row)
    for (cell, arm, template), rows in groups.items():
        found: Row = {"n_calls": len(rows), "n_requests": len({(row["item_id"], row["replicate"]) for row in rows})}
        for name in ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cost_usd"):
            known = [value for row in rows if (value := spent(row, name)) is not None]
            total = sum(Decimal(str(value)) for value in known)
            found[f"n_{name}"] = len(known)
            found[name] = (float(total) if name == "cost_usd" else int(total)) if known else None
            found[f"{name}_per_call"] = float(total / len(known)) if known else None
        latencies = [Decimal(str(row["latency_s"])) for row in rows if row.get("latency_s") is not None]
        found["n_latency"] = len(latencies)
        found["latency_s_per_call"] = float(sum(latencies) / len(latencies)) if latencies else None
        yield {**cell._asdict(), "arm": arm, "template": template, **found}
