"""Where the clients keep what we put there."""

from collections.abc import Sequence
from pathlib import Path

from ijfw_core import edits
from ijfw_core.edits import Piece
from ijfw_plugins.platform_gemini_like import Names

MILLISECONDS = 10_000  # that the client waits for a hook; other clients count seconds
_TOOLS = ("AfterTool", "PostToolUse", "PostToolUseFailure")  # matched by the tool's name


def pieces(names: Names, folder: Path, command: Sequence[str] = ()) -> list[Piece]:
    """All that is ours, for `ijfw_core.edits`; `command` runs our hook, () to take things out."""
    path = folder / "settings.json"
    hooks = {event: _group(event, command) for event in names.heard}
    return [
        *edits.hook_items(path, names.platform, hooks, within="hooks", comments=True),
        edits.mcp_member(path, command, comments=True),
        edits.skill_file(folder / "skills", names.tool),
    ]


def _group(event: str, command: Sequence[str]) -> dict[str, object]:
    hook = {
        "name": "ijfw",
        "type": "command",
        "command": edits.hook_line(command, event),
        "timeout": MILLISECONDS,
    }
    matcher = {"matcher": "*"} if event in _TOOLS else {}
    return {**matcher, "hooks": [hook]}
