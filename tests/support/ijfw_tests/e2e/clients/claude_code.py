"""Claude Code."""

from pathlib import Path
from typing import Any

from ijfw_tests.e2e.client import Client, Tools
from ijfw_tests.e2e.desk import Desk

QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "ANTHROPIC_API_KEY": "no-key-is-needed-here",
    "IS_SANDBOX": "1",
}


def _line(desk: Desk, program: str, prompt: str, resume: bool) -> list[str]:
    line = [program, "-p", prompt, "--model", "claude-sonnet-4-5"]
    line += ["--allowedTools", "Bash,Read,Edit,mcp__ijfw"]
    return [*line, "-c"] if resume else line


def _env(desk: Desk) -> dict[str, str]:
    return {**QUIET, "ANTHROPIC_BASE_URL": desk.url}


def _prepare(desk: Desk) -> None:
    # Spaces and line ends that no program writes: they must come back.
    desk.write(".claude/settings.json", b'{\r\n\t"theme":"dark",\r\n\t"env": {"A": "1"}\r\n}')


def _shell(command: str) -> dict[str, Any]:
    return {"use": ["Bash", {"command": command, "description": "Run it"}]}


def _read(path: Path) -> dict[str, Any]:
    return {"use": ["Read", {"file_path": str(path)}]}


def _edit(path: Path, old: str, new: str) -> dict[str, Any]:
    return {"use": ["Edit", {"file_path": str(path), "old_string": old, "new_string": new}]}


def _memory(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"use": [f"mcp__ijfw__{name}", arguments]}


CLAUDE_CODE = Client(
    platform="claude-code",
    variable="IJFW_E2E_CLAUDE",
    program="claude",
    line=_line,
    tools=Tools(_shell, _read, _edit, _memory),
    env=_env,
    prepare=_prepare,
    configs=(".claude/settings.json", ".claude/skills", ".claude/CLAUDE.md"),
    own=(".claude", ".claude.json", ".config"),
)
