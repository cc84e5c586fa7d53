"""Whatever the cache holds, and whatever has changed since, a view says what it would say without one."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis import cache, catalog
from analysis import kept as kept_things
from analysis.cache import Cache
from analysis.catalog import Catalog
from analysis.session import Session, attach
from tests.analysis.conftest import ENVIRONMENT, body, write_study

RAW_SCHEMA = catalog.load().raw_schema
VIEWS = {
    "stat.parameter": """
        SELECT name, value, unit, note
        FROM (VALUES ('study', NULL, 'name', ''), ('x.word', 'even', 'text', ''), ('x.seed', '0', 'integer', ''))
            AS parameter (name, value, unit, note)
    """,
    "x.text": "SELECT completion_id, request_key, item_id, arm, response FROM raw.completion",
    "x.field": """-- cache: incremental by completion_id
        WITH pin AS (SELECT DISTINCT request_key, pin_provider FROM raw.grid WHERE pin_provider IS NOT NULL)
        SELECT
            text.completion_id, field.name AS field, contains(text.response, word.value) AND pin.pin_provider IS NULL AS ok,
            length(text.response)::HUGEINT AS size, item.gold
        FROM x.text AS text
        CROSS JOIN (VALUES ('answer'), ('report')) AS field (name)
        CROSS JOIN (SELECT value FROM stat.parameter WHERE name = 'x.word') AS word
        LEFT JOIN raw.item AS item ON text.item_id = item.item_id
        LEFT JOIN pin ON text.request_key = pin.request_key
        WHERE text.response IS NOT NULL
    """,
    "x.ending": "-- cache: incremental by completion_id\nSELECT completion_id, response IS NULL AS failed FROM x.text",
    "x.cluster": """-- cache: whole
        SELECT DISTINCT item.cluster_id FROM raw.grid AS grid INNER JOIN raw.item AS item ON grid.item_id = item.item_id
    """,
    "x.weight": """-- cache: whole
        SELECT cluster_id, md5(cluster_id || (SELECT value FROM stat.parameter WHERE name = 'x.seed')) AS weight FROM x.cluster
    """,
    "x.answer": """-- cache: whole
        SELECT completion.item_id, completion.arm, field.field, field.ok, ending.failed
        FROM raw.completion AS completion
        INNER JOIN x.ending AS ending ON completion.completion_id = ending.completion_id
        LEFT JOIN x.field AS field ON completion.completion_id = field.completion_id
    """,
    "x.cell": "SELECT arm, field, count(*) FILTER (WHERE ok) AS n_ok, count(*) AS n FROM x.answer GROUP BY ALL",
}
MINIATURE = Catalog(VIEWS, RAW_SCHEMA)
WATCHED = ["x.field", "x.ending", "x.weight", "x.answer", "x.cell"]
REAL = ["parse.field", "attrition.ending", "arm.item", "stat.weight", "modality.prospective_cell"]
Rows = dict[str, list[tuple[Any, ...]]]
FIRST = "(SELECT min(completion_id) FROM completion)"


class Recorded(Session):
    """A session that says which cached views it had to compute, and for how many completions alone."""

    def __init__(self, *arguments: Any) -> None:
        self.computed: list[str] = []
        super().__init__(*arguments)

    def _create(self, name: str, as_table: bool) -> None:
        if as_table and name != "stat.parameter":
            self.computed.append(name)
        super()._create(name, as_table)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@contextmanager
def opened(warehouse: Path, kept: Path | None, settings: dict[str, str] | None = None, views: Catalog | None = None) -> Iterator[Recorded]:
    with duckdb.connect(config={"python_enable_replacements": False}) as connection:
        attach(connection, warehouse)
        held = Cache(kept, warehouse) if kept else None
        yield Recorded(connection, views or MINIATURE, settings or {}, held)
        if held:
            held.close()


def read(reading: Session) -> Rows:
    names = WATCHED if "x.cell" in reading.catalog else REAL
    rows = {name: reading.fetch(f"SELECT * FROM {name} ORDER BY ALL")[1] for name in names}
    return rows | {f"types of {name}": reading.fetch(f"DESCRIBE {name}")[1] for name in names}


def agree(warehouse: Path, kept: Path, settings: dict[str, str] | None = None, views: Catalog | None = None) -> list[str]:
    """Check that a session with the cache says what one without it says; the views that it had to compute."""
    with opened(warehouse, None, settings, views) as plain:
        wanted = read(plain)
    with opened(warehouse, kept, settings, views) as cached:
        assert read(cached) == wanted
        return cached.computed


def edit(warehouse: Path, *statements: str) -> None:
    with duckdb.connect(str(warehouse)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_what_was_computed_once_is_not_computed_again(warehouse: Path, kept: Path) -> None:
    assert set(agree(warehouse, kept)) == {"x.field", "x.ending", "x.cluster", "x.weight", "x.answer"}
    assert agree(warehouse, kept) == []


def test_a_kept_view_is_taken_without_those_it_reads(warehouse: Path, kept: Path) -> None:
    agree(warehouse, kept)
    with opened(warehouse, kept) as cached:
        cached.need("x.cell", "x.weight")
        assert cached._created == {"stat.parameter", "x.cell", "x.answer", "x.weight"}


CHANGES = {
    "a body edited": f"UPDATE completion SET response = replace(response, 'even', 'odd') WHERE completion_id = {FIRST}",
    "every body edited": "UPDATE completion SET response = replace(response, 'even', 'odd')",
    "a body emptied": f"UPDATE completion SET response = NULL WHERE completion_id = {FIRST}",
    "a call deleted": f"DELETE FROM completion WHERE completion_id = {FIRST}",
    "most calls deleted": "DELETE FROM completion WHERE arm <> 'AB'",
    "all calls deleted": "DELETE FROM completion",
    "an item's gold edited": "UPDATE item SET gold = '\"odd\"' WHERE item_id = (SELECT min(item_id) FROM item)",
    "a pin added": "UPDATE grid SET pin_provider = 'elsewhere' WHERE request_key = (SELECT min(request_key) FROM grid)",
    "an id moved": f"UPDATE completion SET completion_id = 'moved' WHERE completion_id = {FIRST}",
    "an id doubled": f"INSERT INTO completion SELECT * FROM completion WHERE completion_id = {FIRST}",
    "a later attempt": f"""
        INSERT INTO completion BY NAME
        SELECT * REPLACE (2 AS attempt, completion_id || 'x' AS completion_id, 'no body' AS response) FROM completion
        WHERE completion_id = {FIRST}
    """,
    "a cell no longer asked for": "DELETE FROM grid WHERE arm = 'B'",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_warehouse_is_read_as_it_is(warehouse: Path, kept: Path, change: str) -> None:
    agree(warehouse, kept)
    edit(warehouse, CHANGES[change])
    agree(warehouse, kept)
    assert agree(warehouse, kept) == (["x.field", "x.ending"] if change == "an id doubled" else [])


@pytest.mark.parametrize("change", ["a body edited", "a pin added", "an item's gold edited", "a later attempt"])
def test_the_views_that_are_kept_keep_their_promise(warehouse: Path, kept: Path, change: str) -> None:
    settings = {"stat.resamples": "20"}
    agree(warehouse, kept, settings, catalog.load())
    edit(warehouse, CHANGES[change])
    computed = agree(warehouse, kept, settings, catalog.load())
    assert not {"parse.field", "attrition.ending", "stat.weight"} & set(computed)


def test_only_new_and_changed_completions_are_read_again(warehouse: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(warehouse, kept)
    read_again: list[int] = []
    elsewhere = Cache._elsewhere

    def recorded(self: Cache, session: Session, name: str, places: list[int]) -> Session:
        read_again.append(len(places))
        return elsewhere(self, session, name, places)

    monkeypatch.setattr(Cache, "_elsewhere", recorded)
    with duckdb.connect(str(warehouse)) as connection:
        write_study(connection, "second", datetime(2026, 2, 1), ["model-c"], 1)
    assert agree(warehouse, kept) == ["x.cluster", "x.answer"]
    assert read_again == [6, 6]  # x.field and x.ending, of one item's six conditions


def test_weights_are_not_drawn_again_for_the_same_clusters(warehouse: Path, kept: Path) -> None:
    agree(warehouse, kept)
    edit(warehouse, f"UPDATE completion SET response = '{body('ANSWER: odd')}' WHERE arm = 'AB'")
    assert agree(warehouse, kept) == ["x.answer"]
    edit(warehouse, "DELETE FROM grid WHERE model_id = 'model-a'")
    assert "x.weight" not in agree(warehouse, kept)
    edit(warehouse, "DELETE FROM grid WHERE item_id = (SELECT min(item_id) FROM item)")
    assert "x.weight" in agree(warehouse, kept)


def test_what_is_kept_is_known_without_computing(warehouse: Path, kept: Path) -> None:
    def known() -> list[str]:
        with opened(warehouse, kept) as reading:
            assert reading.cache is not None
            found = [name for name in reading.catalog if reading.cache.known(reading, name)]
            assert reading.computed == []
            return found

    assert known() == []
    agree(warehouse, kept)
    assert known() == ["x.answer", "x.cluster", "x.ending", "x.field", "x.weight"]
    edit(warehouse, "DELETE FROM grid WHERE item_id = (SELECT min(item_id) FROM item)")
    assert known() == ["x.ending", "x.field"]


def test_another_parameter_is_another_entry(warehouse: Path, kept: Path) -> None:
    agree(warehouse, kept)
    assert agree(warehouse, kept, {"x.word": "odd"}) == ["x.field", "x.answer"]
    assert agree(warehouse, kept, {"x.seed": "7"}) == ["x.weight"]
    assert agree(warehouse, kept, {"x.seed": "7", "x.word": "odd"}) == []
    assert agree(warehouse, kept) == []


def test_an_edited_view_is_another_entry_and_a_comment_is_not(warehouse: Path, kept: Path) -> None:
    agree(warehouse, kept)
    commented = {name: f"{text}\n-- the end" for name, text in VIEWS.items()}
    assert agree(warehouse, kept, views=Catalog(commented, RAW_SCHEMA)) == []
    edited = VIEWS | {"x.text": VIEWS["x.text"] + " WHERE arm <> 'B'"}
    assert agree(warehouse, kept, views=Catalog(edited, RAW_SCHEMA)) == ["x.field", "x.ending", "x.answer"]
    assert agree(warehouse, kept) == []


def test_another_default_of_a_parameter_is_another_value_and_no_other_fingerprint(warehouse: Path, kept: Path) -> None:
    agree(warehouse, kept)
    other = Catalog(VIEWS | {"stat.parameter": VIEWS["stat.parameter"].replace("'even'", "'odd'")}, RAW_SCHEMA)
    assert other.fingerprint("x.cell") == MINIATURE.fingerprint("x.cell")
    assert agree(warehouse, kept, views=other) == ["x.field", "x.answer"]


def test_a_deleted_cache_is_made_again(warehouse: Path, kept: Path) -> None:
    agree(warehouse, kept)
    shutil.rmtree(kept)
    assert "x.field" in agree(warehouse, kept)
    shutil.rmtree(kept / "x.field")
    assert agree(warehouse, kept) == ["x.field"]


@pytest.mark.parametrize("part", ["rows.duckdb", "entry.json"])
@pytest.mark.parametrize("damage", [b"", b"no such thing", None], ids=["emptied", "overwritten", "removed"])
def test_a_damaged_entry_is_made_again(warehouse: Path, kept: Path, part: str, damage: bytes | None) -> None:
    agree(warehouse, kept)
    for path in kept.rglob(part):
        path.unlink() if damage is None else path.write_bytes(damage)
    agree(warehouse, kept)
    assert agree(warehouse, kept) == []


def test_a_cache_that_cannot_be_written_is_done_without(warehouse: Path, kept: Path) -> None:
    kept.write_text("a file where the folder would be")
    assert "x.field" in agree(warehouse, kept)
    assert "x.field" in agree(warehouse, kept)


def test_processes_that_start_at_once_all_say_the_same(warehouse: Path, kept: Path) -> None:
    program = """
import sys
from pathlib import Path
from analysis import session
with session.open(Path(sys.argv[1]), {"stat.resamples": "20"}) as reading:
    print([reading.fetch(f"SELECT * FROM {name} ORDER BY ALL")[1] for name in sys.argv[2:]])
"""
    command = [sys.executable, "-c", program, str(warehouse), *REAL]
    environment = {**ENVIRONMENT, "VLMAUDIT_CACHE": str(kept)}
    for _ in range(2):
        started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        assert len({process.communicate(timeout=120)[0] for process in started}) == 1
        assert {process.returncode for process in started} == {0}
        with duckdb.connect(str(warehouse)) as connection:
            write_study(connection, "first", datetime(2026, 1, 1), ["model-d"], 1)
    assert not list(kept.rglob(".partial-*"))


def test_overlapping_segments_count_each_completion_once(warehouse: Path, kept: Path, tmp_path: Path) -> None:
    smaller = tmp_path / "smaller"
    agree(warehouse, kept)
    with duckdb.connect(str(warehouse)) as connection:
        write_study(connection, "second", datetime(2026, 2, 1), ["model-c"], 1)
    agree(warehouse, smaller)
    shutil.copytree(smaller, kept, dirs_exist_ok=True)
    agree(warehouse, kept)


def test_many_small_additions_are_kept_together(warehouse: Path, kept: Path) -> None:
    agree(warehouse, kept)
    for number in range(cache.SEGMENTS + 2):
        with duckdb.connect(str(warehouse)) as connection:
            write_study(connection, f"later {number}", datetime(2026, 3, 1 + number), ["model-e"], 1)
        with opened(warehouse, kept) as cached:
            cached.need("x.field")
    assert len(list((kept / "x.field").glob("*/*"))) <= cache.SEGMENTS
    agree(warehouse, kept)


def test_what_was_used_longest_ago_goes_first(warehouse: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(warehouse, kept)
    size = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    monkeypatch.setattr(cache, "LIMIT_BYTES", size)
    for seed in range(3):
        agree(warehouse, kept, {"x.seed": str(seed)})
    assert sum(path.stat().st_size for path in kept.rglob("*") if path.is_file()) <= 1.3 * size
    assert agree(warehouse, kept, {"x.seed": "2"}) == []


@pytest.mark.parametrize("seed", range(8))
def test_any_sequence_of_changes_is_followed(warehouse: Path, kept: Path, seed: int) -> None:
    rng = random.Random(seed)
    for number in range(8):
        what = rng.choice(["add", *CHANGES])
        if what == "add":
            with duckdb.connect(str(warehouse)) as connection:
                write_study(connection, f"study {number}", datetime(2026, 4, 1 + number), [f"model-{number}"], rng.randint(1, 3))
        elif what not in {"all calls deleted", "an id doubled"}:
            edit(warehouse, CHANGES[what])
        agree(warehouse, kept, rng.choice([None, {"x.word": "odd"}]))


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"VLMAUDIT_CACHE": "/x/y"}, "/x/y"),
        ({"VLMAUDIT_CACHE": ""}, None),
        ({"XDG_CACHE_HOME": "/x"}, "/x/vlmaudit"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache/vlmaudit"),
    ],
)
def test_the_cache_lies_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], place: str | None) -> None:
    monkeypatch.delenv("VLMAUDIT_CACHE", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert kept_things.folder() == (Path(place) if place else None)


def test_whole_numbers_beyond_64_bits_and_other_types_come_back_as_they_were(warehouse: Path, kept: Path) -> None:
    wide = """-- cache: whole
SELECT
    1267650600228229401496703205376::HUGEINT AS wide, 1.50::DECIMAL(9, 2) AS money, [1.5::DOUBLE, NULL] AS list,
    DATE '2026-01-02' AS day, NULL::BOOLEAN AS flag,
    '{"a": 1}'::JSON AS text, 'x'::BLOB AS bytes, INTERVAL 1 DAY AS wait, count(*) AS n
FROM raw.item
"""
    together = Catalog({**VIEWS, "x.wide": wide}, RAW_SCHEMA)
    with opened(warehouse, kept, views=together) as first:
        wanted = (first.fetch("SELECT * FROM x.wide")[1], first.fetch("DESCRIBE x.wide")[1])
    with opened(warehouse, kept, views=together) as second:
        assert (second.fetch("SELECT * FROM x.wide")[1], second.fetch("DESCRIBE x.wide")[1]) == wanted
        assert second.computed == []
