"""What of ours stands in Claude Code's files: hooks, the MCP server, the skill."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ijfw_core import edits

# Event -> seconds the client waits. A session end gets 1.5 s unless these settings say more.
# Only what is used: each event is a process, and none is async (an async hook that still runs when
# the client exits is killed, and SessionEnd does not fire then).
EVENTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 10,
    "PostToolUse": 10,
    "PostToolUseFailure": 10,
    "Stop": 10,
    "SessionEnd": 10,
}
TOOL = "mcp__ijfw__{}"  # how the client shows a tool of our server to the model
_TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure")  # the client matches these by tool name
_SERVER = ("mcpServers", "ijfw")


def pieces(
    scope: Literal["user", "project"], home: Path, project: Path, command: Sequence[str] = ()
) -> list[edits.Piece]:
    """Our parts of one scope. Hooks and skill lie in `.claude`, servers in a file of their own.

    The client moves all of its user files to the folder that CLAUDE_CONFIG_DIR names.
    """
    moved = os.environ.get("CLAUDE_CONFIG_DIR", "")
    folder, servers = home / ".claude", home / ".claude.json"
    if scope == "project":
        folder, servers = project / ".claude", project / ".mcp.json"
    elif moved:
        folder, servers = Path(moved), Path(moved) / ".claude.json"
    hooks = [_hooks(folder / "settings.json", event, command) for event in EVENTS]
    server = edits.JsonMember(
        path=servers,
        keys=_SERVER,
        value={"type": "stdio", **edits.mcp_server(command)},
        ours=edits.is_mcp_server,
    )
    skill = edits.WholeFile(
        path=folder / "skills" / edits.SKILL / "SKILL.md",
        text=edits.skill(TOOL),
        marks=edits.MARKDOWN,
    )
    return [*hooks, server, skill]


def _hooks(path: Path, event: str, command: Sequence[str]) -> edits.JsonItems:
    hook = {
        "type": "command",
        "command": shlex.join([*command, event]),
        "timeout": EVENTS[event],
    }
    matcher = {"matcher": "*"} if event in _TOOL_EVENTS else {}
    return edits.JsonItems(
        path=path,
        keys=("hooks", event),
        items=({**matcher, "hooks": [hook]},),
        ours=edits.is_hook("claude-code"),
        within="hooks",
    )
