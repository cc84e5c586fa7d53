"""What is wrong with a warehouse or its surroundings, and what to do about it."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import yaml

from analysis import session
from analysis.errors import AuditError
from generator import corpus, items, journal, study, undo, warehouse
from generator.models import Model


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: how it is, and the remedy where it is a fault."""

    what: str
    remedy: str | None = None

    @property
    def is_fault(self) -> bool:
        """Whether something is to be done."""
        return self.remedy is not None

    def __str__(self) -> str:
        return f"FAULT  {self.what}: {self.remedy}" if self.remedy else f"ok     {self.what}"


def examine(params: Path, path: Path, data: Path) -> list[Finding]:
    """Everything that a user may trip over, in the order in which it would happen. Writes nothing that stays."""
    checks: list[Callable[[], Iterator[Finding]]] = [
        lambda: _folder(path.parent),
        lambda: _lock(path),
        lambda: _file(path),
        lambda: _write_ahead_log(path),
        lambda: _journal(path),
        lambda: _studies(params, data),
        lambda: _dvc(path),
    ]
    return [finding for check in checks for finding in check()]


def _folder(folder: Path) -> Iterator[Finding]:
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=existing, prefix=".doctor-"):
            yield Finding(f"{existing} can be written")
    except OSError as fault:
        yield Finding(f"{existing} cannot be written ({fault.strerror})", "make it writable, or choose another --warehouse")


def _lock(path: Path) -> Iterator[Finding]:
    if is_being_written(path):
        yield Finding(f"{path} is being written by {warehouse.lock_holder(path)}; other writing commands have to wait for it")


def is_being_written(path: Path) -> bool:
    """Whether a process holds the writer's lock now."""
    try:
        file = os.open(path.with_name(f"{path.name}.lock"), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _file(path: Path) -> Iterator[Finding]:
    if path.is_symlink() and not path.exists():
        yield Finding(f"{path} links to {os.readlink(path)}, which does not exist", "fetch it with `dvc pull`, or remove the link")
    elif not path.exists():
        yield Finding(
            f"there is no warehouse at {path}", "make one with `vlmaudit generate` or `vlmaudit ingest`, or fetch it with `dvc pull`"
        )
    else:
        yield Finding(f"{path} is {_kind(path)}")
        yield _opens(path)


def _kind(path: Path) -> str:
    status = path.lstat()
    size = f"{path.stat().st_size:,} bytes"
    if stat.S_ISLNK(status.st_mode):
        return f"a symbolic link to {os.readlink(path)} ({size}); the next writing command puts a copy in its place"
    if status.st_nlink > 1:
        return f"a hard link, one of {status.st_nlink} ({size}); the next writing command puts a copy in its place"
    if not status.st_mode & 0o200:
        return f"a read-only file ({size}); the next writing command puts a copy in its place"
    return f"a file of its own ({size})"


def _opens(path: Path) -> Finding:
    connection = duckdb.connect()
    try:
        connection.execute(f"ATTACH {warehouse.quoted(path)} AS raw (READ_ONLY)")
        missing = sorted({"completion", "grid", "item"} - set(session.tables(connection)))
    except duckdb.Error as fault:
        return _why_not(path, session.first_line(fault))
    finally:
        connection.close()
    if missing:
        return Finding(f"{path} is a DuckDB file without the table {missing[0]}", "it is no warehouse: choose another with --warehouse")
    return Finding(f"{path} opens")


def _why_not(path: Path, message: str) -> Finding:
    said = message.lower()
    if undo.torn(path):
        return Finding(
            f"a writer of {path} was killed ({message})", "nothing is lost: the next writing command mends it (`vlmaudit generate`)"
        )
    if "wal" in said:
        log = f"{path}.wal"
        return Finding(
            f"{log} does not belong to {path} as it is now ({message})",
            f"where {path} is the newer one, move {log} away; where another {path} was put in its place, as `dvc checkout` does, "
            "bring back the one that it belongs to",
        )
    if warehouse.LOCKED in said:
        return Finding(
            f"{path} is held by another process ({session.holder(duckdb.IOException(message))}), and can be read when it is done"
        )
    if "checksum" not in said and (by := _newer_duckdb(path)):
        return Finding(f"{path} was written by DuckDB {by}; this is {duckdb.__version__}", f"pip install --upgrade 'duckdb>={by}'")
    return Finding(
        f"{path} cannot be opened ({message})", "it is damaged or no DuckDB file: fetch it again with `dvc checkout`, or move it away"
    )


def _newer_duckdb(path: Path) -> str | None:
    """The release that wrote the file, from its header, where it is newer than the one that is installed."""
    with path.open("rb") as file:
        header = file.read(84)
    if header[8:12] != b"DUCK":
        return None
    wrote = header[52:84].split(b"\0")[0].decode("ascii", "replace").removeprefix("v")
    return wrote if _release(wrote) > _release(duckdb.__version__) else None


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())


def _write_ahead_log(path: Path) -> Iterator[Finding]:
    log = path.with_name(f"{path.name}.wal")
    if log.exists() and not is_being_written(path):
        yield Finding(
            f"{log} holds {log.stat().st_size:,} bytes that a killed process had not written into {path}",
            "run `vlmaudit generate` or `vlmaudit ingest`, which write them in; do not move one file without the other",
        )


def _journal(path: Path) -> Iterator[Finding]:
    files = journal.Journal(path)
    for file in (files.taken, files.path):
        if file.exists() and not is_being_written(path):
            try:
                count = sum(1 for _ in journal.read(file))
            except AuditError as fault:
                yield Finding(str(fault), "see there")
            else:
                yield Finding(f"{file} holds {count} records that are not merged", "run `vlmaudit generate`, which merges them first")


def _studies(params: Path, data: Path) -> Iterator[Finding]:
    try:
        studies, registry = study.load(params), study.registry(params)
        wanted = corpus.wanted(studies.values())
    except AuditError as fault:
        yield Finding(str(fault), "correct the file")
        return
    yield Finding(f"{params} describes {', '.join(studies)}")
    yield from _items(wanted, data)
    used = {model_id for each in studies.values() for model_id in each.models}
    yield from _keys([registry[model_id] for model_id in sorted(used)])


def _items(wanted: dict[str, items.Asked], data: Path) -> Iterator[Finding]:
    try:
        made = items.prepared(wanted, data)
        images = items.image_rows(data) if made else []
    except AuditError as fault:
        yield Finding(str(fault), "run `vlmaudit items`")
        return
    missing = [row for row in images if not any((data / "images" / f"{row['image_sha256']}{end}").exists() for end in (".png", ".jpg"))]
    if not made:
        yield Finding(f"{data / 'items'} does not hold what the studies ask for", "run `vlmaudit items`; `vlmaudit generate` also does")
    elif missing:
        yield Finding(f"{len(missing)} of {len(images)} images are missing from {data / 'images'}", "run `vlmaudit items`")
    else:
        yield Finding(f"{data / 'items'} and its {len(images)} images are there")


def _keys(models: list[Model]) -> Iterator[Finding]:
    """Names of keys only: a value is never read."""
    for name in sorted({model.api_key_env for model in models if model.api_key_env}):
        needing = ", ".join(model.model_id for model in models if model.api_key_env == name)
        if name in os.environ:
            yield Finding(f"{name} is set")
        else:
            yield Finding(f"{name} is not set, which {needing} needs", f"put the provider's API key in the environment variable {name}")


def _dvc(path: Path) -> Iterator[Finding]:
    """Whether DVC has the warehouse as it is, judged by size: its digest would take as long as reading it all."""
    lock = Path("dvc.lock")
    if not (lock.exists() and path.exists()):
        return
    stages = (yaml.safe_load(lock.read_text(encoding="utf-8")) or {}).get("stages", {})
    sizes = {out["path"]: out.get("size") for stage in stages.values() for out in stage.get("outs", [])}
    if sizes.get(path.as_posix()) not in (None, path.stat().st_size):
        yield Finding(f"{path} has changed since DVC took note of it; `dvc repro` or `dvc commit` does so again")
