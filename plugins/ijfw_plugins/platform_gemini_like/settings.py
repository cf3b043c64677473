"""Where the clients keep what we put there."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from ijfw_core import edits
from ijfw_core.edits import Piece
from ijfw_plugins.platform_gemini_like import Names

MILLISECONDS = 10_000  # that the client waits for a hook; other clients count seconds
SKILL = "ijfw-auto-memorize"
_TOOLS = ("AfterTool", "PostToolUse", "PostToolUseFailure")  # matched by the tool's name


def pieces(names: Names, folder: Path, command: Sequence[str] = ()) -> list[Piece]:
    """All that is ours, for `ijfw_core.edits`; `command` runs our hook, () to take things out."""
    path = folder / "settings.json"
    ours = edits.is_hook(names.platform)
    found: list[Piece] = [
        edits.JsonItems(
            path=path,
            keys=("hooks", event),
            items=(_group(event, command),),
            ours=ours,
            within="hooks",
            comments=True,
        )
        for event in names.heard
    ]
    found.append(
        edits.JsonMember(
            path=path,
            keys=("mcpServers", "ijfw"),
            value=edits.mcp_server(command),
            ours=edits.is_mcp_server,
            comments=True,
        )
    )
    skill = folder / "skills" / SKILL / "SKILL.md"
    text = edits.skill(names.tool)
    found.append(edits.WholeFile(path=skill, text=text, marks=edits.MARKDOWN))
    return found


def _group(event: str, command: Sequence[str]) -> dict[str, object]:
    hook = {
        "name": "ijfw",
        "type": "command",
        "command": shlex.join([*command, event]),
        "timeout": MILLISECONDS,
    }
    matcher = {"matcher": "*"} if event in _TOOLS else {}
    return {**matcher, "hooks": [hook]}
