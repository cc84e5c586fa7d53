"""Several machines share a study and their warehouses become one: each row once, conflicts named, nothing half-written."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis import session
from analysis.errors import DataError, UsageError
from generator import warehouse
from generator.generate import Options, generate
from generator.merge import merge
from generator.shard import Shard, parse
from generator.tool_use import rollout
from generator.warehouse import writer
from tests.generator.test_warehouse import cell, completion, item, state

ROOT = Path(__file__).resolve().parents[2]
STUDY: dict[str, Any] = {
    "models": ["sim/honest", "sim/mixed"],
    "tasks": {"isobench/math_parity": {"source": "synth", "n": 9}, "mmimdb": {"source": "synth", "n": 4}},
    "thinking": [False],
}
ROLLOUTS: dict[str, Any] = {
    "protocol": "tool_use",
    "models": ["sim/uses"],
    "tasks": {"vstar": {"source": "synth", "n": 3}},
    "arms": ["tool", "random_crop"],
    "probed": 1,
    "judge": "sim/judge",
}


class Machine:
    """A folder of its own with the common params file."""

    def __init__(self, folder: Path, **studies: Any) -> None:
        self.folder, self.path = folder, folder / "data" / "warehouse.duckdb"
        folder.mkdir()
        self.params = folder / "params.yaml"
        self.params.write_text(yaml.safe_dump({"studies": studies}))

    def ask(self, *shards: str | None, run: Callable[..., Any] = generate, **options: Any) -> int:
        results = [
            run(self.params, [], self.path, self.folder / "data", Options(shard=parse(shard), **options)) for shard in shards or (None,)
        ]
        return sum(result.stored for each in results for result in each)


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with session.open(path) as reading:
        return reading.fetch(query)[1]


SAID = "SELECT completion_id, request_key, request, response, prompt_tokens, engine_version, item_id, arm FROM raw.completion ORDER BY ALL"
ASKED = "SELECT * EXCLUDE (study, grid_id, created_at) FROM raw.grid INNER JOIN arm.study USING (study, grid_id) ORDER BY ALL"
REPORTED = "SELECT * FROM modality.prospective_cell ORDER BY ALL"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """The undivided run."""
    machine = Machine(tmp_path_factory.mktemp("merge") / "whole", s=STUDY)
    machine.ask()
    return machine


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> list[Machine]:
    """The same study on two machines."""
    machines = [Machine(tmp_path_factory.mktemp("merge") / str(number), s=STUDY) for number in (1, 2)]
    for number, machine in enumerate(machines, 1):
        machine.ask(f"{number}/2")
    return machines


# -- shards ------------------------------------------------------------------------------------------------------------------------


def test_shards_are_disjoint_and_together_the_whole(whole: Machine, halves: list[Machine]) -> None:
    parts = [rows(half.path, SAID) for half in halves]
    assert all(parts)
    assert sorted(row for part in parts for row in part) == rows(whole.path, SAID)
    for half in halves:
        assert rows(half.path, ASKED) == rows(whole.path, ASKED)  # the boundary is the study's, not the shard's
    assert halves[0].ask("1/2") == 0


def test_a_cluster_is_in_one_shard_with_the_films_poster_and_its_summaries(halves: list[Machine]) -> None:
    part = halves[0]
    asked = "SELECT DISTINCT cluster_id FROM raw.item INNER JOIN raw.completion USING (item_id) WHERE item.task = 'mmimdb' AND arm"
    films = rows(part.path, f"{asked} = 'B' ORDER BY ALL")
    assert films == rows(part.path, f"{asked} = 'A' ORDER BY ALL")
    assert 0 < len(films) < 4


def test_a_shard_with_nothing_of_a_study_asks_nothing(tmp_path: Path) -> None:
    small = {**STUDY, "tasks": {"isobench/math_parity": {"source": "synth", "n": 1}}}
    stored = [Machine(tmp_path / str(number), s=small).ask(f"{number}/2") for number in (1, 2)]
    assert sorted(stored) == [0, 2 * 6]


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "-1/2", "a/b", "1/2/3", ""])
def test_a_part_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write it as i/n"):
        parse(text)


def test_a_part_is_named_as_it_is_given() -> None:
    assert (parse("2/3"), parse(None), str(Shard(2, 3))) == (Shard(2, 3), Shard(1, 1), "2/3")


# -- a study on several machines -----------------------------------------------------------------------------------------------------


def test_shards_with_an_overlap_merge_to_the_undivided_runs_rows(whole: Machine, halves: list[Machine], tmp_path: Path) -> None:
    (one, two), third = halves, Machine(tmp_path / "third", s=STUDY)
    third.ask("1/3")
    assert all(set(rows(half.path, SAID)) & set(rows(third.path, SAID)) for half in halves)
    out = tmp_path / "all.duckdb"
    merged = merge(out, [one.path, third.path, two.path])
    assert merged.rows["completion"] == len(rows(whole.path, SAID))
    for query in (SAID, ASKED, REPORTED, "SELECT * FROM raw.item ORDER BY ALL", "SELECT * FROM raw.image ORDER BY ALL"):
        assert rows(out, query) == rows(whole.path, query)
    assert rows(out, "SELECT count(*) FROM raw.run") == [(3,)]
    broken = "duplicate UNION ALL SELECT count(*) FROM quality.orphan UNION ALL SELECT count(*) FROM quality.identity"
    assert rows(out, f"SELECT count(*) FROM quality.{broken}") == [(0,)] * 3
    before = state(out)
    assert str(merge(out, [two.path, one.path])) == "nothing new"
    assert state(out) == before
    third.path = out
    assert third.ask() == 0


def test_rollouts_probes_verdicts_and_images_come_along(tmp_path: Path) -> None:
    whole, one, two = (Machine(tmp_path / name, t=ROLLOUTS) for name in ("whole", "one", "two"))
    whole.ask(run=rollout)
    one.ask("1/2", run=rollout)
    two.ask("2/2", run=rollout)
    out = tmp_path / "all" / "warehouse.duckdb"
    merged = merge(out, [one.path, two.path])
    assert (merged.missing, merged.files > 0) == (0, True)
    for table in ("rollout", "observation", "probe"):
        query = f"SELECT * EXCLUDE {'(run_id)' if table != 'observation' else '(error)'} FROM raw.{table} ORDER BY ALL"
        assert rows(out, query) == rows(whole.path, query)
    for query in (SAID, ASKED, "SELECT * FROM tooluse.diagnosis ORDER BY ALL"):
        assert rows(out, query) == rows(whole.path, query)
    names = [sorted(file.name for file in (folder / "observations").iterdir()) for folder in (out.parent, whole.folder / "data")]
    assert names[0] == names[1]
    before = state(out)
    assert str(merge(out, [one.path, two.path])) == "nothing new"
    assert state(out) == before
    shutil.move(one.folder / "data" / "observations", tmp_path / "elsewhere")
    shutil.move(two.folder / "data" / "observations", tmp_path / "elsewhere" / "too")
    assert merge(tmp_path / "bare" / "w.duckdb", [one.path, two.path]).missing == len(names[0])


# -- what several hold -----------------------------------------------------------------------------------------------------------------


def holding(path: Path, study: str | None, *keys: str, **columns: Any) -> Path:
    with writer(path) as opened:
        opened.merge("item", [item()])
        if study:
            opened.append_grid(study, [cell(key, item_id=f"t/{key}") for key in keys])
        opened.merge("completion", [completion(key, item_id=f"t/{key}", run_id=path.stem, **columns) for key in keys])
    return path


def test_rows_that_differ_under_one_key_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    out = holding(tmp_path / "out.duckdb", "s", "a")
    one = holding(tmp_path / "one.duckdb", "s", "b", "c")
    two = holding(tmp_path / "two.duckdb", "s", "c", "d", response='{"choices": [1]}')
    before = state(out)
    with pytest.raises(DataError) as fault:
        merge(out, [one, two])
    for said in (str(one), str(two), "raw.completion", repr(warehouse.completion_id("c", 1)), "item_id 't/c'", "leave one of the two out"):
        assert said in str(fault.value)
    assert state(out) == before
    with pytest.raises(DataError, match="raw.completion"):
        merge(tmp_path / "new.duckdb", [one, two])
    assert not (tmp_path / "new.duckdb").exists()


def test_times_runs_and_sources_may_differ_and_the_row_held_first_stays(tmp_path: Path) -> None:
    one = holding(tmp_path / "one.duckdb", "s", "a", started_at="2026-01-01 00:00:00", latency_s=1.0)
    two = holding(tmp_path / "two.duckdb", "s", "a", started_at="2026-02-02 00:00:00", latency_s=2.0)
    merge(tmp_path / "out.duckdb", [two, one])
    assert rows(tmp_path / "out.duckdb", "SELECT run_id, latency_s FROM raw.completion") == [("two", 2.0)]


def test_any_body_comes_through_byte_for_byte(tmp_path: Path) -> None:
    bodies = {"nul": b"a\0b", "latin": b"caf\xe9", "quotes": "\"'\\ …\u2028".encode(), "empty": b""}
    for key, body in bodies.items():
        holding(tmp_path / "one.duckdb", None, key, response=body)
    merge(tmp_path / "out.duckdb", [tmp_path / "one.duckdb", tmp_path / "one.duckdb"])
    stored = rows(tmp_path / "out.duckdb", "SELECT request_key, response, response_bytes FROM raw.completion")
    assert {key: text.encode() if data is None else data for key, text, data in stored} == bodies


def test_grids_of_one_study_unite_into_one_boundary(tmp_path: Path) -> None:
    one, two = holding(tmp_path / "one.duckdb", "s", "a", "b"), holding(tmp_path / "two.duckdb", "s", "b", "c")
    other, out = holding(tmp_path / "other.duckdb", "else", "z"), tmp_path / "out.duckdb"
    merge(out, [one, two, other])
    asked = "SELECT study, request_key FROM raw.grid INNER JOIN arm.study USING (study, grid_id) ORDER BY ALL"
    with session.open(out, {"study": "s"}) as reading:
        assert reading.fetch(asked)[1] == [("s", "a"), ("s", "b"), ("s", "c")]
    before = state(out)
    for sources in ([two, one], [other], [one, one]):
        merge(out, sources)
        assert state(out) == before
    assert rows(out, "SELECT count(DISTINCT grid_id) FROM raw.grid WHERE study = 's'") == [(3,)]  # older ones stay


def test_a_grid_that_another_warehouse_has_behind_it_asks_for_nothing_more(tmp_path: Path) -> None:
    old = holding(tmp_path / "old.duckdb", "s", "a")
    new = holding(tmp_path / "new.duckdb", "s", "a")
    with writer(new) as opened:
        opened.append_grid("s", [cell("changed", item_id="t/a")])
    for place, sources in enumerate(([old, new], [new, old])):
        out = tmp_path / f"{place}.duckdb"
        merge(out, sources)
        assert rows(out, "SELECT request_key FROM arm.request") == [("changed",)]


def test_a_study_that_machines_ask_in_two_ways_is_refused(tmp_path: Path) -> None:
    one, two = holding(tmp_path / "one.duckdb", "s", "a"), tmp_path / "two.duckdb"
    with writer(two) as opened:
        opened.append_grid("s", [cell("b", item_id="t/a")])
    with pytest.raises(DataError, match="study s asks for .*item_id 't/a'.* in two ways"):
        merge(tmp_path / "out.duckdb", [one, two])


# -- what is not merged ----------------------------------------------------------------------------------------------------------------


def test_a_journal_that_waits_beside_a_source_is_said(tmp_path: Path) -> None:
    one = holding(tmp_path / "one.duckdb", "s", "a")
    with writer(one) as opened:
        opened.journal.append([("completion", completion("b"))])
    with pytest.raises(DataError, match="holds 1 records that .* lacks"):
        merge(tmp_path / "out.duckdb", [one])


def test_a_warehouse_is_not_merged_into_itself_and_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    one = holding(tmp_path / "one.duckdb", "s", "a")
    with pytest.raises(UsageError, match="name it once"):
        merge(one, [one])
    with pytest.raises(DataError, match="no warehouse at"):
        merge(one, [tmp_path / "missing.duckdb"])
    (tmp_path / "text.duckdb").write_text("no database" * 1000)
    with pytest.raises(DataError, match="cannot be read as a warehouse"):
        merge(one, [tmp_path / "text.duckdb"])


def test_a_source_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    one = holding(tmp_path / "one.duckdb", "s", "a")
    with writer(one) as opened, opened.writing() as connection:
        connection.execute("ALTER TABLE raw.completion ADD COLUMN later VARCHAR")
    with pytest.raises(DataError, match="raw.completion.later that this version does not know"):
        merge(tmp_path / "out.duckdb", [one])


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symlink", "hardlink"])
def test_a_link_into_a_cache_is_replaced_by_a_copy(tmp_path: Path, link: Callable[[Path, Path], None]) -> None:
    cached, one = holding(tmp_path / "cache.duckdb", "s", "a"), holding(tmp_path / "one.duckdb", "s", "b")
    cached.chmod(0o444)
    before = state(cached)
    link(cached, tmp_path / "out.duckdb")
    merge(tmp_path / "out.duckdb", [one])
    assert state(cached) == before
    assert rows(tmp_path / "out.duckdb", "SELECT count(*) FROM raw.completion") == [(2,)]
    assert (tmp_path / "out.duckdb").read_bytes()[52:].startswith(cached.read_bytes()[52:60])  # the storage version stays pinned


def test_killed_at_any_moment_a_merge_leaves_the_target_whole(tmp_path: Path) -> None:
    out, one = holding(tmp_path / "out.duckdb", "s", "a"), tmp_path / "one.duckdb"
    with writer(one) as opened:
        opened.merge("completion", (completion(f"k{n}", response=hashlib.sha256(str(n).encode()).hexdigest() * 400) for n in range(2000)))
    command = [sys.executable, str(ROOT / "vlmaudit.py"), "merge", str(out), str(one)]
    began = time.monotonic()
    copy = shutil.copy(out, tmp_path / "timed.duckdb")
    subprocess.run([*command[:3], copy, str(one)], check=True, capture_output=True)
    took, found = time.monotonic() - began, set()
    for part in (0.6, 0.8, 0.95):
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(part * took)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        found.add(rows(out, "SELECT count(*) FROM raw.completion")[0][0])
    assert found <= {1, 2001}
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{out}: " in done.stdout
    assert rows(out, "SELECT count(*), count(DISTINCT completion_id) FROM raw.completion") == [(2001, 2001)]
    before = state(out)
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"{out}: nothing new\n"
    assert state(out) == before
