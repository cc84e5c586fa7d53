"""What the README shows is what its commands print: each `console` block is run, in order, over the demo study made from params.yaml."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
OMITTED = "…"  # a line of its own in a shown output: lines left out


def commands(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a block with the lines that the README shows under each."""
    found: list[tuple[str, list[str]]] = []
    for line in block.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found[-1][0].count('"') % 2:  # a quoted query goes on over the next line
            found[-1] = (f"{found[-1][0]} {line.strip()}", [])
        else:
            found[-1][1].append(line.rstrip())
    return found


def matches(shown: list[str], printed: str) -> bool:
    """Whether lines are what was printed: OMITTED alone stands for any lines, or none, at the end of a line for its rest."""
    pattern = "\n".join(
        "(?:.*\n)*?.*" if line == OMITTED else re.escape(line.removesuffix(OMITTED)) + (".*" if line.endswith(OMITTED) else "")
        for line in shown
    )
    lines = [line.rstrip() for line in printed.rstrip("\n").split("\n")]
    return not shown or re.fullmatch(pattern, "\n".join(lines)) is not None


SHOWN = [(command, output) for block in BLOCKS for command, output in commands(block) if command.startswith("vlmaudit ")]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the main job's first two stages have been run."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copy(ROOT / "params.yaml", folder)
    for command in ("vlmaudit items", "vlmaudit generate"):
        assert run(command, folder).returncode == 0
    return folder


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, str(ROOT / "vlmaudit.py"), *shlex.split(command)[1:]]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_the_readme_shows_commands() -> None:
    assert len(SHOWN) >= 4


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_the_readme_shows(command: str, output: list[str], demo: Path) -> None:
    done = run(command, demo)
    assert matches(output, done.stdout + done.stderr), done.stdout + done.stderr
    assert output or done.returncode == 0
