"""The tool-use audit's summaries in plain Python: what each view has to say of a study of rollouts, intervals left out."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, permutations
from typing import Any

from tests.independent.rollouts import GRID, Rollouts, Row, less, mean

MODES = ("no_call", "cwl", "lwp", "calibrated", "undiagnosed")
CELL = ("model_id", "thinking", "task")


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by the values of some columns."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return found


def values(rows: Iterable[Row], name: str) -> list[Any]:
    """A column's values, without those that are not known."""
    return [row[name] for row in rows if row[name] is not None]


def share(rows: Iterable[bool]) -> float | None:
    """The share of true ones; None of nothing."""
    rows = list(rows)
    return sum(rows) / len(rows) if rows else None


def clusters(rows: Iterable[Row]) -> int:
    """How many clusters rows come from."""
    return len({row["cluster_id"] for row in rows})


def calls(study: Rollouts) -> Iterator[Row]:
    yield from study.calls


def diagnosis(study: Rollouts) -> Iterator[Row]:
    yield from study.diagnoses(study.tau, study.epsilon)


def item_means(study: Rollouts, arm: str, template: str) -> dict[tuple[Any, ...], float]:
    """An item's mean correctness over the replicates at which it is known."""
    rows = [row for row in study.rollouts.values() if (row["arm"], row["template"]) == (arm, template) and row["correct"] is not None]
    return {key: sum(values(found, "correct")) / len(found) for key, found in grouped(rows, *CELL, "item_id").items()}


def _paired(study: Rollouts, before: tuple[str, str], after: tuple[str, str]) -> dict[tuple[Any, ...], list[Row]]:
    """The items of each cell that have both sides, with their means."""
    one, other = item_means(study, *before), item_means(study, *after)
    rows = [
        {**dict(zip((*CELL, "item_id"), key, strict=True)), "cluster_id": study.items[key[3]]["cluster_id"], "a": one[key], "b": other[key]}
        for key in one.keys() & other.keys()
    ]
    return grouped(rows, *CELL)


def policy_effect(study: Rollouts) -> Iterator[Row]:
    pairs = _paired(study, ("direct", "free"), ("tool", "free"))
    for cell, rows in grouped(_of(study, lambda row: row["arm"] in ("tool", "direct") and row["template"] == "free"), *CELL).items():
        items, tool = pairs.get(cell, []), [row for row in rows if row["arm"] == "tool"]
        yield {
            **dict(zip(CELL, cell, strict=True)),
            "n_items": len(items),
            "n_clusters": clusters(items),
            "accuracy_tool": mean(values(items, "b")),
            "accuracy_direct": mean(values(items, "a")),
            "ate": mean([row["b"] - row["a"] for row in items]),
            "calls_tool": mean(values(tool, "n_calls")),
        }


def trajectory_effect(study: Rollouts) -> Iterator[Row]:
    def intervened(row: Row) -> bool:
        return row["arm"] != "direct" and (row["arm"], row["template"]) != ("tool", "free")

    for (*cell, arm, template), rows in grouped(_of(study, intervened), *CELL, "arm", "template").items():
        items = _paired(study, ("tool", "free"), (arm, template)).get(tuple(cell), [])
        finished = [row for row in rows if row["end_reason"] != "error"]
        clean = _of(study, lambda row: (row["arm"], row["template"]) == ("tool", "free") and row["end_reason"] != "error")
        yield {
            **dict(zip((*CELL, "arm", "template"), (*cell, arm, template), strict=True)),
            "n_items": len(items),
            "n_clusters": clusters(items),
            "accuracy_clean": mean(values(items, "a")),
            "accuracy_intervened": mean(values(items, "b")),
            "ate": mean([row["b"] - row["a"] for row in items]),
            "hit_max": share(values(finished, "hit_max")),
            "n_rollouts": len(finished),
            "mean_calls": mean(values(finished, "n_calls")),
            "mean_calls_clean": mean(values(grouped(clean, *CELL).get(tuple(cell), []), "n_calls")),
        }


def _of(study: Rollouts, wanted: Callable[[Row], bool]) -> list[Row]:
    return [row for row in study.rollouts.values() if wanted(row)]


def _labelled(study: Rollouts) -> dict[tuple[Any, ...], list[Row]]:
    """The unhindered tool rollouts of the labelled replicate, by cell."""
    rows = _of(study, lambda row: (row["arm"], row["template"], row["replicate"]) == ("tool", "free", study.replicate))
    return grouped(rows, *CELL)


def _calls_of(study: Rollouts, rollouts: Iterable[Row]) -> list[Row]:
    return [call for rollout in rollouts for call in study.calls_of[rollout["rollout_id"]]]


def _peaks(study: Rollouts, rollouts: Iterable[Row]) -> list[Row]:
    """The rollouts that have a VEG that counts and was read, with the largest and the smallest."""
    found = []
    for rollout in rollouts:
        vegs = values([call for call in study.calls_of[rollout["rollout_id"]] if call["is_counted"]], "veg")
        if vegs:
            found.append({**rollout, "veg_max": max(vegs), "veg_min": min(vegs)})
    return found


def _veg_rates(study: Rollouts, vegs: list[float]) -> Row:
    return {"near_zero": share(abs(veg) < study.epsilon for veg in vegs), "harmful": share(veg < -0.05 for veg in vegs)}


def veg_summary(study: Rollouts) -> Iterator[Row]:
    for cell, rollouts in _labelled(study).items():
        rows = _calls_of(study, rollouts)
        peaks = _peaks(study, rollouts)
        vegs = values(rows, "veg")
        yield {
            **dict(zip(CELL, cell, strict=True)),
            "n_items": len(rollouts),
            "n_clusters": clusters(rollouts),
            "n_calls": len(rows),
            "n_trajectories": len(peaks),
            "n_gap_before": len(values(rows, "gap_before")),
            "n_veg": len(vegs),
            **{name: mean(values(rows, name)) for name in ("gain_real", "gain_cf", "veg")},
            **{f"veg_{word}": mean(values([r for r in rows if r["correct"] is is_so], "veg")) for word, is_so in SIDES},
            **_veg_rates(study, vegs),
            "substantial": share(abs(veg) > 0.1 for veg in vegs),
            "saturation": share(values(rows, "saturated")),
            "veg_saturated": mean(values([row for row in rows if row["saturated"] is True], "veg")),
            "veg_unsaturated": mean(values([row for row in rows if row["saturated"] is False], "veg")),
            "veg_max": mean(values(peaks, "veg_max")),
        }


SIDES = (("correct", True), ("incorrect", False))


def veg_position(study: Rollouts) -> Iterator[Row]:
    for cell, rollouts in _labelled_cells(study).items():
        counted = [call for call in _calls_of(study, rollouts) if call["is_counted"]]
        for place, wanted in (("1", [1]), ("2", [2]), ("3", [3]), ("4+", range(4, 999))):
            rows = [call for call in counted if call["position"] in wanted]
            free = values([row for row in rows if row["saturated"] is False], "veg")
            yield {
                **dict(zip(CELL, cell, strict=True)),
                "position": place,
                "n_items": len({row["item_id"] for row in rows}),
                "n_clusters": clusters(rows),
                "n_calls": len(rows),
                "n_gap_before": len(values(rows, "gap_before")),
                "n_veg": len(values(rows, "veg")),
                "n_unsaturated": len(free),
                "saturation": share(values(rows, "saturated")),
                "veg": mean(values(rows, "veg")),
                **_veg_rates(study, values(rows, "veg")),
                "veg_unsaturated": mean(free),
                **{f"{name}_unsaturated": rate for name, rate in _veg_rates(study, free).items()},
            }


def _labelled_cells(study: Rollouts) -> dict[tuple[Any, ...], list[Row]]:
    """The same with the cells that have no rollout at the labelled replicate."""
    cells = grouped(_of(study, lambda row: (row["arm"], row["template"]) == ("tool", "free")), *CELL)
    return {cell: _labelled(study).get(cell, []) for cell in cells}


def veg_trajectory(study: Rollouts) -> Iterator[Row]:
    diagnosed = {row["rollout_id"] for row in diagnosis(study)}
    for cell, rollouts in _labelled(study).items():
        if not any(rollout["rollout_id"] in diagnosed for rollout in rollouts):
            continue
        peaks = _peaks(study, rollouts)
        sides = {word: [row for row in peaks if row["correct"] is is_so] for word, is_so in SIDES}
        yield {
            **dict(zip(CELL, cell, strict=True)),
            "n_items": len(peaks),
            "n_clusters": clusters(peaks),
            **{f"n_{word}": len(rows) for word, rows in sides.items()},
            **{name: mean(values(peaks, name)) for name in ("veg_max", "veg_min")},
            **{f"{name}_{word}": mean(values(rows, name)) for name in ("veg_max", "veg_min") for word, rows in sides.items()},
        }


def poer(study: Rollouts) -> Iterator[Row]:
    for cell, rollouts in _labelled_cells(study).items():
        later = [
            call
            for rollout in rollouts
            for call in study.calls_of[rollout["rollout_id"]]
            if study.calls_of[rollout["rollout_id"]][0]["saturated"] is False
            and call["is_counted"]
            and call["position"] >= 2
            and call["saturated"] is not None
        ]
        for place, wanted in (("all", range(2, 999)), ("2", [2]), ("3", [3]), ("4+", range(4, 999))):
            rows = [call for call in later if call["position"] in wanted]
            yield {
                **dict(zip(CELL, cell, strict=True)),
                "position": place,
                "n_items": len({row["item_id"] for row in rows}),
                "n_clusters": clusters(rows),
                "n_calls": len(rows),
                "n_extended": sum(values(rows, "saturated")),
                "poer": share(values(rows, "saturated")),
            }


def _modes(study: Rollouts, tau: float, epsilon: float) -> dict[str, str | None]:
    return {row["rollout_id"]: row["mode"] for row in study.diagnoses(tau, epsilon)}


def mode_share(study: Rollouts) -> Iterator[Row]:
    modes = _modes(study, study.tau, study.epsilon)
    for cell, rollouts in _labelled(study).items():
        found = [modes.get(rollout["rollout_id"]) or "undiagnosed" for rollout in rollouts]
        for mode in MODES:
            yield {
                **dict(zip(CELL, cell, strict=True)),
                "mode": mode,
                "n_items": len(found),
                "n_clusters": clusters(rollouts),
                "n": found.count(mode),
                "share": found.count(mode) / len(found),
            }


def decomposition(study: Rollouts) -> Iterator[Row]:
    yield from _decomposed(study, study.tau, study.epsilon)


def threshold_sensitivity(study: Rollouts) -> Iterator[Row]:
    for tau, epsilon in GRID:
        yield from ({**row, "tau_sat": tau, "epsilon": epsilon} for row in _decomposed(study, tau, epsilon))


def _decomposed(study: Rollouts, tau: float, epsilon: float) -> Iterator[Row]:
    modes = _modes(study, tau, epsilon)
    label = {
        (*cell, rollout["item_id"]): modes.get(rollout["rollout_id"]) or "undiagnosed"
        for cell, rollouts in _labelled(study).items()
        for rollout in rollouts
    }
    for cell, rows in _paired(study, ("direct", "free"), ("tool", "free")).items():
        deltas: dict[str, list[float]] = {mode: [] for mode in MODES}
        for row in rows:
            deltas[label.get((*cell, row["item_id"]), "undiagnosed")].append(row["b"] - row["a"])
        for mode, found in deltas.items():
            yield {
                **dict(zip(CELL, cell, strict=True)),
                "mode": mode,
                "n_items": len(rows),
                "n_clusters": clusters(rows),
                "n": len(found),
                "share": len(found) / len(rows),
                "mean_delta": mean(found),
                "contribution": math.fsum(found) / len(rows),
                "ate": mean([r["b"] - r["a"] for r in rows]),
            }


def label_stability(study: Rollouts) -> Iterator[Row]:
    modes = _modes(study, study.tau, study.epsilon)
    tool = _of(study, lambda row: (row["arm"], row["template"]) == ("tool", "free"))
    for cell, rollouts in grouped(tool, *CELL).items():
        probed = {call["replicate"] for call in _calls_of(study, rollouts) if call["n_checkpoints"]}
        if len(probed) < 2:
            continue
        pairs = {
            key: [(modes.get(a["rollout_id"]), modes.get(b["rollout_id"])) for a, b in combinations(found, 2)]
            for key, found in grouped([row for row in rollouts if row["replicate"] in probed], "item_id", "cluster_id").items()
        }
        known = {key: [pair for pair in found if None not in pair] for key, found in pairs.items()}
        read = {key: found for key, found in known.items() if found}
        changed = [key for key, found in read.items() if any(a != b for a, b in found)]
        n_pairs, n_changed = sum(map(len, known.values())), sum(a != b for found in known.values() for a, b in found)
        yield {
            **dict(zip(CELL, cell, strict=True)),
            "n_replicates": len(probed),
            "n_items": len(read),
            "n_clusters": len({cluster for _, cluster in read}),
            "n_changed": len(changed),
            "changed": len(changed) / len(read) if read else None,
            "n_pairs": n_pairs,
            "n_pairs_left_out": sum(map(len, pairs.values())) - n_pairs,
            "n_pairs_changed": n_changed,
            "pair_changed": n_changed / n_pairs if n_pairs else None,
        }


def comparison(study: Rollouts) -> Iterator[Row]:
    modes = _modes(study, study.tau, study.epsilon)
    label = {
        cell: {rollout["item_id"]: modes.get(rollout["rollout_id"]) for rollout in rollouts} for cell, rollouts in _labelled(study).items()
    }
    for (one, mine), (other, theirs) in permutations(label.items(), 2):
        common = sorted(mine.keys() & theirs.keys())
        if one[2] != other[2] or not common:
            continue
        shift = [
            sum(mine[item] in wanted for item in common) / len(common) - sum(theirs[item] in wanted for item in common) / len(common)
            for wanted in (("calibrated",), ("cwl", "lwp"))
        ]
        yield {
            "model_id": one[0],
            "thinking": one[1],
            "base_model_id": other[0],
            "base_thinking": other[1],
            "task": one[2],
            "n_items": len(common),
            "n_clusters": len({study.items[item]["cluster_id"] for item in common}),
            "calibrated_shift": shift[0],
            "miscalibrated_shift": shift[1],
            "improved": shift[0] > 1e-12 and shift[1] < -1e-12,
        }


def replicate_spread(study: Rollouts) -> Iterator[Row]:
    found: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for (*key, _), rows in grouped(study.rollouts.values(), *CELL, "arm", "template", "replicate").items():
        if known := values(rows, "correct"):
            found[(*key, "accuracy")].append(sum(known) / len(known))
    probed = [call for call in study.calls if call["n_checkpoints"] and (call["arm"], call["template"]) == ("tool", "free")]
    for (*key, _), rows in grouped(probed, *CELL, "arm", "template", "replicate").items():
        parts = {"veg": rows, **{f"veg_{word}": [row for row in rows if row["correct"] is is_so] for word, is_so in SIDES}}
        for quantity, part in parts.items():
            if (value := mean(values(part, "veg"))) is not None:
                found[(*key, quantity)].append(value)
    for names, numbers in found.items():
        yield {
            **dict(zip((*CELL, "arm", "template", "quantity"), names, strict=True)),
            "n_replicates": len(numbers),
            "mean": mean(numbers),
            "sd": statistics.stdev(numbers) if len(numbers) > 1 else None,
            "lowest": min(numbers),
            "highest": max(numbers),
        }


def difference(one: float | None, other: float | None) -> float:
    """How far two figures are apart; infinitely where just one is known."""
    if one is None or other is None:
        return 0.0 if one is other else math.inf
    return abs(less(one, other) or 0.0)


VIEWS: dict[str, Callable[[Rollouts], Iterator[Row]]] = {
    "tooluse.call": calls,
    **{
        f"tooluse.{view.__name__}": view
        for view in (diagnosis, policy_effect, trajectory_effect, veg_summary, veg_position, veg_trajectory, poer, mode_share)
    },
    **{f"tooluse.{view.__name__}": view for view in (decomposition, threshold_sensitivity, label_stability, comparison, replicate_spread)},
}
