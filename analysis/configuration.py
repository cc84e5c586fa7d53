"""What the analysis reads of the instrument's configuration, as data: the model registry and the prompts' wording.

The files are the generator's; its code is not imported.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from analysis.errors import DataError


def _folder() -> Path:
    return Path(__file__).resolve().parent.parent / "generator"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as fault:
        raise DataError(f"cannot read {path}: {fault}") from None


@cache
def models() -> dict[str, dict[str, Any]]:
    """The model registry: model_id → its entry, in the registry's order."""
    return _read(_folder() / "models.toml")


@cache
def prompts() -> list[dict[str, Any]]:
    """The prompts of every task, one file each: task, source, inputs by arm, description and closing (by template)."""
    return [_read(path) for path in sorted((_folder() / "prompts").glob("*.toml"))]
