"""A tool call as a `Tool`, the same from a hook's payload and from a chat.

A hook is not told the id of a call that stands in the chat, so a call is named by what it was and
what came of it: the process group where a shell gives one, else the output.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ijfw_core.text import digest
from ijfw_core.toolcalls import ToolKind, edited, is_ours, others, text_of
from ijfw_hookspecs import Tool
from ijfw_plugins.platform_gemini_like import text as texts

_KINDS: dict[str, ToolKind] = {
    "run_shell_command": "shell",
    "replace": "edit",
    "edit": "edit",
    "write_file": "edit",
    "notebook_edit": "edit",
    "read_file": "read",
    "read_many_files": "read",
    "list_directory": "read",
    "glob": "read",
    "grep_search": "read",
    "search_file_content": "read",
    "agent": "agent",
    "task": "agent",
    "invoke_agent": "agent",
}
_OURS = ("mcp_ijfw_", "mcp__ijfw__", "ijfw_memory_")
# The lines that the shell tool sets behind an output.
_TRAILER = re.compile(
    r"(?:Error: \(none\)|Exit Code: (?P<code>-?\d{1,10}|\(none\))|Signal: (?P<signal>\S{1,20})"
    r"|Background PIDs: [^\n]{0,200}|Process Group PGID: (?P<group>\d{1,10}|\(none\)))\s*\Z"
)
_TRAILERS = 6  # of these lines at most
_HEAD = re.compile(r"(?:Command: .{0,20000}?\nDirectory: [^\n]*\n)?(?:Output|Stdout): ?", re.S)
_CUT = "Output too large"  # what an output begins with whose middle was left out
_CANCELLED = (
    "Command was cancelled",
    "[Operation Cancelled]",
    "User did not allow",
    "Tool execution denied",
)


class Shell(NamedTuple):
    """What came of a command."""

    output: str
    exit_code: int | None
    group: str  # its process group


def finish(name: str, arguments: object, output: str, *, error: bool | None = None) -> Tool:
    """Describe a finished call; `error` is what the platform itself says of it."""
    args: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    mcp = name.startswith(("mcp_", "mcp__"))
    kind: ToolKind = "mcp" if mcp else _KINDS.get(name, "other")
    shown, subject = _shown(kind, args)
    output = texts.plain(output)
    shell = _shell(output) if kind == "shell" else Shell(output, None, "")
    failed = error
    if shell.exit_code is not None:
        failed = shell.exit_code != 0 or error is True
    return Tool(
        name=name,
        kind=kind,
        input=shown,
        output=shell.output,
        exit_code=shell.exit_code,
        failed=failed,
        call_id=_identity(name, args, shell),
        is_ours=name.startswith(_OURS) or is_ours(kind, subject),
    )


def said_no(output: str) -> bool:
    """Whether nothing ran because a person said no."""
    return texts.plain(output).startswith(_CANCELLED)


def response(value: object) -> str:
    """The text of a model's part, of a list of parts, or of a function's response."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(response, value)))
    if not isinstance(value, dict):
        return ""
    if isinstance(value.get("functionResponse"), dict):
        return response(value["functionResponse"].get("response"))
    return text_of(value, "text", "output", "error")


def _shown(kind: ToolKind, args: Mapping[str, Any]) -> tuple[str, str]:
    """(what Tool.input says, the path or command it is about)."""
    path = text_of(args, "file_path", "absolute_path", "path", "dir_path", "notebook_path")
    if kind == "shell":
        command = text_of(args, "command")
        return command, command
    if kind == "edit":
        change = (text_of(args, "old_string"), text_of(args, "new_string", "content"))
        return edited(path, [change]), path
    if kind == "read":
        pattern = text_of(args, "pattern", "glob", "include")
        return path or pattern, f"{pattern} {path}".strip()
    return others(args), path or text_of(args, "command")


def _shell(output: str) -> Shell:
    """Take apart what the shell tool gives to the model."""
    text, code, signal, group, lines = output, None, "", "", 0
    for _ in range(_TRAILERS):
        start = text.rfind("\n") + 1
        match = _TRAILER.match(text, start)
        if match is None or (match["code"] and code is not None):
            break  # a second exit code is the command's own word
        lines += 1
        code = match["code"] or code
        signal = match["signal"] or signal
        group = match["group"] or group
        text = text[: max(start - 1, 0)]
    head = _HEAD.match(text)
    if head is None and not lines:
        return Shell(output, None, "")
    number: int | None = None
    if code is not None and code != "(none)":
        number = int(code)
    elif code is None and group and signal in ("", "0", "(none)") and (head or text[:16] == _CUT):
        number = 0  # the client leaves the line out where there is nothing to tell
    return Shell(text[head.end() :] if head else text, number, group)


def _identity(name: str, args: Mapping[str, Any], shell: Shell) -> str:
    try:
        given = json.dumps(args, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        given = ""
    last = shell.group if shell.group.isdigit() else shell.output.strip()
    return "c" + digest("\x1f".join((name, given, last)))
