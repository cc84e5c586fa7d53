"""A small study of tool use through `vlmaudit rollout` on a real server: the tool is called, checkpoints are read, the views find them."""

import json
import math
from pathlib import Path
from typing import Any

import httpx
import pytest

from generator import conversation
from generator.pictures import Pictures
from tests.vllm.conftest import Server
from tests.vllm.project import Project

STUDY = {
    "protocol": "tool_use",
    "models": ["tiny"],
    "tasks": {"vstar": {"source": "synth", "n": 2}},
    "thinking": [False],
    "arms": ["direct", "tool", "random_crop"],
    "max_calls": 3,
    "max_tokens": 64,
    "concurrency": 4,
}
PROBES = 5  # before, real, three counterfactual


@pytest.fixture(scope="module")
def own(entry: dict[str, Any], server: Server, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("rollouts"), STUDY, {**entry, "base_url": server.base_url, "interface": "qwen3_vl"})
    done = project.run("rollout")
    assert (done.returncode, done.stdout.split(",")[0]) == (0, "small: 6 of 6 rollouts settled"), done.stdout + done.stderr
    return project


def test_the_tool_is_called_once_and_an_answer_follows(own: Project) -> None:
    query = "SELECT arm, n_calls, end_reason, answer, count(*) FROM tooluse.rollout GROUP BY ALL ORDER BY ALL"
    assert own.rows(query) == [("direct", 0, "answer", "A", 2), ("random_crop", 1, "answer", "A", 2), ("tool", 1, "answer", "A", 2)]
    query = "SELECT kind, draw > 0, count(*), count(DISTINCT image_sha256), count(error) FROM raw.observation GROUP BY ALL ORDER BY ALL"
    assert own.rows(query) == [("random_crop", False, 2, 2, 0), ("random_crop", True, 6, 6, 0), ("real", False, 2, 2, 0)]


def test_turns_and_probes_say_who_answered(own: Project) -> None:
    who = "provider, engine_version, precision, http_status, count(*)"
    assert own.rows(f"SELECT {who}, any_value(engine) FROM raw.completion GROUP BY ALL") == [("vllm", "0.32.0", "fp32", 200, 10, "vllm")]
    assert own.rows(f"SELECT {who} FROM raw.probe GROUP BY ALL") == [("vllm", "0.32.0", "fp32", 200, 2 * PROBES)]


def test_gaps_are_those_of_the_full_vocabularys_soft_max(own: Project, server: Server) -> None:
    gaps = own.rows(
        """
        SELECT read.gap, read.mass, probe.request, probe.options, item.gold ->> '$'
        FROM tooluse.probe AS read
        INNER JOIN raw.probe AS probe USING (rollout_id, turn, call_index, stage, draw)
        INNER JOIN tooluse.finished AS finished USING (rollout_id)
        INNER JOIN raw.item AS item USING (item_id)
        """
    )
    assert len(gaps) == 2 * PROBES
    for gap, mass, request, options, gold in gaps:
        full = full_vocabulary(server, json.loads(request), own.data)
        weights = {label: math.exp(full[f"token_id:{token}"]) for label, (token,) in json.loads(options).items()}
        total = math.fsum(weights.values())
        wrong = max(weight for label, weight in weights.items() if label != gold)
        assert (gap, mass) == (pytest.approx((weights[gold] - wrong) / total, abs=1e-4), pytest.approx(total, rel=1e-3))


def full_vocabulary(server: Server, stored: dict[str, Any], data: Path) -> dict[str, float]:
    """The log-probability of every token where a stored probe read those of its options."""
    body = json.loads(conversation.sent(stored, Pictures(data)))
    del body["logprob_token_ids"]
    reply = httpx.post(f"{server.base_url}/chat/completions", json={**body, "top_logprobs": -1}, timeout=60).json()
    return {each["token"]: each["logprob"] for each in reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]}
