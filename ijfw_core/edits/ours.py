"""The parts that most clients get (MCP server, hooks, skill), and how they are known again."""

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ijfw_core.edits.agent_texts import SKILL, skill
from ijfw_core.edits.marked import MARKDOWN
from ijfw_core.edits.pieces import JsonItems, JsonMember, Piece, WholeFile

_COMMAND_CHARS = 4096  # of a hook's line in which our script is looked for


def hook_line(command: Sequence[str], event: str) -> str:
    """The line of a shell that runs our hook for an event, of a hook command."""
    return shlex.join([*command, event])


def hook_items(
    path: Path,
    platform: str,
    events: Mapping[str, object],
    *,
    within: str = "",
    comments: bool = False,
    start: Mapping[str, Any] = {},
) -> list[Piece]:
    """Our hooks in a JSON file of the usual form, {"hooks": {event: [item]}}: an item an event.

    What else is given is as for `JsonItems`.
    """
    return [
        JsonItems(
            path=path,
            keys=("hooks", event),
            items=(item,),
            ours=is_hook(platform),
            within=within,
            comments=comments,
            start=start,
        )
        for event, item in events.items()
    ]


def mcp_member(
    path: Path, command: Sequence[str], *, comments: bool = False, **more: Any
) -> JsonMember:
    """Our MCP server in a JSON file of the usual form, {"mcpServers": {name: server}}."""
    return JsonMember(
        path=path,
        keys=("mcpServers", "ijfw"),
        value=mcp_server(command, **more),
        ours=is_mcp_server,
        comments=comments,
    )


def skill_file(folder: Path, tool: str = "{}") -> WholeFile:
    """Our skill in a client's folder of skills; `tool` is how its model sees a tool of ours."""
    return WholeFile(path=folder / SKILL / "SKILL.md", text=skill(tool), marks=MARKDOWN)


def script(path: Path, command: Sequence[str]) -> str:
    """A JavaScript of ours that runs our hook, with the command in its line `const COMMAND`."""
    line = json.dumps(list(command), ensure_ascii=False)
    return path.read_text("utf-8").replace("const COMMAND = []", f"const COMMAND = {line}", 1)


def mcp_command(command: Sequence[str]) -> list[str]:
    """The line that runs our MCP server, of a hook command (interpreter first)."""
    return [command[0], "-I", "-m", "ijfw_core.mcp"]


def mcp_env(command: Sequence[str]) -> dict[str, str]:
    """What the server must be told besides: our folder, where it is not ~/.ijfw."""
    script = next((word for word in command if word.endswith("hook.py")), "")
    home = os.path.dirname(script)
    return {"IJFW_HOME": home} if home and home != os.path.expanduser("~/.ijfw") else {}


def mcp_server(command: Sequence[str], **more: Any) -> dict[str, Any]:
    """The server as most clients write it: command, args, env where needed, and `more`.

    An empty command, as `uninstall` has it, gives an empty server.
    """
    if not command:
        return {}
    words, env = mcp_command(command), mcp_env(command)
    return {"command": words[0], "args": words[1:], **({"env": env} if env else {}), **more}


def is_mcp_server(value: Any) -> bool:
    """Whether a server in a client's settings is ours: it runs our module, or `ijfw mcp`."""
    words = [word for word in _strings(value) if len(word) < _COMMAND_CHARS]
    named = any(word == "ijfw" or word.endswith(("/ijfw", "/ijfw.exe")) for word in words)
    return "ijfw_core.mcp" in words or (named and "mcp" in words)


def is_hook(platform: str) -> Callable[[Any], bool]:
    """Tells whether a hook in a client's settings runs our script for this platform."""
    ran = r"(?:\bhook\.py['\"]?|\bijfw['\"]?\s+hook\s+--platform)\s+"
    line = re.compile(rf"{ran}['\"]?{re.escape(platform)}['\"]?\s+\w+['\"]?\s*$")

    def told(value: Any) -> bool:
        words = [word for word in _strings(value) if len(word) < _COMMAND_CHARS]
        return any(line.search(word) for word in (*words, " ".join(words[:20])))

    return told


def _strings(value: Any) -> list[str]:
    """The texts in an object or a list, one level of lists deep."""
    values = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(values, list):
        return [values] if isinstance(values, str) else []
    found = [inner for v in values for inner in (v if isinstance(v, list) else [v])]
    return [text for text in found if isinstance(text, str)]
