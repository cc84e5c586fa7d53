"""Fixtures that several rooms share."""

import os
from pathlib import Path

import pytest

os.environ["VLMAUDIT_CACHE"] = ""  # no test reads or writes the user's own cache; those of the cache name a folder


TESTS = Path(__file__).resolve().parent
# What has something costly of its own: a server, a study that was run, a repository. Its tests stay in one process.
TOGETHER = (
    "vllm",
    "test_dvc.py",
    "test_docs.py",
    "test_readme.py",
    "test_independent.py",
    "test_independent_rollouts.py",
    "analysis/test_spark.py",
    "generator/test_merge.py",
)


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests together that share something costly, where pytest-xdist spreads the others; vLLM, the longest wait, first."""
    for item in items:
        place = item.path.relative_to(TESTS)
        for name in TOGETHER:
            if place.is_relative_to(name):
                item.add_marker(pytest.mark.xdist_group(name))
    items.sort(key=lambda item: not item.path.is_relative_to(TESTS / "vllm"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public inputs and worked examples beside the project; not on a user's machine."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder shared/ beside the project: public data and worked examples are not part of it")
    return folder
