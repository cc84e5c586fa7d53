"""A real vLLM server on the CPU, and the tiny model that it serves."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = ROOT / ".venv-vllm" / "bin"

# Prints where the server is and its session; lives until it is killed, as a run may be.
OWNER = """
import json, os, sys, time
from pathlib import Path
from generator import models
from generator.serve import Servers
model = models.load(json.loads(sys.argv[1]))["tiny"]
with Servers(Path(sys.argv[2])) as servers:
    at = servers.endpoint(model)
    print(json.dumps({"base_url": at.base_url, "identity": dict(at.identity), "session": servers._own._process.pid}), flush=True)
    time.sleep(3600)
"""


class Server(NamedTuple):
    """A server that runs, and what it said of itself."""

    base_url: str
    identity: dict[str, str]
    model: str


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the model; skips where the environment of vLLM is not there."""
    if not (COMMANDS.parent / "installed").exists():
        pytest.skip("needs vLLM in an environment of its own, 2.5 GB: `make vllm-env` installs it")
    folder = tmp_path_factory.mktemp("tiny-model")
    script = Path(__file__).with_name("tiny_model.py")
    made = subprocess.run([COMMANDS / "python", script, folder], capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="session")
def entry(tiny_model: Path) -> dict[str, Any]:
    """The model's entry, as params.yaml has it."""
    return {
        "serving": "vllm",
        "identifier": str(tiny_model),
        "precision": "fp32",
        "engine_args": {
            "dtype": "float32",
            "max_model_len": 4096,
            "enforce_eager": True,
            "num_gpu_blocks_override": 128,
            "max_logprobs": -1,
        },
        "environment": {
            "PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}",
            "HF_HUB_OFFLINE": "1",
            "TORCHDYNAMO_DISABLE": "1",  # else the first request for log-probabilities compiles for 20 s
            "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
        },
        "startup_s": 600,
    }


@pytest.fixture(scope="session")
def server(entry: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server, started as a run does it. In the end its owner is killed, and it must go too."""
    command = [sys.executable, "-c", OWNER, json.dumps({"tiny": entry}), tmp_path_factory.mktemp("logs")]
    owner = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    said = owner.stdout.readline()
    assert said, "the server did not start"
    told = json.loads(said)
    yield Server(told["base_url"], told["identity"], entry["identifier"])
    assert len(members(told["session"])) > 1  # vLLM's engine is a process of its own
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    deadline = time.monotonic() + 60
    while left := members(told["session"]):
        assert time.monotonic() < deadline, f"the server outlived its run: {left}"
        time.sleep(0.2)


def members(session: int) -> list[int]:
    """The processes of a session that are alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = stat.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(of) == session and state != "Z":
            found.append(int(stat.parent.name))
    return found
