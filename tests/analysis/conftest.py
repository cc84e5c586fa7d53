"""A small warehouse file, written row by row, and the command line over it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis import catalog
from tests.sql.literal import insert

PROGRAM = [sys.executable, "-c", "import sys, vlmaudit; sys.exit(vlmaudit.main())"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}  # from any folder, whether installed or not

ANSWERS = {
    ("AB", "plain"): "ANSWER: even",
    ("AB", "assess"): "ANSWER: even\nTEXT_ALONE: even\nIMAGE_ALONE: odd",
    ("A", "plain"): "ANSWER: even",
    ("A", "assess"): "ANSWER: odd\nWITH_IMAGE: odd\nSUFFICIENCY: SUFFICIENT",
    ("B", "plain"): "ANSWER: neither",
    ("B", "assess"): "ANSWER: neither\nWITH_TEXT: even\nSUFFICIENCY: INSUFFICIENT",
}


def body(content: str) -> str:
    """A chat completion that says `content`."""
    return json.dumps(
        {"id": "gen-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
    )


def write_study(connection: duckdb.DuckDBPyConnection, study: str, created: datetime, models: Sequence[str], n_items: int) -> None:
    """Add a study of parity items to a warehouse: every model gives the same answers, ANSWERS, to every item."""
    task = "isobench/math_parity"
    items = [f"{task}/{place}" for place in range(n_items)]
    known = {row[0] for row in connection.execute("SELECT item_id FROM item").fetchall()}
    new = [item for item in items if item not in known]
    insert(connection, "item", [{"item_id": item, "task": task, "cluster_id": item, "gold": '"even"', "annotation": "{}"} for item in new])
    for model in models:
        for item in items:
            for (arm, template), answer in ANSWERS.items():
                key = f"{study}/{model}/{item}/{arm}/{template}"
                asked: dict[str, Any] = {
                    "request_key": key, "protocol": "modality", "model_id": model, "thinking": False, "task": task, "item_id": item,
                    "arm": arm, "template": template, "replicate": 0,
                }  # fmt: skip
                insert(connection, "grid", [{"study": study, "grid_id": "0001-aaaaaaaaaaaa", "created_at": created, **asked}])
                said = {"completion_id": f"{key}/1", "attempt": 1, "http_status": 200, "max_tokens": 8192, "response": body(answer)}
                insert(connection, "completion", [{**asked, **said}])


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse that every test starts from a copy of."""
    path = tmp_path_factory.mktemp("written") / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(catalog.load().raw_schema)
        write_study(connection, "first", datetime(2026, 1, 1), ["model-b", "model-a"], 3)
    return path


@pytest.fixture
def warehouse(written: Path, tmp_path: Path) -> Path:
    """A warehouse of one study, `first`: two models on three items, six conditions."""
    return Path(shutil.copy(written, tmp_path / "warehouse.duckdb"))


@dataclass(frozen=True)
class Said:
    """What a command returned and wrote."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(warehouse: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """Run a command in the folder of the warehouse, which has its default name there."""
    import vlmaudit

    (warehouse.parent / "data").mkdir()
    warehouse.rename(warehouse.parent / "data" / "warehouse.duckdb")
    monkeypatch.chdir(warehouse.parent)

    def command(*arguments: str) -> Said:
        capsys.readouterr()
        code = vlmaudit.main(arguments)
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return command
