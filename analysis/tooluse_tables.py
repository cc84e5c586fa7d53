"""The tables of seed 001, declared: what each reads and how it is laid out. Their numbers have an `s` before them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from analysis import configuration
from analysis.render import MISSING
from analysis.tables import Cell, PaperTable, Row, count, first, percent, points, text

_table = partial(PaperTable, prefix="s")


def signed(column: str, places: int = 3) -> Cell:
    """A gain as it stands, signed."""
    return lambda row: MISSING if row[column] is None else f"{row[column]:+.{places}f}".replace("-", "−")


def pair(one: str, other: str) -> Cell:
    """Two accuracies as percent: `87.8/82.3`."""
    return lambda row: f"{percent(one)(row)}/{percent(other)(row)}"


def median(column: str) -> Cell:
    """A median with its interquartile range, and its interval where it has one: `+0.001 (0.909) [−0.020, +0.110]`."""

    def cell(row: Row) -> str:
        if row[column] is None:
            return MISSING
        ends = "" if row[f"{column}_low"] is None else f" [{signed(f'{column}_low')(row)}, {signed(f'{column}_high')(row)}]"
        return f"{signed(column)(row)} ({row[f'{column}_iqr']:.3f}){ends}"

    return cell


def share(column: str) -> Cell:
    """A fraction as percent with its interval: `34.6 [28.3, 41.4]`."""

    def cell(row: Row) -> str:
        low, high = row[f"{column}_low"], row[f"{column}_high"]
        return percent(column)(row) + ("" if low is None else f" [{100 * low:.1f}, {100 * high:.1f}]")

    return cell


def _veg(number: int, where: str) -> PaperTable:
    return _table(
        number,
        "Visual Evidence Gain over all calls of the labelled rollouts",
        f"SELECT * FROM tooluse.veg_summary WHERE NOT thinking {where} ORDER BY task, model_id",
        section=("task",),
        rows=("model_id",),
        lead={"valid calls": count("n_veg")},
        cells={
            "gain, real": signed("gain_real"),
            "gain, counterfactual": signed("gain_cf"),
            "VEG": signed("veg"),
            "correct": signed("veg_correct"),
            "incorrect": signed("veg_incorrect"),
            "|VEG| < ε (%)": percent("near_zero"),
            "|VEG| > 0.1 (%)": percent("substantial"),
            "saturated (%)": percent("saturation"),
            "VEG if saturated": signed("veg_saturated"),
            "if not": signed("veg_unsaturated"),
            "mean V max": signed("veg_max"),
        },
    )


def _shares(number: int, where: str) -> PaperTable:
    return _table(
        number,
        "Groups of rollouts (%)",
        f"SELECT * FROM tooluse.mode_share WHERE NOT thinking {where} ORDER BY task, model_id, mode",
        section=("task",),
        rows=("model_id",),
        across=("mode",),
        lead={"n": count("n_items")},
        cells={"": share("share")},
    )


def _decomposition(number: int, where: str, detailed: bool = False) -> PaperTable:
    return _table(
        number,
        "What each group contributes to the policy-level effect (pp)",
        f"SELECT * FROM tooluse.decomposition WHERE NOT thinking {where} ORDER BY task, model_id, mode",
        section=("task",),
        rows=("model_id",),
        across=("mode",),
        lead={"n": count("n_items"), "ATE": first(points("ate"))},
        cells={"share (%)": percent("share"), "mean Δ": points("mean_delta"), "contribution": points("contribution")}
        if detailed
        else {"": points("contribution")},
    )


def _sensitivity(number: int, varied: str, fixed: str) -> PaperTable:
    return _table(
        number,
        f"Groups of rollouts (%) and what the calibrated contribute (pp), by {varied}",
        f"""
        SELECT
            *, max(contribution) FILTER (WHERE mode = 'calibrated') OVER cell AS calibrated,
            max(contribution_low) FILTER (WHERE mode = 'calibrated') OVER cell AS calibrated_low,
            max(contribution_high) FILTER (WHERE mode = 'calibrated') OVER cell AS calibrated_high
        FROM tooluse.threshold_sensitivity
        WHERE NOT thinking AND {fixed}
        WINDOW cell AS (PARTITION BY model_id, task, tau_sat, epsilon)
        ORDER BY task, model_id, {varied}, mode
        """,
        section=("task",),
        rows=("model_id", varied),
        across=("mode",),
        lead={"calibrated contribute": first(points("calibrated")), "ATE": first(points("ate"))},
        cells={"": percent("share")},
    )


POLICY = _table(
    1,
    "Tool use against direct inference: accuracy (%) and effect (pp)",
    "SELECT * FROM tooluse.policy_effect WHERE NOT thinking ORDER BY task, model_id",
    rows=("model_id",),
    across=("task",),
    cells={"tool/direct": pair("accuracy_tool", "accuracy_direct"), "Δ": points("ate")},
)
TRAJECTORY = _table(
    2,
    "Random crops in place of what the tool returned: accuracy (%), effect (pp) and rollouts at the call limit (%)",
    "SELECT * FROM tooluse.trajectory_effect WHERE NOT thinking AND arm = 'random_crop' AND template = 'free' ORDER BY task, model_id",
    rows=("model_id",),
    across=("task",),
    cells={"clean/intervened": pair("accuracy_clean", "accuracy_intervened"), "Δ": points("ate"), "at the limit": percent("hit_max")},
)
CORRUPTIONS = _table(
    9,
    "Three corruptions of what the tool returned: accuracy (%), effect (pp) and rollouts at the call limit (%)",
    "SELECT * FROM tooluse.trajectory_effect WHERE NOT thinking AND arm <> 'tool' AND template = 'free' ORDER BY task, model_id, arm",
    section=("task",),
    rows=("model_id",),
    across=("arm",),
    cells={"accuracy": percent("accuracy_intervened"), "Δ": points("ate"), "at the limit": percent("hit_max")},
)
CALLS = _table(
    10,
    "Tool calls a rollout, unhindered and under each corruption",
    "SELECT * FROM tooluse.trajectory_effect WHERE NOT thinking AND arm <> 'tool' AND template = 'free' ORDER BY task, model_id, arm",
    section=("task",),
    rows=("model_id",),
    across=("arm",),
    lead={"unhindered": first(lambda row: MISSING if row["mean_calls_clean"] is None else f"{row['mean_calls_clean']:.1f}")},
    cells={"": lambda row: MISSING if row["mean_calls"] is None else f"{row['mean_calls']:.1f}"},
)
FORCED = _table(
    11,
    "Random crops with an answer forced at the call limit: accuracy (%) and what drop remains (pp)",
    """
    SELECT forced.*, free.accuracy_intervened AS accuracy_free
    FROM tooluse.trajectory_effect AS forced
    LEFT JOIN tooluse.trajectory_effect AS free
        ON forced.model_id = free.model_id AND forced.thinking = free.thinking AND forced.task = free.task AND forced.arm = free.arm
        AND free.template = 'free'
    WHERE NOT forced.thinking AND forced.template = 'force_answer' AND forced.arm = 'random_crop'
    ORDER BY forced.task, forced.model_id
    """,
    section=("task",),
    rows=("model_id",),
    cells={
        "clean": percent("accuracy_clean"),
        "corrupted": percent("accuracy_free"),
        "answer forced": percent("accuracy_intervened"),
        "Δ remaining": points("ate"),
    },
)
PEAKS = _table(
    12,
    "The best and the worst call of a rollout: mean Visual Evidence Gain",
    "SELECT * FROM tooluse.veg_trajectory WHERE NOT thinking ORDER BY task, model_id",
    section=("task",),
    rows=("model_id",),
    lead={"rollouts": count("n_items")},
    cells={
        f"{heading}{side}": signed(f"{column}{name}", 2)
        for heading, column in (("V max", "veg_max"), ("V min", "veg_min"))
        for side, name in (("", ""), (" correct", "_correct"), (" incorrect", "_incorrect"))
    },
)
POSITIONS = _table(
    13,
    "Visual Evidence Gain by position of the call; wasted: |VEG| < ε, harmful: VEG < −0.05",
    "SELECT * FROM tooluse.veg_position WHERE NOT thinking ORDER BY task, model_id, position",
    section=("task",),
    rows=("model_id", "position"),
    cells={
        "saturated (%)": percent("saturation"),
        "n": text("n_veg"),
        "VEG": signed("veg"),
        "wasted / harmful (%)": lambda row: f"{percent('near_zero')(row)} / {percent('harmful')(row)}",
        "not saturated: n": text("n_unsaturated"),
        "their VEG": signed("veg_unsaturated"),
        "their wasted / harmful (%)": lambda row: f"{percent('near_zero_unsaturated')(row)} / {percent('harmful_unsaturated')(row)}",
    },
)
OPEN = _table(
    14,
    "Open-ended Visual Evidence Gain: median (interquartile range) and interval, nats per gold token",
    "SELECT * FROM tooluse.veg_open WHERE NOT thinking ORDER BY task, model_id",
    section=("task",),
    rows=("model_id",),
    lead={"valid calls": count("n_veg")},
    cells={"all": median("veg"), "correct": median("veg_correct"), "incorrect": median("veg_incorrect")},
)


def _registry() -> Sequence[Row]:
    return [
        {"model_id": model_id, **{name: entry.get(name) for name in ("family", "size", "interface", "serving", "precision")}}
        for model_id, entry in configuration.models().items()
        if entry["serving"] != "simulated" and "interface" in entry
    ]


def _sampling() -> Sequence[Row]:
    decoding = configuration.decoding()
    return [
        {"model_id": row["model_id"], **decoding["families"][row["interface"]], "max_calls": decoding["max_calls"]} for row in _registry()
    ]


CHECKPOINTS = _table(
    6,
    "The models that use tools, and through which interface",
    _registry,
    rows=("model_id",),
    cells={"Family": text("family"), "Size": text("size"), "Interface": text("interface"), "Precision": text("precision")},
)
DECODING = _table(
    7,
    "How models sample, under both policies",
    _sampling,
    rows=("model_id",),
    cells={
        "temperature": text("temperature"),
        "top-p": text("top_p"),
        "top-k": text("top_k"),
        "calls at most": text("max_calls"),
    },
)
BENCHMARKS = _table(
    8,
    "The benchmarks of the study",
    """
    SELECT
        item.task, CASE WHEN json_type(item.annotation, '$.options') = 'OBJECT' THEN 'multiple choice' ELSE 'open-ended' END AS form,
        count(DISTINCT item.item_id) AS n_items, count(DISTINCT item.cluster_id) AS n_clusters
    FROM raw.item AS item
    INNER JOIN arm.request AS request ON item.item_id = request.item_id
    WHERE request.protocol = 'tool_use'
    GROUP BY item.task, form
    ORDER BY item.task, form
    """,
    rows=("task",),
    cells={"Form": text("form"), "Items": text("n_items"), "Clusters": text("n_clusters")},
)

TABLES: dict[str, PaperTable] = {
    table.name: table
    for table in [
        POLICY,
        TRAJECTORY,
        _veg(3, ""),
        _shares(4, ""),
        _decomposition(5, ""),
        CHECKPOINTS,
        DECODING,
        BENCHMARKS,
        CORRUPTIONS,
        CALLS,
        FORCED,
        PEAKS,
        POSITIONS,
        OPEN,
        _sensitivity(15, "epsilon", "tau_sat = 0.95"),
        _sensitivity(16, "tau_sat", "epsilon = 0.01"),
        _decomposition(17, "", detailed=True),
        _veg(18, "AND task LIKE 'hrbench/%'"),
        _shares(19, "AND task LIKE 'hrbench/%'"),
        _decomposition(20, "AND task LIKE 'hrbench/%'"),
    ]
}
