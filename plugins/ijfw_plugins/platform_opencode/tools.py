"""A tool call of OpenCode as a `Tool`, the same from our plugin's payload and from an export."""

import re
from collections.abc import Mapping
from typing import Any

from ijfw_core import toolcalls
from ijfw_core.text import clean, strip_memory
from ijfw_core.toolcalls import Call, ToolKind
from ijfw_hookspecs import Tool

_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "edit": "edit",
    "write": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "read": "read",
    "glob": "read",
    "grep": "read",
    "list": "read",
    "task": "agent",
}
_OWN = ("skill", "todowrite", "todoread", "webfetch", "websearch", "question", "invalid", "lsp")
_OURS = "ijfw_"  # tools of an MCP server carry its name in front
_BESIDE = re.compile(r"\n*<(bash_metadata|shell_metadata)>.*?(?:</\1>|\Z)", re.S)
_PERSON = ("The user rejected permission", "The user dismissed", "The user has specified a rule")


def call(name: str, arguments: object, call_id: str) -> Call:
    """Describe a call. Tolerates arguments of any shape."""
    args: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    kind: ToolKind = _KINDS.get(name, "other")
    if kind == "other" and name not in _OWN and "_" in name:
        kind = "mcp"
    shown, subject = _shown(kind, args)
    ours = name.startswith(_OURS) or toolcalls.is_ours(kind, subject)
    return Call(call_id, name, kind, shown, ours)


def finish(known: Call, output: str, *, exit_code: object, error: str = "") -> Tool:
    """The finished tool. `exit_code` is the metadata's, `error` the text of a call that failed."""
    code = toolcalls.exit_code(exit_code)
    said_no = error.startswith(_PERSON)
    failed: bool | None = bool(error)
    if known.kind == "shell" and not error:
        failed = None if code is None else code != 0
    output = strip_memory(clean(_BESIDE.sub("", output or error)))
    return known.done(output, exit_code=code, failed=None if said_no else failed)


def _shown(kind: ToolKind, args: Mapping[str, Any]) -> tuple[str, str]:
    """(what Tool.input says, the path or command that the call is about)."""
    text_of = toolcalls.text_of
    if kind == "shell":
        command = text_of(args, "command")
        return command, f"{command}\n{text_of(args, 'workdir')}".rstrip("\n")
    if kind == "edit":
        path = text_of(args, "filePath", "path")
        patch = text_of(args, "patchText")
        if not path and patch:
            return patch[: toolcalls.DIFF_CHARS], patch[: toolcalls.DIFF_CHARS]
        changes = [(text_of(args, "oldString"), text_of(args, "newString", "content"))]
        edits = args.get("edits")
        if isinstance(edits, list):
            few = [one for one in edits[: toolcalls.DIFF_LINES] if isinstance(one, dict)]
            changes = [(text_of(one, "oldString"), text_of(one, "newString")) for one in few]
        return toolcalls.edited(path, changes), path
    if kind == "read":
        path, pattern = text_of(args, "filePath", "path"), text_of(args, "pattern", "include")
        return path or pattern, f"{pattern} {path}"
    if kind == "agent":
        return text_of(args, "description", "prompt")[: toolcalls.OTHER_CHARS], ""
    return toolcalls.others(args), text_of(args, "path", "filePath", "command")
