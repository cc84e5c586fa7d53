"""`doctor` says what is wrong and what to do, finds nothing wrong where nothing is, and leaves everything as it was."""

import os
import re
import shutil
from pathlib import Path

import duckdb
import pytest
import yaml

from generator import doctor, items
from generator.corpus import wanted
from generator.study import load
from generator.warehouse import writer
from tests.generator.test_warehouse import COMMIT_AND_DIE, HOLD, completion, run_python, wait_for_line


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A healthy project, in the current folder."""
    monkeypatch.chdir(tmp_path)
    describe(models=["sim/honest"])
    items.prepare(wanted(load(Path("params.yaml")).values()), Path("data"))
    with writer(Path("data/warehouse.duckdb")) as opened:
        opened.merge("completion", [completion("a")])
    return tmp_path


def describe(**study: object) -> None:
    asked = {"tasks": {"isobench/math_parity": {"source": "synth", "n": 3}}, **study}
    models = {"own/hosted": {"serving": "openrouter", "provider": "Host", "precision": "bf16", "api_key_env": "PLANTED_API_KEY"}}
    Path("params.yaml").write_text(yaml.safe_dump({"studies": {"s": asked}, "models": models}))


def faults() -> list[str]:
    found = doctor.examine(Path("params.yaml"), Path("data/warehouse.duckdb"), Path("data"))
    return [str(finding).removeprefix("FAULT  ") for finding in found if finding.is_fault]


def notes() -> str:
    return "\n".join(map(str, doctor.examine(Path("params.yaml"), Path("data/warehouse.duckdb"), Path("data"))))


def one_fault() -> str:
    (found,) = faults()
    return found


def test_a_healthy_project_has_no_fault_and_is_left_as_it_was(project: Path) -> None:
    before = sorted((file, file.stat().st_mtime_ns) for file in project.rglob("*"))
    assert faults() == []
    assert sorted((file, file.stat().st_mtime_ns) for file in project.rglob("*") if file != project / "data") == [
        (file, when) for file, when in before if file != project / "data"
    ]


def test_a_missing_warehouse() -> None:
    os.unlink("data/warehouse.duckdb")
    assert one_fault().startswith("there is no warehouse at data/warehouse.duckdb: make one with `vlmaudit generate`")


def test_a_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refused)
    assert one_fault() == "data cannot be written (Permission denied): make it writable, or choose another --warehouse"


def test_links_are_no_fault_and_are_said() -> None:
    os.link("data/warehouse.duckdb", "cached")
    assert "is a hard link, one of 2" in notes()
    os.unlink("data/warehouse.duckdb")
    os.symlink("../cached", "data/warehouse.duckdb")
    assert "is a symbolic link to ../cached" in notes()
    assert faults() == []
    os.unlink("cached")
    assert "links to ../cached, which does not exist: fetch it with `dvc pull`" in one_fault()


def test_a_log_of_a_killed_writer() -> None:
    assert run_python(COMMIT_AND_DIE, str(Path("data/warehouse.duckdb").absolute())).wait() == -9
    assert "warehouse.duckdb.wal holds" in one_fault()
    assert "run `vlmaudit generate`" in one_fault()


def test_a_log_that_belongs_to_another_version_of_the_file() -> None:
    shutil.copy("data/warehouse.duckdb", "old")
    with writer(Path("data/warehouse.duckdb")) as opened:
        opened.merge("completion", [completion("b")])
    assert run_python(COMMIT_AND_DIE, str(Path("data/warehouse.duckdb").absolute())).wait() == -9
    shutil.copy("old", "data/warehouse.duckdb")
    assert "warehouse.duckdb.wal does not belong to data/warehouse.duckdb as it is now" in faults()[0]
    assert "move" in faults()[0]


def test_a_journal_that_was_left_over() -> None:
    with writer(Path("data/warehouse.duckdb")) as opened:
        opened.journal.append(("completion", completion(key)) for key in "bcd")
        file = opened.journal.path
    file.write_bytes(file.read_bytes()[:-5])
    assert (
        one_fault() == "data/warehouse.duckdb.journal holds 2 records that are not merged: run `vlmaudit generate`, which merges them first"
    )


def test_a_writer_at_work_is_named_and_is_no_fault() -> None:
    holding = run_python(HOLD, str(Path("data/warehouse.duckdb").absolute()))
    try:
        wait_for_line(holding)
        assert f"is being written by PID {holding.pid}" in notes()
        assert faults() == []
    finally:
        holding.kill()
        holding.wait()


def test_a_file_that_is_no_database() -> None:
    Path("data/warehouse.duckdb").write_bytes(b"notes " * 9999)
    assert "it is damaged or no DuckDB file" in one_fault()


def test_a_database_that_is_no_warehouse() -> None:
    os.unlink("data/warehouse.duckdb")
    duckdb.connect("data/warehouse.duckdb").close()
    assert "is a DuckDB file without the table completion: it is no warehouse" in one_fault()


def test_a_file_of_a_newer_duckdb() -> None:
    path = Path("data/warehouse.duckdb")
    whole = bytearray(path.read_bytes())
    whole[12:14] = (5000).to_bytes(2, "little")  # the storage version
    whole[52:84] = b"v99.1.0".ljust(32, b"\0")  # the release that wrote it
    path.write_bytes(whole)
    assert "it is damaged" in one_fault()
    checksum = re.search(r"computed checksum (\d+)", one_fault())
    assert checksum
    whole[:8] = int(checksum[1]).to_bytes(8, "little")
    path.write_bytes(whole)
    assert one_fault() == (
        f"data/warehouse.duckdb was written by DuckDB 99.1.0; this is {duckdb.__version__}: pip install --upgrade 'duckdb>=99.1.0'"
    )


def test_items_that_are_missing_or_of_another_study() -> None:
    image = next(Path("data/images").iterdir())
    image.unlink()
    assert one_fault() == "1 of 3 images are missing from data/images: run `vlmaudit items`"
    describe(models=["sim/honest"], tasks={"isobench/math_parity": {"source": "synth", "n": 4}})
    assert one_fault().startswith("data/items does not hold what the studies ask for: run `vlmaudit items`")
    shutil.rmtree("data/items")
    assert one_fault().startswith("data/items does not hold what the studies ask for: run `vlmaudit items`")


def test_a_key_that_is_not_set_is_named_and_one_that_is_set_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    describe(models=["own/hosted"])
    monkeypatch.delenv("PLANTED_API_KEY", raising=False)
    assert one_fault() == (
        "PLANTED_API_KEY is not set, which own/hosted needs: put the provider's API key in the environment variable PLANTED_API_KEY"
    )
    monkeypatch.setenv("PLANTED_API_KEY", "sk-planted-0123456789")
    assert faults() == []
    assert "PLANTED_API_KEY is set" in notes()
    assert "sk-planted" not in notes()


def test_a_malformed_params_file() -> None:
    Path("params.yaml").write_text("studies: [")
    assert "params.yaml is no YAML" in one_fault()


def test_a_warehouse_that_dvc_has_not_taken_note_of() -> None:
    Path("dvc.lock").write_text(
        yaml.safe_dump({"stages": {"generate": {"outs": [{"path": "data/warehouse.duckdb", "md5": "x", "size": 1}]}}})
    )
    assert "data/warehouse.duckdb has changed since DVC took note of it" in notes()
    assert faults() == []
