"""What the analysis reads of the instrument's configuration, as data: the model registry, how tool users sample, and the prompts'
wording.

The files are the generator's; its code is not imported.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
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
def decoding() -> dict[str, Any]:
    """How models that use tools sample: `max_calls`, and under `families` the temperature, top_p and top_k of each tool interface."""
    return _read(_folder() / "tools" / "decoding.toml")


@cache
def prompts() -> list[dict[str, Any]]:
    """The system prompts of every task, one row each: task, arm, template, prompt (8 digits of its SHA-256: equal where the wording is)."""
    return [row for path in sorted((_folder() / "prompts").glob("*.toml")) for row in _prompts(_read(path))]


def _prompts(wording: dict[str, Any]) -> Iterator[dict[str, Any]]:
    def of(texts: str | dict[str, str], arm: str) -> str | None:
        return texts if isinstance(texts, str) else texts.get(arm)

    for arm in wording["inputs"]:
        for template, closing in wording["closing"].items():
            text = of(closing, arm)
            if text is not None:
                whole = f"{of(wording['description'], arm)}\n\n{text}"
                digest = hashlib.sha256(whole.encode()).hexdigest()[:8]
                yield {"task": wording["task"], "arm": arm, "template": template, "prompt": digest}
