"""Gemini CLI."""

from pathlib import Path
from typing import Any

from ijfw_tests.e2e.client import Client, Tools
from ijfw_tests.e2e.desk import Desk

SETTINGS = """{
    // what a person wrote
    "security": { "auth": {"selectedType": "gemini-api-key"} },
    "privacy": {"usageStatisticsEnabled": false},
    "telemetry": {"enabled": false},
    "general": {"enableAutoUpdate": false}   /* two blanks more */
}
"""


def _line(desk: Desk, program: str, prompt: str, resume: bool) -> list[str]:
    line = [program, "-m", "gemini-2.5-flash", "--approval-mode", "yolo"]
    return [*line, *(("--resume", "latest") if resume else ()), "-p", prompt]


def _env(desk: Desk) -> dict[str, str]:
    return {
        "GEMINI_API_KEY": "no-key-is-needed-here",
        "GOOGLE_GEMINI_BASE_URL": desk.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _prepare(desk: Desk) -> None:
    desk.write(".gemini/settings.json", SETTINGS)


def _shell(command: str) -> dict[str, Any]:
    return {"use": ["run_shell_command", {"command": command, "description": "Run it"}]}


def _read(path: Path) -> dict[str, Any]:
    return {"use": ["read_file", {"file_path": str(path)}]}


def _edit(path: Path, old: str, new: str) -> dict[str, Any]:
    change = {"instruction": "mend it", "old_string": old, "new_string": new}
    return {"use": ["replace", {"file_path": str(path), **change}]}


def _memory(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"use": [f"mcp_ijfw_{name}", arguments]}


GEMINI_CLI = Client(
    platform="gemini-cli",
    variable="IJFW_E2E_GEMINI",
    program="gemini",
    line=_line,
    tools=Tools(_shell, _read, _edit, _memory),
    env=_env,
    prepare=_prepare,
    configs=(".gemini/settings.json", ".gemini/skills", ".gemini/extensions", ".gemini/GEMINI.md"),
    own=(".gemini",),
    offers=("ijfw-auto-memorize",),
)
