"""A user with several projects, and a computer of a colleague."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_core.project import Project, open_project

Open = Callable[..., Project]


@pytest.fixture
def open_at(tmp_path: Path) -> Open:
    """Opens the project `name`, made on first use; `user` has a home folder of their own."""

    def opened(name: str, user: str = "home", **env: str) -> Project:
        folder = tmp_path / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        home = tmp_path / user
        home.mkdir(exist_ok=True)
        return open_project(folder, {"HOME": str(home), **env}, third_party=False)

    return opened
