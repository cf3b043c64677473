"""Fixtures for storage: a project in a temp folder and a writer over a trivial store."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_core.storage import roots as places
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_tests.plainstore import PlainStore


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".git").mkdir()
    found = places.find(project, {"HOME": str(tmp_path / "home")})
    places.prepare(found)
    return found


@pytest.fixture
def new_writer(roots: Roots) -> Callable[[], Writer]:
    return lambda: Writer(roots, PlainStore(roots), lambda text: text)


@pytest.fixture
def writer(new_writer: Callable[[], Writer]) -> Writer:
    return new_writer()
