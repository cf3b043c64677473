"""OpenCode, with a provider of its own choice. It hangs without ripgrep on PATH."""

from pathlib import Path
from typing import Any

from ijfw_tests.e2e.client import Client, Tools
from ijfw_tests.e2e.desk import Desk

# A comment and line ends that no program writes: they must come back. The client itself adds
# `$schema` where it is missing.
SETTINGS = """{{\r
  "$schema": "https://opencode.ai/config.json",\r
  // what this person likes\r
  "model": "scripted/scripted", "small_model": "scripted/scripted",\r
\t"autoupdate": false, "share": "disabled",\r
  "permission": {{"edit": "allow", "bash": "allow", "external_directory": "allow"}},\r
  "provider": {{"scripted": {{"npm": "@ai-sdk/openai-compatible", "name": "Scripted",\r
    "options": {{"baseURL": "{url}/v1", "apiKey": "no-key-is-needed-here"}},\r
    "models": {{"scripted": {{"name": "Scripted",\r
      "limit": {{"context": 100000, "output": 8000}}}}}},\r
  }}}}\r
}}"""


def _line(desk: Desk, program: str, prompt: str, resume: bool) -> list[str]:
    return [program, "run", *(["--continue"] if resume else []), prompt]


def _env(desk: Desk) -> dict[str, str]:
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "npm_config_offline": "true",
        "npm_config_fetch_retries": "0",
    }


def _prepare(desk: Desk) -> None:
    desk.write(".config/opencode/opencode.json", SETTINGS.format(url=desk.url))


def _shell(command: str) -> dict[str, Any]:
    return {"use": ["bash", {"command": command, "description": "Run it"}]}


def _read(path: Path) -> dict[str, Any]:
    return {"use": ["read", {"filePath": str(path)}]}


def _edit(path: Path, old: str, new: str) -> dict[str, Any]:
    return {"use": ["edit", {"filePath": str(path), "oldString": old, "newString": new}]}


def _memory(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"use": [f"ijfw_{name}", arguments]}


OPENCODE = Client(
    platform="opencode",
    variable="IJFW_E2E_OPENCODE",
    program="opencode",
    line=_line,
    tools=Tools(_shell, _read, _edit, _memory),
    env=_env,
    prepare=_prepare,
    configs=(
        ".config/opencode/opencode.json",
        ".config/opencode/opencode.jsonc",
        ".config/opencode/plugin",
        ".config/opencode/skill",
    ),
    own=(".config/opencode", ".local"),
)
