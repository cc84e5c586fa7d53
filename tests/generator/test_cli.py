"""The writing commands, as a user calls them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    study = {"models": ["sim/honest"], "thinking": [False], "tasks": {"isobench/math_parity": {"source": "synth", "n": 3}}}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump({"studies": {"demo": study}}))
    return tmp_path


def vlmaudit(folder: Path, *arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, str(ROOT / "vlmaudit.py"), *arguments]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_from_a_params_file_to_a_finished_study(project: Path) -> None:
    code, out, err = vlmaudit(project, "doctor")
    assert code == 3
    assert "FAULT  there is no warehouse at data/warehouse.duckdb" in out
    assert vlmaudit(project, "items") == (0, "3 items of isobench/math_parity in data/items\n", "")
    code, out, err = vlmaudit(project, "status", "--cost")
    assert (code, out.splitlines()[-1]) == (0, "18 requests to send, prompt tokens unknown, completion tokens unknown, dollars unknown")
    assert vlmaudit(project, "generate") == (0, "demo: 18 of 18 requests settled, 18 exchanges in this run\n", "")
    assert vlmaudit(project, "generate") == (0, "demo: 18 of 18 requests settled, 0 exchanges in this run\n", "")
    code, out, err = vlmaudit(project, "status")
    assert (code, err, len(out.splitlines())) == (0, "", 2 + 6 + 2)
    assert out.splitlines()[-1] == "demo: 18 of 18 requests done, 0 missing, 0 failed"
    assert vlmaudit(project, "status", "--cost") == (0, "0 requests to send\n", "")
    code, out, err = vlmaudit(project, "doctor")
    assert (code, err, {line[:5] for line in out.splitlines()}) == (0, "", {"ok   "})


def test_generate_makes_the_items_it_needs(project: Path) -> None:
    asked = ("--study", "demo", "--model", "sim/honest", "--shard", "1/2")
    code, out, err = vlmaudit(project, "generate", *asked, "--concurrency", "2")
    assert (code, err) == (0, "made 3 items of isobench/math_parity in data/items\n")
    assert vlmaudit(project, "sql", "SELECT command FROM raw.run", "--format", "csv")[1].splitlines()[1] == (
        " ".join(["vlmaudit generate", *asked])
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("generate", "--study", "x"), 2, "error: there is no study 'x' in params.yaml: it has demo\n"),
        (("generate", "--model", "x"), 2, "error: no chosen study asks x: they ask sim/honest\n"),
        (("generate", "--concurrency", "0"), 2, "error: Invalid value for '--concurrency'"),
        (("generate", "--shard", "3/2"), 2, "error: --shard 3/2: write it as i/n, "),
        (("status", "--shard", "1/2"), 2, "error: --shard goes with --cost: "),
        (("merge", "out.duckdb", "x.duckdb"), 3, "error: no warehouse at x.duckdb: "),
        (("items", "--params", "x.yaml"), 3, "error: there is no file x.yaml: "),
        (("status",), 3, "error: no warehouse at data/warehouse.duckdb: "),
        (("ingest", "x.jsonl"), 3, "error: x.jsonl"),
        (("generate", "--warehouse", "/proc/x/w.duckdb"), 3, "error: cannot write in /proc/x: "),
    ],
)
def test_what_is_wrong_is_one_line_with_a_distinct_code(project: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    found, out, err = vlmaudit(project, *arguments)
    assert (found, out, len(err.splitlines())) == (code, "", 1)
    assert err.startswith(said)
