"""Codex CLI."""

from pathlib import Path
from typing import Any

from ijfw_tests.e2e.client import Client, Tools
from ijfw_tests.e2e.desk import Desk

# A model that the client knows, so that it offers all its tools.
CONFIG = """# what a person wrote
model = "gpt-5.5"
model_provider = "scripted"   # two blanks
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[analytics]
enabled = false

[projects."{project}"]
trust_level = "trusted"
"""
HOOKS = '{\n\t"hooks": {"Stop": [{"hooks": [{"type":"command","command":"true"}]}]}\r\n}'
UNTRUSTED = ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
LINE = (*UNTRUSTED, "--dangerously-bypass-hook-trust")


def _line(desk: Desk, program: str, prompt: str, resume: bool) -> list[str]:
    return [program, *LINE, *(("resume", "--last") if resume else ()), prompt]


def _env(desk: Desk) -> dict[str, str]:
    return {"SCRIPTED_KEY": "no-key-is-needed-here"}


def _prepare(desk: Desk) -> None:
    desk.write(".codex/config.toml", CONFIG.format(url=desk.url, project=desk.project))
    desk.write(".codex/hooks.json", HOOKS)


def _shell(command: str) -> dict[str, Any]:
    return {"use": ["exec_command", {"cmd": command, "yield_time_ms": 20000}]}


def _read(path: Path) -> dict[str, Any]:
    return _shell(f"cat {path.name}")


def _edit(path: Path, old: str, new: str) -> dict[str, Any]:
    changed = [line for line in path.read_text().splitlines() if old in line]
    lines = "".join(f"-{line}\n+{line.replace(old, new)}\n" for line in changed)
    patch = f"*** Begin Patch\n*** Update File: {path.name}\n@@\n{lines}*** End Patch\n"
    return {"use": ["apply_patch", patch]}


def _memory(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"use": [name, arguments], "space": "mcp__ijfw"}


CODEX = Client(
    platform="codex",
    variable="IJFW_E2E_CODEX",
    program="codex",
    line=_line,
    tools=Tools(_shell, _read, _edit, _memory),
    env=_env,
    prepare=_prepare,
    configs=(".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md", ".agents"),
    own=(".codex",),
    offers=("ijfw-auto-memorize",),
)
