"""Fixtures that several rooms share."""

import os
from pathlib import Path

import pytest

os.environ["VLMAUDIT_CACHE"] = ""  # no test reads or writes the user's own cache; those of the cache name a folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public inputs and worked examples beside the project; not on a user's machine."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder shared/ beside the project: public data and worked examples are not part of it")
    return folder
