"""A project under attack: a HOME of its own, the command line, and sessions written by hand."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ijfw_core.cli.group import ijfw
from ijfw_core.project import Project, open_project


class Attack:
    """A project folder, a HOME, and everything that can be done to them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.project = root / "shop"
        self.session = root / "session.jsonl"
        self.name = "11111111-2222-4333-8444-555555555555"
        self.more: dict[str, Any] = {}  # fields of every record
        (self.project / ".git").mkdir(parents=True)
        self.home.mkdir()
        self._n = 0

    @property
    def env(self) -> dict[str, str]:
        """The environment of a command."""
        return {"HOME": str(self.home)}

    @property
    def memory(self) -> Path:
        """The private memory folder."""
        return self.project / ".ijfw" / "memory"

    def open(self) -> Project:
        """The project, as the next command opens it."""
        return open_project(self.project, self.env, third_party=False)

    def run(self, *arguments: str) -> Result:
        """Run a command in the project."""
        return CliRunner().invoke(ijfw, list(arguments))

    def answer(self, *arguments: str) -> Any:
        """The object that a command prints with --json."""
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def capture(self) -> Any:
        """Capture the session."""
        return self.answer("capture", str(self.session))

    def record(self, kind: str, content: Any, **fields: Any) -> None:
        """Append one record to the session."""
        self._n += 1
        head = {
            "type": kind,
            "uuid": f"u{self._n:08d}",
            "sessionId": self.name,
            "timestamp": f"2026-03-02T09:{self._n // 60:02d}:{self._n % 60:02d}.000Z",
            "message": {"role": kind, "content": content},
        }
        with self.session.open("a", encoding="utf-8") as file:
            file.write(json.dumps(head | self.more | fields) + "\n")

    def user(self, text: str, **fields: Any) -> None:
        """What a person typed."""
        self.record("user", text, **fields)

    def tool(self, tool: str, given: dict[str, Any], output: Any, *, failed: bool = False) -> None:
        """A finished tool call."""
        call = f"toolu_{self._n}"
        use = {"type": "tool_use", "id": call, "name": tool, "input": given}
        self.record("assistant", [use])
        result = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": output,
            "is_error": failed,
        }
        said = f"Error: {output}" if failed else {"stdout": output, "stderr": ""}
        self.record("user", [result], toolUseResult=said)

    def shell(self, command: str, output: str, *, failed: bool = False) -> None:
        """A finished command."""
        text = f"Exit code 1\n{output}" if failed else output
        self.tool("Bash", {"command": command}, text, failed=failed)

    def edit(self, path: str, old: str, new: str) -> None:
        """A finished edit."""
        given = {"file_path": path, "old_string": old, "new_string": new}
        self.tool("Edit", given, "The file has been updated.")

    def texts(self) -> Iterator[tuple[str, str]]:
        """The name and content of every file below HOME and the project."""
        for base in (self.home, self.project):
            for path in base.rglob("*"):
                content = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
                yield str(path.relative_to(self.root)), f"{path.name}\n{content}"


@pytest.fixture
def attack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attack:
    """A fresh project, with debug logging on; commands run in it."""
    made = Attack(tmp_path)
    monkeypatch.chdir(made.project)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("IJFW_DEBUG", "1")
    monkeypatch.delenv("IJFW_HOME", raising=False)
    return made
