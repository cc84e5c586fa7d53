"""Fixtures that several rooms share."""

import os
from pathlib import Path
from typing import Any

import pytest

os.environ["VLMAUDIT_CACHE"] = ""  # no test reads or writes the user's own cache; those of the cache name a folder


# What has something costly of its own: a server, a study that was run, a repository. Its tests stay in one process.
TOGETHER = (
    "tests/vllm/",
    "tests/test_dvc.py",
    "tests/test_docs.py",
    "tests/test_readme.py",
    "tests/test_independent.py",
    "tests/test_independent_rollouts.py",
    "tests/analysis/test_spark.py",
    "tests/generator/test_merge.py",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where pytest-xdist spreads the tests: those of one place that share something costly go to one process, the longest lists first."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((place for place in TOGETHER if nodeid.startswith(place)), nodeid)

    return Scheduling(config, log)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public inputs and worked examples beside the project; not on a user's machine."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder shared/ beside the project: public data and worked examples are not part of it")
    return folder
