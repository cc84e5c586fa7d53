"""Where that lies which can be made again at any time: the views and the syntax that are kept between calls."""

from __future__ import annotations

import os
from pathlib import Path


def folder() -> Path | None:
    """$VLMAUDIT_CACHE (empty: nothing is kept), else vlmaudit/ in the user's cache folder."""
    if (chosen := os.environ.get("VLMAUDIT_CACHE")) is not None:
        return Path(chosen) if chosen else None
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "vlmaudit"
