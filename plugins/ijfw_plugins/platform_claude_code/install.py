"""What of ours stands in Claude Code's files: hooks, the MCP server, the skill."""

from collections.abc import Sequence
from pathlib import Path

from ijfw_core import edits
from ijfw_plugins.platform_claude_code import NAME

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


def pieces(folder: Path, servers: Path, command: Sequence[str] = ()) -> list[edits.Piece]:
    """Our parts of one scope: hooks and skill in a folder, the server in a file of its own."""
    hooks = {event: _group(event, command) for event in EVENTS}
    return [
        *edits.hook_items(folder / "settings.json", NAME, hooks, within="hooks"),
        edits.JsonMember(
            path=servers,
            keys=("mcpServers", "ijfw"),
            value={"type": "stdio", **edits.mcp_server(command)},
            ours=edits.is_mcp_server,
        ),
        edits.skill_file(folder / "skills", TOOL),
    ]


def _group(event: str, command: Sequence[str]) -> dict[str, object]:
    hook = {
        "type": "command",
        "command": edits.hook_line(command, event),
        "timeout": EVENTS[event],
    }
    matcher = {"matcher": "*"} if event in _TOOL_EVENTS else {}
    return {**matcher, "hooks": [hook]}
