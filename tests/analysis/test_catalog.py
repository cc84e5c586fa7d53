"""Fingerprints cover what a view computes and nothing else; versions of `sql/` are git's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analysis import catalog
from analysis.catalog import Catalog, View
from analysis.errors import DataError, UsageError

BASE = """-- grain: one row is a request
WITH asked AS (
    SELECT grid.task, grid.request_key FROM raw.grid AS grid WHERE grid.arm = 'AB'
),
counted AS (
    SELECT asked.task, count(*) AS n FROM asked GROUP BY asked.task
)
SELECT counted.task, counted.n FROM counted WHERE EXISTS (SELECT 1 FROM asked WHERE asked.task = counted.task)
"""


def fingerprint(text: str, **others: str) -> str:
    return Catalog(
        {"x.top": text, **{name.replace("_", "."): other for name, other in others.items()}}, "CREATE TABLE grid (a INT);"
    ).fingerprint("x.top")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-- grain: one row is a request\n", "-- grain: something else\n-- decided: to say more\n"),
        ("count(*) AS n", "count(*)   AS n -- how many\n"),
        ("WITH asked AS (\n", "WITH asked AS ("),
        ("SELECT", "select"),
        ("grid", "GRID"),
        ("AS grid WHERE grid.arm", "AS g WHERE g.arm"),
        ("asked", "asked_for"),
        ("counted", "tally"),
    ],
    ids=["header", "comment", "layout", "keyword case", "name case", "partly renamed alias", "renamed CTE", "another renamed CTE"],
)
def test_what_changes_no_result_changes_no_fingerprint(old: str, new: str) -> None:
    changed = BASE.replace(old, new).replace(
        "SELECT grid.task, grid.request_key FROM raw.grid AS g ", "SELECT g.task, g.request_key FROM raw.grid AS g "
    )
    assert changed != BASE
    assert fingerprint(changed) == fingerprint(BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("'AB'", "'ab'"),
        ("count(*)", "count(DISTINCT request_key)"),
        ("counted.n FROM", "counted.n AS m FROM"),
        ("EXISTS", "NOT EXISTS"),
        ("raw.grid AS grid", "raw.completion AS grid"),
        ("asked.task = counted.task", "asked.task = asked.task"),
    ],
)
def test_what_changes_a_result_changes_the_fingerprint(old: str, new: str) -> None:
    assert fingerprint(BASE.replace(old, new)) != fingerprint(BASE)


def test_swapping_two_sources_changes_the_fingerprint() -> None:
    one = "SELECT p.a FROM raw.t AS p, raw.u AS q WHERE EXISTS (SELECT 1 FROM raw.w AS r WHERE r.a = p.a)"
    other = "SELECT p.a FROM raw.t AS p, raw.u AS q WHERE EXISTS (SELECT 1 FROM raw.w AS r WHERE r.a = q.a)"
    fields = "SELECT s.f.g FROM raw.t AS s, raw.u AS r"
    swapped = "SELECT s.f.g FROM raw.t AS r, raw.u AS s"
    assert len({fingerprint(each) for each in (one, other, fields, swapped)}) == 4


def test_two_ctes_of_one_name_are_told_apart_by_their_names() -> None:
    nested = "WITH a AS (SELECT 1 AS x), b AS (WITH a AS (SELECT 2 AS x) SELECT x FROM a) SELECT a.x, b.x AS y FROM a, b"
    assert fingerprint(nested) != fingerprint(nested.replace("(WITH a AS (SELECT 2 AS x) SELECT x FROM a)", "(SELECT x FROM a)"))


def test_a_changed_dependency_changes_the_fingerprint_and_its_comment_does_not() -> None:
    top = "SELECT * FROM x.below"
    below = "SELECT task FROM raw.grid"
    assert fingerprint(top, x_below=below) == fingerprint(top, x_below=f"-- why\n{below}")
    assert fingerprint(top, x_below=below) != fingerprint(top, x_below=f"{below} WHERE thinking")


def test_a_changed_raw_schema_changes_the_fingerprint() -> None:
    views = {"x.top": BASE}
    assert Catalog(views, "CREATE TABLE grid (a INT);").fingerprint("x.top") != Catalog(views, "CREATE TABLE grid (a TEXT);").fingerprint(
        "x.top"
    )


def test_every_view_of_the_installation_has_its_own_fingerprint() -> None:
    views = catalog.load()
    assert len({views.fingerprint(name) for name in views}) == len(views)


def test_a_header_directive_runs_on_over_the_lines_below_it() -> None:
    view = View("x.a", "-- grain: one row\n-- of two lines\n-- cache: whole\n-- kept because\n-- scans: grid 2,\n-- item 1\nSELECT 1", "")
    assert (view.grain, view.cache, dict(view.scans)) == ("one row of two lines", "whole", {"grid": 2, "item": 1})


@pytest.mark.parametrize("text", ["SELECT 1; SELECT 2", "CREATE TABLE x (i INT)", "SELECT FROM WHERE", ""])
def test_a_file_holds_one_select(text: str) -> None:
    with pytest.raises(DataError, match=r"sql/x/top\.sql"):
        _ = Catalog({"x.top": text}, "").fingerprint("x.top")


def test_an_unknown_view_is_named_with_what_is_near() -> None:
    with pytest.raises(UsageError, match=r"did you mean arm\.request"):
        catalog.load().require("arm.reqest")


def test_reading_what_is_not_there_and_reading_in_a_circle_are_named() -> None:
    with pytest.raises(DataError, match=r"sql/x/top\.sql reads x\.gone"):
        Catalog({"x.top": "SELECT * FROM x.gone"}, "").closure(["x.top"])
    with pytest.raises(DataError, match="circle"):
        Catalog({"x.a": "SELECT * FROM x.b", "x.b": "SELECT * FROM x.a"}, "").closure(["x.a"])


def test_parameters_are_those_the_closure_reads_by_name() -> None:
    views = Catalog(
        {
            "stat.parameter": "SELECT 'a' AS name",
            "x.below": "SELECT value FROM stat.parameter WHERE name = 'parse.rules'",
            "x.top": "SELECT * FROM x.below WHERE value = 'stat.seed'",
        },
        "",
    )
    assert views.parameters("x.top", ["parse.rules", "stat.seed", "study"]) == ["parse.rules"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A git checkout with two versions of one view; the first is tagged `old`."""

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    view = tmp_path / "sql" / "x" / "top.sql"
    view.parent.mkdir(parents=True)
    (tmp_path / "sql" / "raw").mkdir()
    (tmp_path / "sql" / "raw" / "001_tables.sql").write_text("CREATE TABLE grid (a INT);")
    git("init", "-q")
    for text, tag in (("SELECT 1 AS a", "old"), ("SELECT 2 AS a", "new")):
        view.write_text(text)
        git("add", ".")
        git("commit", "-qm", tag)
        git("tag", tag)
    view.write_text("SELECT 3 AS a")
    return tmp_path / "sql"


def test_a_revision_is_read_as_it_stood(checkout: Path) -> None:
    assert catalog.load_revision("old", checkout)["x.top"].text == "SELECT 1 AS a"
    assert catalog.load_revision("HEAD", checkout)["x.top"].text == "SELECT 2 AS a"
    assert catalog.load(checkout)["x.top"].text == "SELECT 3 AS a"
    assert catalog.load_revision("old", checkout).raw_schema == "CREATE TABLE grid (a INT);"


@pytest.mark.parametrize("revision", ["nothing", "--help", "-o/x", "HEAD:sql", ""])
def test_a_revision_that_is_none_is_refused_in_one_line(checkout: Path, revision: str) -> None:
    with pytest.raises(UsageError) as refusal:
        catalog.load_revision(revision, checkout)
    assert len(str(refusal.value).splitlines()) == 1


def test_no_git_checkout_is_no_revision(tmp_path: Path) -> None:
    (tmp_path / "sql").mkdir()
    with pytest.raises(UsageError, match="HEAD"):
        catalog.load_revision("HEAD", tmp_path / "sql")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="missing"):
        catalog.load(tmp_path / "sql")
