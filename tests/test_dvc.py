"""The data as a team shares them: pushed to a DVC remote, pulled elsewhere and analysed without a model; links into a cache stay whole."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from analysis import session

ROOT = Path(__file__).resolve().parents[1]
SHARED = ("sql", "analysis", "generator", "vlmaudit.py", "dvc.yaml", ".dvc/config", ".dvcignore", "data/.gitignore", ".gitignore")
PAGE = re.findall(r"```console\n(.*?)```", (ROOT / "docs" / "dvc.md").read_text(encoding="utf-8"), re.DOTALL)
SHARE, FETCH = (re.findall(r"^\$ (.*)$", block, re.MULTILINE) for block in PAGE)  # the page's commands, there and elsewhere
STUDIES = {
    "demo": {"protocol": "modality", "models": ["sim/honest"], "tasks": {"isobench/math_parity": {"source": "synth", "n": 3}}},
    "tool_use": {
        "protocol": "tool_use",
        "models": ["sim/uses"],
        "tasks": {"vstar": {"source": "synth", "n": 1}},
        "arms": ["direct", "tool"],
    },
}


class Checkout:
    """A git checkout of the project, with its own DVC cache, in which this code is what `vlmaudit` runs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.warehouse, self.cache = folder, folder / "data" / "warehouse.duckdb", folder / ".dvc" / "cache"

    def run(self, *command: str, code: int = 0) -> str:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(self.folder), "VLMAUDIT_CACHE": str(self.folder.parent / "views")}
        identity = {f"GIT_{role}_{what}": "test" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(command, cwd=self.folder, env={**environment, **identity}, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def shell(self, command: str) -> str:
        """Run a line as a page of the documentation shows it."""
        words = shlex.split(command)
        programs = {"vlmaudit": (sys.executable, "vlmaudit.py"), "dvc": (sys.executable, "-m", "dvc")}
        return self.run(*programs.get(words[0], (words[0],)), *words[1:])

    def vlmaudit(self, *arguments: str, code: int = 0) -> str:
        return self.run(sys.executable, "vlmaudit.py", *arguments, code=code)

    def dvc(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "dvc", *arguments)

    def describe(self, **studies: dict[str, object]) -> None:
        (self.folder / "params.yaml").write_text(yaml.safe_dump({"studies": STUDIES | studies, "models": {}}))

    def count(self, table: str) -> int:
        with session.open(self.warehouse) as reading:
            return int(reading.fetch(f"SELECT count(*) FROM raw.{table}")[1][0][0])

    def damaged(self) -> list[Path]:
        """The files of the cache that do not hold what their names say."""
        files = [file for file in (self.cache / "files" / "md5").rglob("*") if file.is_file()]
        assert files
        return [
            file for file in files if hashlib.md5(file.read_bytes()).hexdigest() != f"{file.parent.name}{file.name.removesuffix('.dir')}"
        ]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A project whose first two stages were run, and whose data lie in a remote."""
    folder = tmp_path_factory.mktemp("dvc") / "origin"
    for name in SHARED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    own = Checkout(folder)
    # fewer resamples of the bootstrap: what is shared does not depend on them
    parameters = folder / "sql" / "stat" / "parameter.sql"
    parameters.write_text(parameters.read_text().replace("'10000', 'resamples'", "'200', 'resamples'"))
    own.describe()
    own.run("git", "init", "--quiet")
    for command in SHARE:
        own.shell(command)
    return own


@pytest.fixture
def clone(origin: Checkout, tmp_path: Path) -> Iterator[Checkout]:
    """The same project elsewhere, its data not fetched yet."""
    (tmp_path / "clone").mkdir()
    clone = Checkout(tmp_path / "clone")
    clone.shell(FETCH[0].replace("../origin", str(origin.folder)))
    clone.dvc("remote", "modify", "--local", "team", "url", str(origin.folder.parent / "store"))
    yield clone
    shutil.rmtree(tmp_path / "clone")


def test_data_that_were_pulled_are_analysed_without_a_model(origin: Checkout, clone: Checkout) -> None:
    assert not clone.warehouse.exists()
    clone.shell(FETCH[1])
    assert digest(clone.warehouse) == digest(origin.warehouse)
    for room in ("generator/items", "generator/tools", "generator/prompts", "sql/raw"):  # what Python compiles is no change
        (clone.folder / room / "__pycache__").mkdir(exist_ok=True)
        (clone.folder / room / "__pycache__" / "other.cpython-311.pyc").write_bytes(b"compiled")
    said = clone.shell(FETCH[2])
    for stage in ("items", "generate"):
        assert f"Stage '{stage}' didn't change, skipping" in said
    assert "Running stage 'analyze'" in said
    assert (clone.folder / "data" / "results" / "demo" / "metrics.json").exists()
    assert digest(clone.warehouse) == digest(origin.warehouse)
    view = clone.folder / "sql" / "modality" / "prospective_cell.sql"
    view.write_text(f"{view.read_text()}-- a change of the analysis alone\n")
    said = clone.dvc("status")
    assert "analyze" in said
    assert "generate" not in said


@pytest.mark.parametrize("link", ["copy", "hardlink", "symlink"])
def test_writing_after_a_checkout_never_reaches_the_cache(clone: Checkout, link: str) -> None:
    clone.dvc("config", "--local", "cache.type", link)
    clone.dvc("pull", "items", "generate")
    status, before = clone.warehouse.lstat(), (clone.count("completion"), clone.count("rollout"))
    assert (clone.warehouse.is_symlink(), status.st_nlink > 1) == (link == "symlink", link == "hardlink")
    more = {name: study | {"replicates": 2} for name, study in STUDIES.items()}
    more["demo"] |= {"tasks": {"isobench/math_parity": {"source": "synth", "n": 4}}}
    clone.describe(**more)
    clone.vlmaudit("generate")
    clone.vlmaudit("rollout")
    assert clone.count("completion") > before[0]
    assert clone.count("rollout") > before[1]
    assert not clone.warehouse.is_symlink()
    assert clone.warehouse.lstat().st_nlink == 1
    assert clone.damaged() == []
    clone.dvc("commit", "--quiet", "--force", "items", "generate")
    assert clone.damaged() == []


def test_a_log_left_beside_another_version_is_explained(clone: Checkout) -> None:
    clone.dvc("pull", "items", "generate")
    kill = (
        "import os, sys; from pathlib import Path; from generator.warehouse import writer\n"
        "with writer(Path(sys.argv[1])) as opened, opened.writing() as connection:\n"
        "    connection.execute(sys.argv[2]); os._exit(9)"
    )
    command = [sys.executable, "-c", kill, str(clone.warehouse)]
    clone.run(*command, "INSERT INTO raw.run BY NAME SELECT 'first' AS run_id; CHECKPOINT raw", code=9)
    clone.run(*command, "INSERT INTO raw.run BY NAME SELECT 'second' AS run_id", code=9)
    log = clone.warehouse.with_name("warehouse.duckdb.wal")
    assert log.stat().st_size > 0
    clone.dvc("checkout", "--quiet", "--force", "data/warehouse.duckdb")
    said = clone.vlmaudit("doctor", code=3)
    assert f"data/{log.name} does not belong to data/{clone.warehouse.name} as it is now" in said
    assert "move data/warehouse.duckdb.wal away" in said
    assert "`vlmaudit doctor` says more" in clone.vlmaudit("status", code=3)
    log.rename(clone.folder / "away.wal")
    clone.vlmaudit("status")
