"""A folder with one study of the tiny model, and `vlmaudit` run in it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from analysis import session

ROOT = Path(__file__).parents[2]


class Project:
    """The study `small` of the model `tiny`."""

    def __init__(self, folder: Path, study: dict[str, Any], entry: dict[str, Any]) -> None:
        self.folder, self.data = folder, folder / "data"
        (folder / "params.yaml").write_text(yaml.safe_dump({"studies": {"small": study}, "models": {"tiny": entry}}))

    def run(self, command: str) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        words = [sys.executable, ROOT / "vlmaudit.py", command]
        return subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=900)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with session.open(self.data / "warehouse.duckdb", {"study": "small"}) as reading:
            return reading.fetch(query)[1]
