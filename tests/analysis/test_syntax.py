"""What is read of a query's text is kept under the text, and read again where that is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis import syntax

TEXT = "WITH a AS (SELECT x FROM raw.item WHERE y = 'Z') SELECT a.x FROM a CROSS JOIN Arm.Request"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VLMAUDIT_CACHE", str(tmp_path))
    syntax.read.cache_clear()
    return tmp_path / "syntax"


def test_a_query_s_reads_and_texts_are_found() -> None:
    found = syntax.read(TEXT)
    assert sorted(found.mentions) == ["arm.request", "raw.item"]
    assert found.strings == ("Z",)


def test_what_was_read_is_kept_and_the_same(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = syntax.read(TEXT)
    assert len(list(kept.iterdir())) == 1
    syntax.read.cache_clear()
    monkeypatch.setattr(syntax, "_read", lambda text: pytest.fail("it was kept"))
    assert syntax.read(TEXT) == first


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"mentions": 3}', None])
def test_what_is_damaged_is_read_again(kept: Path, damage: str | None) -> None:
    first = syntax.read(TEXT)
    (file,) = kept.iterdir()
    file.unlink() if damage is None else file.write_text(damage)
    syntax.read.cache_clear()
    assert syntax.read(TEXT) == first


def test_another_version_of_sqlglot_reads_for_itself(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    syntax.read(TEXT)
    monkeypatch.setattr(syntax, "engine", lambda: "another")
    syntax.read.cache_clear()
    syntax.read(TEXT)
    assert len(list(kept.iterdir())) == 2


def test_the_remains_of_old_versions_go(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "MOST", 3)
    for number in range(10):
        syntax.read(f"SELECT {number} AS a")
    assert len(list(kept.iterdir())) <= 4


def test_a_folder_that_cannot_be_written_is_done_without(kept: Path) -> None:
    kept.write_text("a file")
    assert syntax.read(TEXT).strings == ("Z",)


@pytest.mark.parametrize("text", ["SELECT 1; SELECT 2", "CREATE TABLE x (i INT)", "SELECT FROM WHERE", ""])
def test_what_is_no_select_is_refused_and_not_kept(kept: Path, text: str) -> None:
    with pytest.raises(ValueError, match="SELECT|parse"):
        syntax.read(text)
    assert not kept.exists()
