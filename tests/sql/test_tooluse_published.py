"""The tool-use paper's own numbers, read from its text, against the views' arithmetic: what adds up there adds up here in the same way.

A published table is turned into literal rows that have its counts; the views must then print the tables that the paper derives from them.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.sql.literal import run
from tests.sql.rows import Row, only

MODELS = ("DeepEyes", "Mini-o3", "Qwen3-VL-8B", "Qwen3-VL-4B")
ITEMS = 191  # V*
MODES = {"No-call": "no_call", "Mode 1": "cwl", "Cal.": "calibrated", "Mode 2": "lwp"}
FAST = {"stat.resamples": "20"}


@pytest.fixture(scope="module")
def paper(shared: Path) -> str:
    (seed,) = (shared / "seeds").glob("001_*.txt")
    return seed.read_text(encoding="utf-8")


def table(paper: str, number: int) -> list[list[str]]:
    """The cells of a table's rows as plain text."""
    text = re.split(rf"^Table {number}: ", paper, flags=re.MULTILINE)[1]
    lines = re.split(r"\n\n", text, maxsplit=2)[1].splitlines()
    return [[re.sub(r"[$\\~{},!]", "", cell).strip() for cell in line.strip("|").split("|")] for line in lines if "---" not in line]


def number(cell: str) -> float:
    """A printed number without its sign of percent."""
    return float(cell.replace("%", "").replace("+", "").replace("sim0", "0"))


# Table 13 → Table 3


def positions(paper: str, model: str) -> list[dict[str, Any]]:
    """A model's rows of Table 13: position, calls, saturated calls, mean VEG of all and of the unsaturated ones."""
    found, owner = [], ""
    for cells in table(paper, 13):
        if cells[0] in MODELS:
            owner, cells = cells[0], cells[1:]
        if owner == model and len(cells) > 6 and cells[0][:1] in "1234g" and cells[1] != "–":
            filled = [cell for cell in cells if cell]
            place, saturation, n, veg, _, n_free, veg_free, _ = filled
            found.append(
                {
                    "place": place[0],
                    "n": int(n),
                    "n_free": int(n_free),
                    "rate": number(saturation),
                    "veg": number(veg),
                    "free": number(veg_free),
                }
            )
    return found


def calls(rows: list[dict[str, Any]]) -> list[Row]:
    """As many literal calls, one a rollout, with those means."""
    made: list[Row] = []
    for row in rows:
        n_saturated = row["n"] - row["n_free"]
        veg_saturated = (row["n"] * row["veg"] - row["n_free"] * row["free"]) / n_saturated
        for place in range(row["n"]):
            is_free = place < row["n_free"]
            name = f"{row['place']}/{place}"
            about = {"rollout_id": name, "model_id": "m", "thinking": False, "task": "vstar", "item_id": name, "cluster_id": name}
            about |= {"arm": "tool", "template": "free", "replicate": 0, "correct": True}
            about |= {"is_counted": True, "is_error": False, "call_number": 1}
            position = {"g": 4}.get(row["place"]) or int(row["place"])
            veg = row["free"] if is_free else veg_saturated
            made.append({**about, "position": position, "gap_before": 0.5 if is_free else 0.97, "saturated": not is_free, "veg": veg})
    return made


def rollouts(made: list[Row]) -> list[Row]:
    """The rollouts of those calls."""
    names = ("rollout_id", "model_id", "thinking", "task", "item_id", "cluster_id", "arm", "template", "replicate", "correct")
    return [{name: call[name] for name in names} for call in made]


def given(made: list[Row]) -> dict[str, list[Row]]:
    """What the views of evidence read of those calls."""
    names = [call["cluster_id"] for call in made]
    clusters = [
        {"task": "vstar", "cluster_id": name, "position": place, "n_clusters": len(names), "task_rank": 1}
        for place, name in enumerate(names)
    ]
    return {"tooluse.call": made, "tooluse.rollout": rollouts(made), "tooluse.trajectory": [], "stat.cluster": clusters}


def test_table_13_weighted_by_calls_gives_table_3_for_mini_o3(paper: str) -> None:
    made = calls(positions(paper, "Mini-o3"))
    assert len(made) == 439
    for row in run("tooluse.veg_position", given(made), FAST):
        printed = only(positions(paper, "Mini-o3"), place="g" if row["position"] == "4+" else row["position"])
        assert (row["n_calls"], row["n_unsaturated"]) == (printed["n"], printed["n_free"])
        assert 100 * row["saturation"] == pytest.approx(printed["rate"], abs=0.05)
        assert row["veg"] == pytest.approx(printed["veg"], abs=1e-9)
    (summary,) = run("tooluse.veg_summary", given(made), FAST)
    (printed_3,) = (cells for cells in table(paper, 3) if cells[0] == "Mini-o3")
    assert round(summary["veg"], 3) == number(printed_3[3]) == 0.063
    assert round(100 * summary["saturation"]) == number(printed_3[8]) == 21
    assert round(summary["veg_unsaturated"], 2) == number(printed_3[10]) == 0.08


@pytest.mark.parametrize(("model", "pooled", "first"), [("DeepEyes", 0.053, 0.054), ("Qwen3-VL-8B", 0.198, 0.205)])
def test_for_the_other_models_table_3_pools_calls_that_table_13_leaves_out(paper: str, model: str, pooled: float, first: float) -> None:
    (printed,) = (cells for cells in table(paper, 3) if cells[0] == model)
    made = calls(positions(paper, model))
    (summary,) = run("tooluse.veg_summary", given(made), FAST)
    assert (number(printed[3]), round(summary["veg"], 3)) == (pooled, first)


# Tables 5, 17 and 20


def contributions(paper: str) -> dict[str, dict[str, list[float]]]:
    """Table 17 by model: shares, mean differences and contributions of the four groups and in total."""
    found: dict[str, dict[str, list[float]]] = {}
    for cells in table(paper, 17)[1:]:
        name = cells[0] or list(found)[-1]
        kind = "share" if cells[1].startswith("f_b") else "contribution" if cells[1].startswith("contrib") else "mean_delta"
        found.setdefault(name, {})[kind] = [0.0 if cell in "-–" else number(cell) for cell in cells[2:]]
    return found


def whole(share: float) -> int:
    """The count of the 191 items behind a printed share."""
    (count,) = (count for count in range(ITEMS + 1) if round(100 * count / ITEMS, 1) == share)
    return count


def eighths(printed: dict[str, list[float]], counts: list[int]) -> list[int]:
    """Sums of differences by group, in eighths of an item (eight rollouts a side), that print the contributions and add up to the total."""
    best = [round(8 * ITEMS * value / 100) for value in printed["contribution"][:4]]
    total = round(8 * ITEMS * printed["contribution"][4] / 100)
    options = [
        [n for n in range(b - 2, b + 3) if _prints(n, count, c, d)]
        for b, count, c, d in zip(best, counts, printed["contribution"][:4], printed["mean_delta"][:4], strict=True)
    ]
    for shift in sorted(range(-1, 2), key=abs):
        for a in options[0]:
            for b in options[1]:
                for c in options[2]:
                    if (d := total + shift - a - b - c) in options[3]:
                        return [a, b, c, d]
    raise AssertionError(f"no whole sums behind {printed}")


def _prints(n: int, count: int, contribution: float, mean_delta: float) -> bool:
    shown = abs(100 * n / 8 / ITEMS - contribution) <= 0.0501
    return shown and (n == 0 if count == 0 else abs(100 * n / 8 / count - mean_delta) <= 0.0501)


@pytest.mark.parametrize("model", MODELS)
def test_table_17_has_whole_counts_and_its_contributions_add_up_as_the_view_s_do(paper: str, model: str) -> None:
    printed = contributions(paper)[model]
    counts = [whole(share) for share in printed["share"][:4]]
    assert sum(counts) == ITEMS
    sums = eighths(printed, counts)
    items = [
        {"item_id": f"{mode}/{place}", "mode": mode, "delta": (total / 8 if place == 0 else 0.0)}
        for mode, count, total in zip(MODES.values(), counts, sums, strict=True)
        for place in range(count)
    ]
    about = {"model_id": "m", "thinking": False, "task": "vstar", "tau_sat": 0.95, "epsilon": 0.01, "in_grid": True, "is_chosen": True}
    rows = run(
        "tooluse.decomposition", {"tooluse.decomposed_item": [{**about, "cluster_id": item["item_id"], **item} for item in items]}, FAST
    )
    for place, mode in enumerate(MODES.values()):
        row = only(rows, mode=mode)
        assert round(100 * row["share"], 1) == printed["share"][place]
        assert 100 * row["contribution"] == pytest.approx(printed["contribution"][place], abs=0.0501)
        assert counts[place] == 0 or 100 * row["mean_delta"] == pytest.approx(printed["mean_delta"][place], abs=0.0501)
    assert 100 * rows[0]["ate"] == pytest.approx(printed["contribution"][4], abs=0.0501)
    assert sum(row["contribution"] for row in rows) == pytest.approx(rows[0]["ate"], abs=1e-12)
    (short,) = (cells for cells in table(paper, 5) if cells[0] == model)
    assert [number(cell) for cell in short[1:]] == printed["contribution"]


def test_table_20_adds_up_to_its_totals_within_rounding(paper: str) -> None:
    for cells in table(paper, 20)[1:]:
        *parts, total = map(number, cells[1:])
        assert sum(parts) == pytest.approx(total, abs=5 * 0.05 + 1e-9)


# Tables 15 and 16


def test_tables_15_and_16_are_whole_counts_that_move_as_algorithm_1_says(paper: str) -> None:
    rows = 0
    for number_of, rises in ((15, "Mode 1"), (16, None)):
        before: dict[str, list[int]] = {}
        for cells in table(paper, number_of)[1:]:
            counts = [whole(number(cell)) for cell in cells[2:6]]  # no_call, cwl, calibrated, lwp
            rows += 1
            assert sum(counts) == ITEMS
            if last := before.get(cells[0]):
                assert counts[0] == last[0]
                if rises:  # epsilon rises: rollouts move only into cwl
                    assert counts[1] >= last[1]
                    assert counts[2] <= last[2]
                    assert counts[3] <= last[3]
                else:  # tau rises: none is added to cwl, none taken from calibrated
                    assert counts[1] <= last[1]
                    assert counts[2] >= last[2]
            before[cells[0]] = counts
    assert rows == 36
