"""Every cell of the tool-use views against a computation in plain Python from the raw rows, to 1e-12.

The rollouts are made up with several seeds; then much of what happens in the field is done to them: tool errors, retries of rollouts and of
probes, provider faults, labels of several tokens, sampled options, lost probes and rollouts that broke off.
"""

import json
import math
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis import session
from generator.ingest import ingest
from tests.independent.rollout_measures import VIEWS, difference, item_means
from tests.independent.rollouts import Rollouts, Row

STUDIES = {
    "default": ("--seed 1 --items 40", False),
    "faultless": ("--seed 2 --items 30 --faults 0", False),
    "all probed": ("--seed 3 --items 25 --replicates 3 --probe-all 1 --faults 0.05", False),
    "spoilt": ("--seed 4 --items 40 --replicates 3 --probe-all 1", True),
    "spoilt again": ("--seed 5 --items 40 --models 4 --probe-all 1 --faults 0", True),
}
SETTINGS: list[tuple[str, Mapping[str, str]]] = [
    *((study, {}) for study in STUDIES),
    ("spoilt", {"arm.replicate": "1"}),
    ("spoilt", {"tooluse.calls": "all"}),
    ("spoilt", {"tooluse.hit_max_first": "true"}),
    ("all probed", {"tooluse.tau_sat": "0.6", "tooluse.epsilon": "0.2"}),
    ("all probed", {"arm.replicate": "7"}),
]
KEYS = ("model_id", "thinking", "task", "item_id", "rollout_id", "turn", "call_index", "arm", "template", "position", "mode", "tau_sat")
MORE_KEYS = ("epsilon", "base_model_id", "base_thinking", "quantity")


@pytest.fixture(scope="module")
def made(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Row], Path]]:
    """The rows of each study, and the warehouse that holds them."""
    folder = tmp_path_factory.mktemp("made")
    studies = {}
    for number, (name, (options, is_spoilt)) in enumerate(STUDIES.items()):
        file, warehouse = folder / f"study_{number}.jsonl", folder / f"{number}.duckdb"
        subprocess.run([sys.executable, str(shared / "reference" / "make_rollouts.py"), str(file), *options.split()], check=True)
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        if is_spoilt:
            rows = list(spoilt(rows, random.Random(number)))
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        assert not ingest(file, warehouse).refused
        studies[name] = rows, warehouse
    return studies


def spoilt(rows: list[Row], rng: random.Random) -> Iterator[Row]:
    """The same rows after much of what happens in the field."""
    again = {row["rollout_id"] for row in rows if row["table"] == "rollout" and rng.random() < 0.1}
    for row in rows:
        yield from _SPOIL[row["table"]](row, rng)
        if row.get("rollout_id") in again:  # a later attempt under a new id: cut short, so that it differs
            if row["table"] == "rollout":
                yield {**row, "rollout_id": f"again/{row['rollout_id']}", "attempt": 2, "end_reason": rng.choice(["answer", "error"])}
            elif row.get("turn", 9) <= 2:
                yield {**row, "rollout_id": f"again/{row['rollout_id']}"}


def _rollout(row: Row, rng: random.Random) -> Iterator[Row]:
    chance = rng.random()
    if chance > 0.02:  # else it never finished, and no view may show it
        yield {**row, "end_reason": "error"} if chance < 0.06 else row


def _completion(row: Row, rng: random.Random) -> Iterator[Row]:
    said = (
        r"so \boxed{\text{C}} or rather <think>hm</think> \boxed{{a}}\boxed{B",
        "<answer>B. blue</answer>\\boxed{A}",
        "<answer>blue!</answer>",
    )
    if rng.random() < 0.1:
        yield {**row, "response": {"choices": [{"message": {"content": rng.choice(said)}}]}}
    else:
        yield row
    if rng.random() < 0.02:
        yield {
            **row,
            "attempt": 2,
            "response": rng.choice([{"choices": []}, {"choices": [{"message": {"content": "<answer> (d) \n</answer>"}}]}]),
        }


def _observation(row: Row, rng: random.Random) -> Iterator[Row]:
    yield {**row, "error": "zero_area"} if rng.random() < 0.08 else row


def _probe(row: Row, rng: random.Random) -> Iterator[Row]:
    chance = rng.random()
    if chance < 0.01:
        return
    if chance < 0.03:
        yield {**row, "http_status": 503, "response": "<html>busy</html>"}
        yield {**row, "attempt": 2}
    elif chance < 0.04:
        yield row
        yield {**row, "attempt": 2, "error": {"kind": "timeout"}, "http_status": None, "response": None}
    else:
        yield _reread(row, rng)


def _reread(row: Row, rng: random.Random) -> Row:
    """The same reading in another of the forms that servers give it."""
    first = row["response"]["choices"][0]["logprobs"]["content"][0]
    top = [dict(entry) for entry in first["top_logprobs"] if entry["token"] != first["token"]]
    chance = rng.random()
    if chance < 0.2:  # the sampled token is an option, stands first and is not repeated
        sampled = top.pop(rng.randrange(len(top)))
        return _reply(row, {**sampled, "top_logprobs": top})
    if chance < 0.4:  # a label of two tokens
        top.append({"token": "token_id:97", "logprob": rng.uniform(-9, -1)})
        return {**_reply(row, {**first, "top_logprobs": top}), "options": {**row["options"], "A": [39, 97]}}
    if chance < 0.43:
        top[rng.randrange(len(top))]["logprob"] = rng.choice([float("nan"), float("-inf"), None, -9999.0])
    if chance < 0.6:  # so unlikely that exp() alone would give 0
        top = [{**entry, "logprob": None if entry["logprob"] is None else entry["logprob"] - 300} for entry in top]
    return _reply(row, {**first, "top_logprobs": top})


def _reply(row: Row, first: dict[str, Any]) -> Row:
    return {**row, "response": {"choices": [{"message": {"content": "?"}, "logprobs": {"content": [first]}}]}}


_SPOIL = {"rollout": _rollout, "completion": _completion, "observation": _observation, "probe": _probe}


@pytest.mark.parametrize(("study", "settings"), SETTINGS, ids=lambda value: value if isinstance(value, str) else json.dumps(value))
def test_every_cell_of_every_view_is_what_plain_python_computes(
    made: dict[str, tuple[list[Row], Path]], study: str, settings: Mapping[str, str]
) -> None:
    rows, warehouse = made[study]
    oracle = Rollouts(rows, settings)
    with session.open(warehouse, {**settings, "stat.resamples": "100"}) as opened:
        wrong = {view: list(_differences(opened.rows(f"SELECT * FROM {view}"), list(VIEWS[view](oracle)))) for view in VIEWS}
    assert not {view: (len(found), found[:3]) for view, found in wrong.items() if found}


@pytest.mark.parametrize("study", STUDIES)
def test_contributions_add_up_to_the_effect_at_every_threshold(made: dict[str, tuple[list[Row], Path]], study: str) -> None:
    with session.open(made[study][1], {"stat.resamples": "100"}) as opened:
        sums = opened.rows(
            "SELECT model_id, sum(contribution) AS total, sum(share) AS share, max(parts.ate) AS ate, max(effect.ate) AS effect "
            "FROM tooluse.threshold_sensitivity AS parts "
            "INNER JOIN tooluse.policy_effect AS effect USING (model_id, thinking, task) GROUP BY model_id, tau_sat, epsilon"
        )
    assert len(sums) == 8 * len({row["model_id"] for row in sums})
    assert all(abs(row["total"] - row["ate"]) < 1e-12 and abs(row["ate"] - row["effect"]) < 1e-12 for row in sums)
    assert all(abs(row["share"] - 1) < 1e-12 for row in sums)


def test_thresholds_move_simulated_rollouts_one_way(made: dict[str, tuple[list[Row], Path]]) -> None:
    moved: dict[str, set[tuple[str, str]]] = {"epsilon": set(), "tau": set()}
    for _, warehouse in made.values():
        with session.open(warehouse) as opened:
            rows = opened.rows("SELECT rollout_id, tau_sat, epsilon, mode FROM tooluse.grouped WHERE mode IS NOT NULL")
        mode = {(row["rollout_id"], row["tau_sat"], row["epsilon"]): row["mode"] for row in rows}
        for rollout_id in {row["rollout_id"] for row in rows}:
            by_epsilon = [mode.get((rollout_id, 0.95, epsilon)) for epsilon in (0.005, 0.01, 0.02, 0.05)]
            by_tau = [mode.get((rollout_id, tau, 0.01)) for tau in (0.8, 0.9, 0.95, 0.97, 0.99)]
            for name, modes in (("epsilon", by_epsilon), ("tau", by_tau)):
                moved[name] |= {(one, other) for one, other in pairwise(modes) if one and other and one != other}
    assert {other for _, other in moved["epsilon"]} == {"cwl"}
    assert moved["tau"]
    assert not any(other == "cwl" or one == "calibrated" for one, other in moved["tau"])


INTERVALS = (
    "policy_effect",
    "trajectory_effect",
    "veg_summary",
    "veg_position",
    "veg_trajectory",
    "poer",
    "mode_share",
    "decomposition",
    "threshold_sensitivity",
    "comparison",
)


@pytest.mark.parametrize("view", INTERVALS)
def test_a_figure_lies_within_its_interval(made: dict[str, tuple[list[Row], Path]], view: str) -> None:
    with session.open(made["default"][1], {"stat.resamples": "1000"}) as opened:
        rows = opened.rows(f"SELECT * FROM tooluse.{view}")
    ends = [(row[f"{name}_low"], row[name], row[f"{name}_high"]) for row in rows for name in row if f"{name}_low" in row]
    known = [(low, figure, high) for low, figure, high in ends if low is not None]
    assert len(known) > len(ends) / 4
    assert all(low - 1e-12 <= figure <= high + 1e-12 and low < high for low, figure, high in known)


P = 2**31 - 1


def draws(n: int, resamples: int) -> np.ndarray[Any, Any]:
    """How often each of n clusters is drawn, one row a resample: the draws that `stat.weight` declares, at seed 0."""
    starts = [pow(resample * 1597334677 % P, 5, P) for resample in range(resamples)]
    drawn = [[pow((start + i * 747796405 + 1) % P, 5, P) % n for i in range(n)] for start in starts]
    return np.array([np.bincount(row, minlength=n) for row in drawn], dtype=float)


def ends(weights: np.ndarray[Any, Any], by_cluster: Mapping[str, list[float]], clusters: list[str]) -> tuple[float, float]:
    """The percentile interval of the mean of all values, from resampled clusters."""
    sums = weights @ np.array([[math.fsum(by_cluster.get(cluster, [])), len(by_cluster.get(cluster, []))] for cluster in clusters])
    low, high = np.quantile([total / n for total, n in sums if n], [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize("study", ["default", "spoilt", "spoilt again"])
def test_intervals_are_those_of_the_declared_draws(made: dict[str, tuple[list[Row], Path]], study: str) -> None:
    rows, warehouse = made[study]
    oracle = Rollouts(rows)
    clusters = sorted({item["cluster_id"] for item in oracle.items.values()})
    weights = draws(len(clusters), 400)
    wanted: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for call in oracle.calls:
        if (call["arm"], call["replicate"]) == ("tool", 0) and call["veg"] is not None:
            wanted["veg_summary", "veg", call["model_id"]][call["cluster_id"]].append(call["veg"])
            wanted["veg_summary", "substantial", call["model_id"]][call["cluster_id"]].append(float(abs(call["veg"]) > 0.1))
    tool, direct = (item_means(oracle, arm, "free") for arm in ("tool", "direct"))
    for key in tool.keys() & direct.keys():
        cluster = oracle.items[key[3]]["cluster_id"]
        wanted["policy_effect", "ate", key[0]][cluster].append(tool[key] - direct[key])
        wanted["policy_effect", "accuracy_tool", key[0]][cluster].append(tool[key])
    with session.open(warehouse, {"stat.resamples": "400"}) as opened:
        got = {
            (view, row["model_id"]): row
            for view in ("veg_summary", "policy_effect")
            for row in opened.rows(f"SELECT * FROM tooluse.{view}")
        }
    for (view, column, model), by_cluster in wanted.items():
        row = got[view, model]
        assert (row[f"{column}_low"], row[f"{column}_high"]) == pytest.approx(ends(weights, by_cluster, clusters), abs=1e-12)


def _differences(got: list[Row], expected: list[Row]) -> Iterator[str]:
    """Where rows of one key differ; columns that only the view has (intervals, costs, reasons) are not looked at."""
    keys = [name for name in (*KEYS, *MORE_KEYS) if expected and name in expected[0]]
    mine = {tuple(row[name] for name in keys): row for row in got}
    theirs = {tuple(row[name] for name in keys): row for row in expected}
    if len(mine) != len(got) or len(theirs) != len(expected) or mine.keys() != theirs.keys():
        yield f"{len(got)} rows for {len(expected)}, unlike: {sorted(map(str, mine.keys() ^ theirs.keys()))[:2]}"
        return
    for key, row in theirs.items():
        if wrong := {name: (mine[key][name], value) for name, value in row.items() if not _equal(mine[key][name], value)}:
            yield f"{wrong} in {key}"


def _equal(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, float) or (isinstance(theirs, float) and mine is not None):
        return difference(mine, theirs) < 1e-12
    return bool(mine == theirs)
