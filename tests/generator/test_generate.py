"""A study is run to its end through stops and faults: nothing received is lost, nothing is asked twice, no more is spent than allowed."""

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis import session
from analysis.errors import DataError, ProviderError, UsageError
from generator.generate import Options, Result, generate
from generator.subjects import app
from generator.subjects.faults import Faults, at_rate, listed, protocol
from tests.generator.endpoint import Endpoint
from tests.generator.loopback import VirtualClock, serving, wait_until

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("VLMAUDIT_KILLS", "12"))  # 200 for the long run
CONDITIONS = 6  # of an IsoBench task
KEY = "sk-planted-0123456789abcdef"


class Project:
    """A folder with a params file of one study over one task, and a model behind `url`."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.params = folder, folder / "params.yaml"
        self.warehouse, self.data = folder / "data" / "warehouse.duckdb", folder / "data"
        self.study: dict[str, Any] = {
            "models": ["own/one"],
            "tasks": {"isobench/math_parity": {"source": "synth", "n": 4}},
            "concurrency": 4,
            "attempts": 3,
        }
        self.model: dict[str, Any] = {"serving": "vllm", "base_url": url, "precision": "bf16", "thinking": [False]}
        self.models = {"own/one": self.model, "own/two": {**self.model}}
        self.said: list[str] = []

    def write(self) -> None:
        self.params.write_text(yaml.safe_dump({"studies": {"s": self.study}, "models": self.models}))

    def generate(self, *models: str, **options: Any) -> Result:
        self.write()
        chosen = Options(**{"models": models, "say": self.said.append, "clock": VirtualClock(), **options})
        (result,) = generate(self.params, ["s"], self.warehouse, self.data, chosen)
        return result

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with session.open(self.warehouse, {"study": "s"}) as reading:
            return reading.fetch(query)[1]

    def state(self) -> tuple[str, int]:
        return hashlib.sha256(self.warehouse.read_bytes()).hexdigest(), self.warehouse.stat().st_mtime_ns

    def command(self, *arguments: str) -> subprocess.Popen[str]:
        self.write()
        return subprocess.Popen(
            [sys.executable, ROOT / "vlmaudit.py", "generate", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Callable[..., Project]]:
    servers = []

    def start(app: Any) -> Project:
        server = serving(app)
        servers.append(server)
        return Project(tmp_path, server.__enter__())

    yield start
    for server in servers:
        server.__exit__(None, None, None)


# -- an undisturbed run ------------------------------------------------------------------------------------------------------------


def test_each_request_is_asked_once_and_stored_with_who_answered(project: Callable[..., Project]) -> None:
    endpoint = Endpoint()
    own = project(endpoint)
    result = own.generate()
    n = 4 * CONDITIONS
    assert (result.requests, result.settled, result.stored, result.failures) == (n, n, n, [])
    assert endpoint.served.total() == len(endpoint.served) == n
    columns = "model_id, protocol, served_model, prompt_tokens, completion_tokens, cost_usd, http_status, error, attempt, max_tokens"
    assert own.rows(f"SELECT {columns}, count(*) FROM raw.completion GROUP BY ALL") == [
        ("own/one", "modality", "served", 100, 10, None, 200, None, 1, 8192, n)
    ]
    assert own.rows("SELECT count(DISTINCT generation_id), count(DISTINCT run_id), max(latency_s) < 60 FROM raw.completion") == [
        (n, 1, True)
    ]
    assert own.rows("SELECT study, command, packages->>'duckdb' IS NOT NULL, started_at IS NOT NULL FROM raw.run") == [
        ("s", "vlmaudit generate", True, True)
    ]
    assert own.rows("SELECT count(*) FROM raw.item") == [(4,)]
    assert own.rows("SELECT count(*) FROM raw.image") == [(4,)]
    requests = [text for (text,) in own.rows("SELECT request FROM raw.completion")]
    assert sum("sha256:" in text for text in requests) == 4 * 4  # A sends no image
    assert not any("base64" in text for text in requests)
    assert sorted(file.name for file in own.data.iterdir()) == ["images", "items", "warehouse.duckdb", "warehouse.duckdb.lock"]


def test_a_second_run_asks_nothing_and_leaves_the_bytes_alone(project: Callable[..., Project]) -> None:
    endpoint = Endpoint()
    own = project(endpoint)
    own.generate()
    before, served = own.state(), endpoint.served.total()
    assert own.generate().stored == 0
    assert own.state() == before
    assert endpoint.served.total() == served


def test_adding_a_model_asks_it_alone_and_removing_one_moves_only_the_grid(project: Callable[..., Project]) -> None:
    endpoint = Endpoint()
    own = project(endpoint)
    own.generate()
    own.study["models"] = ["own/one", "own/two"]
    assert own.generate().stored == 4 * CONDITIONS
    by_model = "SELECT model_id, count(*) FROM raw.completion GROUP BY ALL ORDER BY ALL"
    assert own.rows(by_model) == [("own/one", 24), ("own/two", 24)]
    own.study["models"] = ["own/two"]
    assert own.generate().stored == 0
    assert own.rows(by_model) == [("own/one", 24), ("own/two", 24)]
    assert own.rows("SELECT model_id, count(*) FROM arm.settled GROUP BY ALL") == [("own/two", 24)]
    assert own.rows("SELECT grid_id[:4], count(*) FROM raw.grid GROUP BY ALL ORDER BY ALL") == [("0001", 24), ("0002", 48), ("0003", 24)]


def test_model_restricts_the_calls_and_not_the_grid(project: Callable[..., Project]) -> None:
    own = project(Endpoint())
    own.study["models"] = ["own/one", "own/two"]
    result = own.generate("own/two")
    assert (result.requests, result.settled) == (24, 24)
    assert own.rows("SELECT model_id, count(*) FILTER (settled), count(*) FROM arm.settled GROUP BY ALL ORDER BY ALL") == [
        ("own/one", 0, 24),
        ("own/two", 24, 24),
    ]
    with pytest.raises(UsageError, match="no chosen study asks own/three: they ask own/one, own/two"):
        own.generate("own/three")


def test_a_study_that_does_not_ask_the_chosen_model_asks_nothing(project: Callable[..., Project]) -> None:
    own = project(Endpoint())
    other = {**own.study, "models": ["own/two"]}
    own.params.write_text(yaml.safe_dump({"studies": {"s": own.study, "other": other}, "models": own.models}))
    results = generate(own.params, [], own.warehouse, own.data, Options(models=("own/two",), say=own.said.append))
    assert {result.study: result.stored for result in results} == {"s": 0, "other": 24}


def test_a_simulated_subject_needs_no_server(tmp_path: Path) -> None:
    own = Project(tmp_path, "http://127.0.0.1:9/v1")
    own.study |= {"models": ["sim/honest"], "thinking": [False]}
    assert own.generate().settled == 24
    assert own.rows("SELECT DISTINCT provider, precision, engine FROM raw.completion") == [("simulated", "exact", "vlmaudit")]


def test_a_study_takes_the_first_n_clusters_where_another_needs_more(project: Callable[..., Project]) -> None:
    own = project(Endpoint())
    more = {**own.study, "tasks": {"isobench/math_parity": {"source": "synth", "n": 6}}}
    own.params.write_text(yaml.safe_dump({"studies": {"s": own.study, "more": more}, "models": own.models}, sort_keys=False))
    results = generate(own.params, [], own.warehouse, own.data, Options(say=own.said.append))
    assert [(result.study, result.stored) for result in results] == [("s", 24), ("more", 12)]
    more["tasks"]["isobench/math_parity"]["seed"] = 1
    own.params.write_text(yaml.safe_dump({"studies": {"s": own.study, "more": more}, "models": own.models}, sort_keys=False))
    with pytest.raises(DataError, match=r"studies\.more\.tasks\.isobench/math_parity: another study reads"):
        generate(own.params, ["s"], own.warehouse, own.data)


# -- faults of the provider --------------------------------------------------------------------------------------------------------


def first_time(status: int, change: dict[str, Any]) -> Endpoint:
    """Every request fails the first time."""
    endpoint = Endpoint()
    endpoint.script = lambda n, digest, body: None if endpoint.served[digest] else (status, change)
    return endpoint


@pytest.mark.parametrize(
    ("status", "change"),
    [(503, {}), (429, {}), (200, {"error": {"code": 502, "message": "x"}, "choices": None}), (200, {"choices": []}), (404, {})],
    ids=["503", "429", "error in a 200", "no choices", "404"],
)
def test_a_fault_that_passes_is_stored_and_asked_again_in_the_same_run(
    project: Callable[..., Project], status: int, change: dict[str, Any]
) -> None:
    own = project(first_time(status, change))
    result = own.generate()
    assert (result.settled, result.stored) == (24, 48)
    assert own.rows("SELECT attempt, http_status, count(*) FROM raw.completion GROUP BY ALL ORDER BY ALL") == [
        (1, status, 24),
        (2, 200, 24),
    ]


@pytest.mark.parametrize(("status", "change"), [(500, {}), (200, {"choices": []}), (400, {})])
def test_a_fault_that_stays_takes_its_attempts_and_is_listed(project: Callable[..., Project], status: int, change: dict[str, Any]) -> None:
    own = project(Endpoint(lambda n, digest, body: (status, change)))
    own.study["attempts"] = 2
    result = own.generate()
    assert (result.settled, result.stored) == (0, 48)
    assert sum(failures.n for failures in result.failures) == 24
    assert re.fullmatch(r"4 failed: own/one isobench/math_parity A assess: .+", str(result.failures[0]))
    assert own.rows("SELECT max(attempt) FROM raw.completion") == [(2,)]
    own.generate()
    assert own.rows("SELECT max(attempt), count(*) FROM raw.completion") == [(4, 96)]


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_refusal_stops_the_run_with_what_came_before_stored(project: Callable[..., Project], status: int) -> None:
    endpoint = Endpoint(lambda n, digest, body: (status, {}) if n >= 10 else None)
    own = project(endpoint)
    with pytest.raises(ProviderError, match=f"answered {status}"):
        own.generate()
    assert own.rows("SELECT count(*) FILTER (http_status = 200) FROM raw.completion") == [(10,)]
    assert endpoint.served.total() <= 10 + 4
    endpoint.script = lambda n, digest, body: None
    assert own.generate().settled == 24


@pytest.mark.parametrize("change", [{"provider": "Elsewhere"}, {"precision": "fp8"}])
def test_a_few_answers_from_somebody_else_stop_the_run(project: Callable[..., Project], change: dict[str, Any]) -> None:
    endpoint = Endpoint(lambda n, digest, body: (200, change))
    own = project(endpoint)
    with pytest.raises(ProviderError, match=r"own/one: (provider 'Elsewhere'|precision 'fp8') answered where '\w+' is pinned, 3 times"):
        own.generate()
    assert 3 <= endpoint.served.total() <= 3 + 4
    assert own.rows("SELECT count(*), count(*) FILTER (settled) FROM arm.settled WHERE attempts > 0") == [(endpoint.served.total(), 0)]


def test_a_missing_key_is_said_before_anything_is_sent(project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint()
    own = project(endpoint)
    own.model |= {"serving": "openrouter", "provider": "Host", "api_key_env": "PLANTED_API_KEY"}
    monkeypatch.delenv("PLANTED_API_KEY", raising=False)
    with pytest.raises(UsageError, match="PLANTED_API_KEY"):
        own.generate()
    assert endpoint.served.total() == 0


def test_a_missing_image_stops_the_run_with_its_name(project: Callable[..., Project]) -> None:
    own = project(Endpoint())
    own.study["tasks"]["isobench/math_parity"]["n"] = 1
    own.generate()
    for image in (own.data / "images").iterdir():
        image.unlink()
    own.study["models"] = ["own/two"]
    with pytest.raises(DataError, match="there is no image .* `vlmaudit items`"):
        own.generate()


def test_the_api_key_is_in_no_file_and_in_nothing_that_is_said(project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint(lambda n, digest, body: (500 if n < 6 else 402 if n > 15 else 200, {"error": f"bad key {KEY}"} if n < 6 else {}))
    own = project(endpoint)
    own.model |= {"serving": "openrouter", "provider": "Host", "api_key_env": "PLANTED_API_KEY"}
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    run = own.command()
    out, err = run.communicate(timeout=120)
    assert run.returncode == ProviderError.exit_code, err
    assert endpoint.keys == {f"Bearer {KEY}"}
    assert KEY not in out + err
    assert [file for file in own.folder.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()] == []
    assert own.rows("SELECT count(*) FROM raw.completion WHERE response LIKE '%***%'") == [(6,)]


def test_under_faults_a_study_ends_with_the_answers_that_it_has_without(tmp_path: Path) -> None:
    answers = "SELECT item_id, arm, template, outcome, answer, alone_a, alone_b, with_other, sufficiency FROM arm.answer ORDER BY ALL"
    clock = VirtualClock()
    faults = Faults(app("mixed", price_usd=1e-5), at_rate(0.4), clock)
    found = []
    for folder, served in (("sound", faults.app), ("faults", faults)):
        with serving(served, http=protocol(), date_header=False) as url:
            own = Project(tmp_path / folder, url)
            own.folder.mkdir()
            own.study |= {"tasks": {"isobench/math_parity": {"source": "synth", "n": 8}}, "cost_ceiling_usd": 1.0}
            own.model |= {"serving": "simulated", "behaviour": "mixed", "provider": "simulated", "precision": "exact"}
            while own.generate(clock=clock).failures:
                pass
        found.append(own.rows(answers))
        assert own.rows("SELECT sum(cost_usd) BETWEEN 0.1 AND 1 FROM raw.completion") == [(True,)]
    assert found[0] == found[1]
    assert sum(row.kind != "sound" for row in faults.log) >= 10
    assert list(faults.too_early()) == []
    assert own.rows("SELECT count(*) FROM raw.completion") == [(len(faults.log),)]


def test_a_wait_that_the_server_asks_for_holds_in_the_next_pass(tmp_path: Path) -> None:
    clock = VirtualClock()
    faults = Faults(app("honest"), listed(["no_choices", *["sound"] * 22, "rate_limit", "rate_limit"]), clock, wait_s=30.0)
    with serving(faults, http=protocol(), date_header=False) as url:
        own = Project(tmp_path, url)
        own.study |= {"attempts": 2, "concurrency": 1}
        own.model |= {"serving": "simulated", "behaviour": "honest", "provider": "simulated", "precision": "exact"}
        assert own.generate(clock=clock).settled == 23
    refused, again = faults.log[24:]
    assert (refused.kind, again.kind) == ("rate_limit", "sound")
    assert refused.not_before is not None
    assert again.at >= refused.not_before - 0.001


def test_a_server_that_dies_in_mid_study_leaves_its_requests_to_the_others(tmp_path: Path) -> None:
    ends = ExitStack()

    def die(n: int, digest: str, body: dict[str, Any]) -> None:
        if n == 5:
            threading.Thread(target=ends.close).start()

    dying, living = Endpoint(die, delay=0.02), Endpoint(delay=0.02)
    with ends, serving(living) as url:
        own = Project(tmp_path, url)
        own.model["base_url"] = [ends.enter_context(serving(dying)), url]
        result = own.generate()
    assert (result.settled, result.failures) == (4 * CONDITIONS, [])
    assert 5 <= dying.served.total() < result.stored - living.answered + 6
    assert own.rows("SELECT count(*) FROM raw.completion WHERE http_status IS NULL")[0][0] >= 1


# -- money -------------------------------------------------------------------------------------------------------------------------


def test_the_cost_ceiling_holds_across_requests_in_flight_and_resumes(
    project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    price = random.Random(1)
    endpoint = Endpoint(delay=0.01)
    endpoint.script = lambda n, digest, body: (
        200,
        {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": price.uniform(0.5, 1.5)}, "provider": "Host"},
    )
    own = project(endpoint)
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    own.model |= {"serving": "openrouter", "provider": "Host", "api_key_env": "PLANTED_API_KEY"}
    own.study |= {"cost_ceiling_usd": 10.0, "concurrency": 8, "tasks": {"isobench/math_parity": {"source": "synth", "n": 6}}}
    for ceiling, least in ((10.0, 6.0), (10.0, 6.0), (20.0, 16.0)):
        own.study["cost_ceiling_usd"] = ceiling
        with pytest.raises(ProviderError, match=rf"study s has spent \$[\d.]+, and its ceiling of \${ceiling:g} has no room"):
            own.generate()
        ((spent,),) = own.rows("SELECT sum(cost_usd) FROM raw.completion")
        assert least <= spent <= ceiling
    own.study["cost_ceiling_usd"] = 1000.0
    assert own.generate().settled == 36
    assert endpoint.served.total() == 36


def test_a_ceiling_is_no_hindrance_to_what_costs_nothing(project: Callable[..., Project]) -> None:
    own = project(Endpoint())
    own.study["cost_ceiling_usd"] = 1.0
    assert own.generate().settled == 24


def test_a_ceiling_does_not_keep_a_halted_run_from_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Project(tmp_path, "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    own.model |= {"serving": "openrouter", "provider": "Host", "api_key_env": "PLANTED_API_KEY"}
    own.study |= {"cost_ceiling_usd": 1.0, "attempts": 5, "concurrency": 1}
    with pytest.raises(ProviderError, match="does not answer"):
        own.generate()


def test_a_ceiling_over_a_host_that_names_no_cost_is_refused(project: Callable[..., Project], monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint()
    own = project(endpoint)
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    own.model |= {"serving": "openrouter", "provider": "Host", "api_key_env": "PLANTED_API_KEY"}
    own.study["cost_ceiling_usd"] = 1.0
    with pytest.raises(ProviderError, match="own/one does not say what an answer costs"):
        own.generate()
    assert endpoint.served.total() == 1


# -- stops -------------------------------------------------------------------------------------------------------------------------

TEXTS = "SELECT request_key, attempt, regexp_extract(response, 'request \\w+') FROM raw.completion ORDER BY ALL"


def test_killed_at_any_moment_a_run_loses_no_response_and_doubles_none(project: Callable[..., Project], tmp_path: Path) -> None:
    moments = random.Random(0)
    concurrency, n = 4, max(20, 2 * KILLS)
    endpoint = Endpoint(delay=0.005)
    own = project(endpoint)
    own.study |= {"concurrency": concurrency, "tasks": {"isobench/math_parity": {"source": "synth", "n": n}}}
    kills = 0
    for _ in range(KILLS):
        last = endpoint.answered + moments.randint(1, 10)
        run = own.command()
        wait_until(lambda last=last: endpoint.answered >= last, run)  # type: ignore[misc]
        kills += run.poll() is None
        run.kill()
        run.communicate()
    run = own.command()
    out, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    rows = own.rows(TEXTS)
    assert kills > KILLS / 2
    assert len(rows) == n * CONDITIONS == len({key for key, _, _ in rows})
    assert endpoint.served.total() <= len(rows) + kills * concurrency
    assert own.rows("SELECT count(*) = count(DISTINCT generation_id) FROM raw.completion") == [(True,)]
    assert sorted(file.name for file in own.data.iterdir()) == ["images", "items", "warehouse.duckdb", "warehouse.duckdb.lock"]
    undisturbed = Project(tmp_path / "again", own.model["base_url"])
    undisturbed.folder.mkdir()
    undisturbed.study = own.study
    undisturbed.generate()
    assert undisturbed.rows(TEXTS) == rows


def test_ctrl_c_stores_what_has_arrived_and_says_how_to_go_on(project: Callable[..., Project]) -> None:
    endpoint = Endpoint(delay=0.1)
    own = project(endpoint)
    run = own.command()
    wait_until(lambda: endpoint.answered >= 9, run)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert err.splitlines()[-2:] == ["all that was received is stored; the same command goes on from here", "error: stopped"]
    assert "Traceback" not in err
    assert own.rows("SELECT count(*) FROM raw.completion") == [(endpoint.answered,)]
    assert not own.warehouse.with_name("warehouse.duckdb.journal").exists()
    assert own.generate().settled == 24
    assert endpoint.served.total() <= 24 + 4


def test_a_reader_sees_rows_while_the_run_goes_on_and_never_stops_it(project: Callable[..., Project]) -> None:
    endpoint = Endpoint(delay=0.3)
    own = project(endpoint)
    own.study["concurrency"] = 1
    run = own.command()
    counts = set()
    while run.poll() is None:
        if own.warehouse.exists() and endpoint.answered:
            counts |= set(own.rows("SELECT count(*) FROM raw.completion"))
        time.sleep(0.05)
    out, err = run.communicate()
    assert run.returncode == 0, err
    assert len(counts) > 3
    assert "24 of 24 requests settled" in out


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--study", "x"], "error: there is no study 'x' in params.yaml: it has s", 2),
        (["--params", "none.yaml"], "error: there is no file none.yaml: run in the project's folder, or name the file", 3),
        (["--warehouse", "params.yaml/w.duckdb"], "error: cannot write in params.yaml: ", 3),
    ],
)
def test_a_user_error_is_one_line(tmp_path: Path, arguments: list[str], said: str, code: int) -> None:
    run = Project(tmp_path, "http://127.0.0.1:9/v1").command(*arguments)
    _, err = run.communicate(timeout=60)
    assert run.returncode == code
    assert err.startswith(said)
    assert len(err.splitlines()) == 1
