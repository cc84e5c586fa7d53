"""A small study through `vlmaudit generate`, which starts the server, uses it and ends it."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.vllm.conftest import Server, members
from tests.vllm.project import Project

STUDY = {
    "models": ["tiny"],
    "tasks": {"isobench/math_parity": {"source": "synth", "n": 2}},
    "max_tokens": 64,
    "concurrency": 8,
}
ENDINGS = {"AB": "usable", "A": "truncated", "B": "repetition"}  # see tiny_model.py


@pytest.fixture(scope="module")
def own(entry: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, "subprocess.CompletedProcess[str]"]:
    """The study, run with a server of its own, which tells reasoning and answer apart."""
    telling = {**entry, "engine_args": {**entry["engine_args"], "reasoning_parser": "qwen3"}}
    project = Project(tmp_path_factory.mktemp("study"), STUDY, telling)
    return project, project.run("generate")


def test_generate_starts_a_server_settles_all_and_ends_it(own: tuple[Project, "subprocess.CompletedProcess[str]"]) -> None:
    project, done = own
    assert (done.returncode, done.stdout) == (0, "small: 24 of 24 requests settled, 24 exchanges in this run\n"), done.stderr
    assert "is healthy after" in done.stderr
    log = (project.folder / "data" / "logs" / "tiny.log").read_text()
    assert "Application startup complete" in log
    (server,) = {int(line.split("pid=")[1].split(")")[0]) for line in log.splitlines() if line.startswith("(APIServer pid=")}
    assert members(server) == []


def test_every_row_says_who_answered(own: tuple[Project, "subprocess.CompletedProcess[str]"]) -> None:
    project, _ = own
    query = "SELECT provider, engine, engine_version, precision, http_status, attempt, count(*) FROM raw.completion GROUP BY ALL"
    assert project.rows(query) == [("vllm", "vllm", "0.32.0", "fp32", 200, 1, 24)]
    assert project.rows("FROM quality.pin") == []
    assert project.rows("FROM quality.drift") == []


def test_calls_end_as_the_model_was_made_to_end_them(own: tuple[Project, "subprocess.CompletedProcess[str]"]) -> None:
    project, _ = own
    query = "SELECT DISTINCT arm, outcome, thinking FROM attrition.outcome ORDER BY ALL"
    assert project.rows(query) == sorted((arm, outcome, thinking) for arm, outcome in ENDINGS.items() for thinking in (False, True))
    query = "SELECT DISTINCT thinking, answer, alone_a, alone_b FROM arm.answer WHERE arm = 'AB' AND template = 'assess' ORDER BY ALL"
    assert project.rows(query) == [(False, "even", "odd", "even"), (True, "even", "odd", "even")]
    query = "SELECT DISTINCT thinking, reasoning_source, reasoning FROM parse.text INNER JOIN raw.completion USING (completion_id)"
    query += " WHERE parse.text.arm = 'AB' ORDER BY ALL"
    assert project.rows(query) == [(False, None, None), (True, "reasoning", " hm")]


def test_a_server_that_runs_already_is_used_and_gives_the_same_answers(
    own: tuple[Project, "subprocess.CompletedProcess[str]"], server: Server, entry: dict[str, Any], tmp_path: Path
) -> None:
    project = Project(tmp_path, STUDY, {**entry, "base_url": server.base_url})
    done = project.run("generate")
    assert (done.returncode, done.stdout) == (0, "small: 24 of 24 requests settled, 24 exchanges in this run\n"), done.stderr
    assert not (tmp_path / "data" / "logs").exists()
    answers = "SELECT thinking, item_id, arm, template, outcome, answer, alone_a, alone_b, with_other FROM arm.answer ORDER BY ALL"
    assert project.rows(answers) == own[0].rows(answers)
    who = "SELECT DISTINCT provider, engine, engine_version, precision FROM raw.completion"
    assert project.rows(who) == own[0].rows(who)
