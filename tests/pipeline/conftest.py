"""A temporary project, and sessions of Claude Code written record by record."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from ijfw_core.project import Project, open_project
from ijfw_tests.nights import START, Transcript


class Session(Transcript):
    """A transcript with a record a second."""

    def __init__(self, path: Path, session: str = "11111111-2222-4333-8444-555555555555") -> None:
        super().__init__(path, session, START, step=timedelta(seconds=1))

    def raw(self, data: bytes) -> None:
        """Append bytes as they are."""
        with self.path.open("ab") as file:
            file.write(data)

    def shell(self, command: str, output: str, *, failed: bool = False) -> None:
        """A finished command."""
        text = f"Exit code 1\n{output}" if failed else output
        self.tool("Bash", {"command": command}, text, failed=failed)

    def failing_test(self) -> None:
        """A test that fails."""
        self.shell("python -m pytest -q tests/test_page.py", TEST_OUTPUT, failed=True)

    def fixed_test(self) -> None:
        """The edit that mends it, and the test that passes."""
        old, new = "    return items[start:size]", "    return items[start : start + size]"
        self.edit("/home/dev/shop/page.py", old, new)
        self.shell("python -m pytest -q tests/test_page.py", "1 passed in 0.02s")


TEST_OUTPUT = """F
____________________ test_second_page ____________________
>       assert page(list(range(10)), 4, 3) == [4, 5, 6]
E       assert [] == [4, 5, 6]
tests/test_page.py:7: AssertionError
FAILED tests/test_page.py::test_second_page - assert [] == [4, 5, 6]
1 failed in 0.04s"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project folder with git, and an empty HOME beside it."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment that knows only a HOME."""
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def opened(shop: Path, env: dict[str, str]) -> Callable[[], Project]:
    """Opens the project anew, as the next command would."""
    return lambda: open_project(shop, env, third_party=False)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """An empty transcript."""
    return Session(tmp_path / "session.jsonl")
