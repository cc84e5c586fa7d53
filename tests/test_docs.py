"""Each command on a page of docs/ prints what the page shows, or the page says which hardware it needs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.generator.loopback import serving
from tests.generator.test_hosted import Hosted
from tests.test_dvc import Checkout
from tests.test_readme import ROOT, commands, matches

PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(?P<form>\w*)\n(?P<content>.*?)^```$", re.DOTALL | re.MULTILINE)
ELSEWHERE = {"dvc.md"}  # tests/test_dvc.py runs its commands, in a repository


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """The last line before each block, its language and its content."""
    text = page.read_text(encoding="utf-8")
    return [(text[: found.start()].rstrip().split("\n")[-1], found["form"], found["content"]) for found in BLOCK.finditer(text)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with this code, in which a page's files are written and its commands run."""
    for name in ("sql", "analysis", "generator"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "vlmaudit.py", tmp_path)
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-planted-0123456789abcdef")
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in ELSEWHERE], ids=lambda page: page.stem)
def test_a_page_is_followed_to_the_letter(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, n_commands = Checkout(folder), 0
    with serving(Hosted()) as url:
        monkeypatch.setenv("OPENROUTER_BASE_URL", url)
        for before, form, content in blocks(page):
            if named := re.fullmatch(r"`([\w.]+)`:", before):
                (folder / named[1]).write_text(content, encoding="utf-8")
            elif form == "console":
                for command, output in commands(content):
                    printed = own.shell(command)
                    assert matches(output, printed), f"{command}\n{printed}"
                    n_commands += 1
    assert n_commands >= 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_not_run_says_what_it_needs(page: Path) -> None:
    for before, form, _ in blocks(page):
        assert form == "console" or re.match(r"Needs |`[\w.]+`:$", before), f"{page.name}: {before}"
    assert page.read_text(encoding="utf-8").count("\n```") == 2 * len(blocks(page))


def test_the_readme_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\(docs/([\w.]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert linked == {page.name for page in PAGES}


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
