"""A temporary project, and sessions of Claude Code written record by record."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.project import Project, open_project


class Session:
    """Builds a transcript in the shape of Claude Code's JSONL."""

    def __init__(self, path: Path, session: str = "11111111-2222-4333-8444-555555555555") -> None:
        self.path = path
        self.session = session
        self._n = 0

    def record(self, kind: str, **fields: Any) -> None:
        """Append one record."""
        self._n += 1
        head = {
            "type": kind,
            "uuid": f"u{self._n:08d}-{self.session[:4]}",
            "sessionId": self.session,
            "timestamp": f"2026-03-02T09:{self._n // 60:02d}:{self._n % 60:02d}.000Z",
            "cwd": "/home/dev/shop",
            "gitBranch": "main",
            "isSidechain": False,
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(head | fields) + "\n")

    def raw(self, data: bytes) -> None:
        """Append bytes as they are."""
        with self.path.open("ab") as file:
            file.write(data)

    def user(self, text: str) -> None:
        """What a person typed."""
        self.record("user", promptId=f"p{self._n}", message={"role": "user", "content": text})

    def assistant(self, text: str) -> None:
        """What the agent answered."""
        block = {"type": "text", "text": text}
        self.record("assistant", message={"role": "assistant", "content": [block]})

    def tool(
        self, name: str, arguments: dict[str, Any], output: str, *, failed: bool = False
    ) -> None:
        """A finished tool call."""
        call = f"toolu_{self.session[:4]}_{self._n}"
        use = {"type": "tool_use", "id": call, "name": name, "input": arguments}
        self.record("assistant", message={"role": "assistant", "content": [use]})
        result = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": output,
            "is_error": failed,
        }
        self.record(
            "user",
            message={"role": "user", "content": [result]},
            toolUseResult=f"Error: {output}" if failed else {"stdout": output, "stderr": ""},
        )

    def shell(self, command: str, output: str, *, failed: bool = False) -> None:
        """A finished command."""
        text = f"Exit code 1\n{output}" if failed else output
        self.tool("Bash", {"command": command}, text, failed=failed)

    def edit(self, path: str, old: str, new: str) -> None:
        """A finished edit."""
        arguments = {"file_path": path, "old_string": old, "new_string": new}
        self.tool("Edit", arguments, "The file has been updated.")

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
