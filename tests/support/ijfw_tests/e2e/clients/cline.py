"""Cline's command line. Without its hub: that is a daemon, which outlives the client.

It goes on with a session on a terminal only, so that is what it gets then.
"""

import json
import sys
from pathlib import Path
from typing import Any

from ijfw_tests.e2e import typed as typing_client
from ijfw_tests.e2e.client import Client, Tools
from ijfw_tests.e2e.desk import Desk

HUB = "--cline-hub-daemon"  # on a terminal it is started all the same, and stays


def _line(desk: Desk, program: str, prompt: str, resume: bool) -> list[str]:
    if not resume:  # one word alone would be a command
        return [program, "--timeout", "400", prompt if " " in prompt else f"{prompt} Please."]
    sessions = sorted((desk.home / ".cline/data/sessions").iterdir())
    typed = [sys.executable, typing_client.__file__, "Ask anything", prompt, HUB, "--"]
    return [*typed, program, "--id", sessions[-1].name]


def _env(desk: Desk) -> dict[str, str]:
    return {"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_TELEMETRY_DISABLED": "1"}


def _prepare(desk: Desk) -> None:
    chosen = {
        "provider": "openai-compatible",
        "apiKey": "no-key-is-needed-here",
        "model": "scripted",
        "baseUrl": f"{desk.url}/v1",
    }
    provider = {
        "settings": chosen,
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "tokenSource": "manual",
    }
    settings = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": provider},
    }
    desk.write(".cline/data/settings/providers.json", json.dumps(settings))
    # Spaces and line ends that no program writes: they must come back.
    servers = b'{\r\n\t"mcpServers":{ }\r\n}'
    desk.write(".cline/data/settings/cline_mcp_settings.json", servers)
    desk.write(".cline/hooks/TaskComplete", "#!/bin/sh\n# what this person has here\n").chmod(0o755)


def _shell(command: str) -> dict[str, Any]:
    return {"use": ["run_commands", {"commands": [command]}]}


def _read(path: Path) -> dict[str, Any]:
    return {"use": ["read_files", {"files": [{"path": str(path)}]}]}


def _edit(path: Path, old: str, new: str) -> dict[str, Any]:
    return {"use": ["editor", {"path": str(path), "old_text": old, "new_text": new}]}


def _memory(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"use": [f"ijfw__{name}", arguments]}


CLINE = Client(
    platform="cline",
    variable="IJFW_E2E_CLINE",
    program="cline",
    line=_line,
    tools=Tools(_shell, _read, _edit, _memory),
    env=_env,
    prepare=_prepare,
    configs=(
        ".cline/hooks",
        ".cline/plugins",
        ".cline/skills",
        ".cline/data/settings/cline_mcp_settings.json",
    ),
    own=(".cline", ".config", ".local"),
)
