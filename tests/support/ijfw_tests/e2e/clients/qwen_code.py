"""Qwen Code."""

from pathlib import Path
from typing import Any

from ijfw_tests.e2e.client import Client, Tools
from ijfw_tests.e2e.desk import Desk

SETTINGS = """{
    "security": { "auth": {"selectedType": "openai"} },
    "privacy": {"usageStatisticsEnabled": false},
    "telemetry": {"enabled": false},
    "general": {"enableAutoUpdate": false},
    "model": {"name": "scripted"},
    "$version": 4
}
"""


def _line(desk: Desk, program: str, prompt: str, resume: bool) -> list[str]:
    line = [program, "--approval-mode", "yolo", *(("--continue",) if resume else ())]
    return [*line, "-p", prompt]


def _env(desk: Desk) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "no-key-is-needed-here",
        "OPENAI_BASE_URL": f"{desk.url}/v1",
        "OPENAI_MODEL": "scripted",
    }


def _prepare(desk: Desk) -> None:
    desk.write(".qwen/settings.json", SETTINGS)


def _shell(command: str) -> dict[str, Any]:
    given = {"command": command, "description": "Run it", "is_background": False}
    return {"use": ["run_shell_command", given]}


def _read(path: Path) -> dict[str, Any]:
    return {"use": ["read_file", {"file_path": str(path)}]}


def _edit(path: Path, old: str, new: str) -> dict[str, Any]:
    return {"use": ["edit", {"file_path": str(path), "old_string": old, "new_string": new}]}


def _memory(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"use": [f"mcp__ijfw__{name}", arguments]}


QWEN_CODE = Client(
    platform="qwen-code",
    variable="IJFW_E2E_QWEN",
    program="qwen",
    line=_line,
    tools=Tools(_shell, _read, _edit, _memory),
    env=_env,
    prepare=_prepare,
    configs=(".qwen/settings.json", ".qwen/skills", ".qwen/extensions", ".qwen/QWEN.md"),
    own=(".qwen",),
    offers=("ijfw-auto-memorize",),
    seeded=1,
)
