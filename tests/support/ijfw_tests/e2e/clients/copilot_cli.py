"""GitHub Copilot CLI, offline, with a model of its own choice."""

from pathlib import Path
from typing import Any

from ijfw_tests.e2e.client import Client, Tools
from ijfw_tests.e2e.desk import Desk


def _line(desk: Desk, program: str, prompt: str, resume: bool) -> list[str]:
    line = [program, "-p", prompt, "--allow-all-tools"]
    return [*line, "--continue"] if resume else line


def _env(desk: Desk) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": f"{desk.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "no-key-is-needed-here",
        "COPILOT_MODEL": "scripted",
    }


def _prepare(desk: Desk) -> None:
    # Spaces and line ends that no program writes: they must come back.
    desk.write(".copilot/mcp-config.json", b'{\r\n\t"mcpServers":{ }\r\n}')


def _shell(command: str) -> dict[str, Any]:
    return {"use": ["bash", {"command": command, "description": "Run it"}]}


def _read(path: Path) -> dict[str, Any]:
    return {"use": ["view", {"path": str(path)}]}


def _edit(path: Path, old: str, new: str) -> dict[str, Any]:
    return {"use": ["edit", {"path": str(path), "old_str": old, "new_str": new}]}


def _memory(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"use": [f"ijfw-{name}", arguments]}


COPILOT_CLI = Client(
    platform="copilot-cli",
    variable="IJFW_E2E_COPILOT",
    program="copilot",
    line=_line,
    tools=Tools(_shell, _read, _edit, _memory),
    env=_env,
    prepare=_prepare,
    configs=(".copilot/hooks", ".copilot/mcp-config.json", ".copilot/skills"),
    own=(".copilot", ".config"),
)
