"""A tool call of Copilot CLI as a `Tool`, the same from a hook's payload and from the event log."""

import re
from collections.abc import Mapping
from typing import Any

from ijfw_core import toolcalls
from ijfw_core.text import clean, strip_memory
from ijfw_core.toolcalls import Call, ToolKind
from ijfw_hookspecs import Tool

_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "powershell": "shell",
    "local_shell": "shell",
    "edit": "edit",
    "create": "edit",
    "str_replace": "edit",
    "str_replace_editor": "edit",
    "apply_patch": "edit",
    "view": "read",
    "grep": "read",
    "glob": "read",
    "rg": "read",
    "task": "agent",
}
OUR_SERVER = "ijfw"
# The last line of a shell's result, and what hooks added behind it.
_EXIT = re.compile(
    r"\n?<(?:shellId: [^<>\n]{0,80} )?(?:completed|exited) with exit code (-?\d{1,10})>\s*\Z"
)
_GUIDANCE = re.compile(
    r'\n\nTool "[^"\n]{1,200}" \w{1,20}\. Additional guidance from \w{1,40} hooks:\n'
)
_PERSON = re.compile(
    r"(?i)\b(?:denied|rejected|cancell?ed|declined) by (?:the )?user\b"
    r"|\buser (?:has )?(?:denied|rejected|cancell?ed|declined)\b"
    r"|\bpermission denied and could not request\b"
)


def call(name: str, arguments: object, call_id: str = "", server: str = "") -> Call:
    """Describe a call; `server` is the MCP server of its tool. Tolerates arguments of any shape."""
    args: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    is_mcp = bool(server) or name.startswith(OUR_SERVER + "-")
    kind: ToolKind = "mcp" if is_mcp else _KINDS.get(name, "other")
    shown, subject = _shown(kind, args, arguments)
    ours = server == OUR_SERVER or name.startswith(OUR_SERVER + "-")
    return Call(call_id, name, kind, shown, ours or toolcalls.is_ours(kind, subject))


def finish(known: Call, output: str, *, exit_code: int | None, success: bool | None) -> Tool:
    """The finished tool. A shell's command that failed is reported as a success by the client:
    its exit status counts."""
    output = _GUIDANCE.split(output, maxsplit=1)[0]
    match = _EXIT.search(output[-300:])
    if match and known.kind == "shell":
        exit_code = int(match.group(1)) if exit_code is None else exit_code
        output = output[: len(output) - (min(len(output), 300) - match.start())]
    failed = None if success is None else not success
    if known.kind == "shell" and exit_code is not None:
        failed = exit_code != 0
    if success is False and _PERSON.search(output[:500]):
        failed, exit_code = None, None  # nobody's command failed: a person said no
    return known.done(strip_memory(clean(output)), exit_code=exit_code, failed=failed)


def _shown(kind: ToolKind, args: Mapping[str, Any], raw: object) -> tuple[str, str]:
    """(what Tool.input says, the path or command that the call is about)."""
    if kind == "shell":
        command = toolcalls.text_of(args, "command")
        return command, command
    if kind == "edit":
        path = toolcalls.text_of(args, "path", "file_path")
        if not path and isinstance(raw, str):  # a patch comes as it is
            return raw[: toolcalls.DIFF_CHARS], raw[: toolcalls.DIFF_CHARS]
        old = toolcalls.text_of(args, "old_str")
        new = toolcalls.text_of(args, "new_str", "file_text")
        return toolcalls.edited(path, [(old, new)]), path
    if kind == "read":
        path = toolcalls.text_of(args, "path", "paths")
        pattern = toolcalls.text_of(args, "pattern", "glob")
        return path or pattern, f"{pattern} {path}"
    if kind == "agent":
        return toolcalls.text_of(args, "description", "prompt")[: toolcalls.OTHER_CHARS], ""
    return toolcalls.others(args), toolcalls.text_of(args, "path", "command")
