"""A project, and memories that wait in it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_hookspecs import Entry
from ijfw_tests import staging
from ijfw_tests.staging import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    env = {"HOME": str(tmp_path), "IJFW_HOME": str(tmp_path / "ijfw"), "PATH": "/usr/bin:/bin"}
    return Desk(folder, env)


@pytest.fixture
def fill(desk: Desk) -> Callable[[], tuple[Entry, Entry, str]]:
    """Stages a new memory and a proposal about a person's entry; both, and that entry's id."""
    return lambda: staging.fill(desk)
