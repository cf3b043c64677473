"""A tool call of Cline as a `Tool`, the same from a hook's payload and from the messages file."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ijfw_core import toolcalls
from ijfw_core.text import clean, strip_memory
from ijfw_core.toolcalls import Call, ToolKind
from ijfw_hookspecs import Tool

_KINDS: dict[str, ToolKind] = {
    "run_commands": "shell",
    "execute_command": "shell",
    "editor": "edit",
    "apply_patch": "edit",
    "write_to_file": "edit",
    "replace_in_file": "edit",
    "read_files": "read",
    "read_file": "read",
    "search_codebase": "read",
    "search_files": "read",
    "list_files": "read",
    "spawn_agent": "agent",
    "use_mcp_tool": "mcp",
}
_OURS = "ijfw__"  # tools of an MCP server carry its name in front
# The exit status stands in words, in front of what the command printed; success says nothing.
_EXIT = re.compile(r"\A\[Command (?:exited|failed) with (?:exit )?code (-?\d{1,10})\]\n?")
_STDERR = re.compile(r"^\[stderr\]\n", re.M)
_PERSON = re.compile(r"(?i)\b(?:user|permission)\b[^\n]{0,30}\b(?:denied|rejected|declined)\b")


def call(name: str, arguments: object, call_id: str) -> Call:
    """Describe a call. Tolerates arguments of any shape."""
    args: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    kind: ToolKind = _KINDS.get(name, "mcp" if "__" in name else "other")
    shown, subject = _shown(kind, args)
    ours = name.startswith(_OURS) or toolcalls.text_of(args, "server_name") == "ijfw"
    return Call(call_id, name, kind, shown, ours or toolcalls.is_ours(kind, subject))


def finish(known: Call, result: object, *, error: str = "") -> Tool:
    """The finished tool. A shell's call may have run several commands: one that failed counts."""
    output, code, success = _outcome(result)
    output = output or error
    failed = None if success is None else not success
    if error and success is None:
        failed = True
    if known.kind == "shell" and success and code is None:
        code = 0
    if failed and _PERSON.search(output[:500]):
        failed, code = None, None
    code = code if known.kind == "shell" else None
    return known.done(strip_memory(clean(output)), exit_code=code, failed=failed)


def _outcome(result: object) -> tuple[str, int | None, bool | None]:
    """(what was printed, exit status, whether it went well) of a result of any shape."""
    if isinstance(result, str):
        match = _EXIT.match(result)
        code = int(match.group(1)) if match else None
        text = result[match.end() :] if match else result
        return _STDERR.sub("", text), code, None if code is None else code == 0
    if isinstance(result, dict):
        if isinstance(result.get("content"), list):  # of an MCP server
            text = "\n".join(_texts(result["content"]))
            return text, None, result.get("isError") is not True
        result = [result]
    if not isinstance(result, list):
        return "", None, None
    outputs, status, fine = [], None, None
    for one in result:
        if not isinstance(one, dict):
            continue
        said = one.get("result", one.get("text"))
        text, code, _ = _outcome(said) if isinstance(said, str) else ("", None, None)
        if not text and isinstance(one.get("error"), str):
            text = one["error"]
        outputs.append(text)
        if code is not None and (status is None or status == 0):
            status = code
        if isinstance(one.get("success"), bool):
            fine = one["success"] if fine is None else fine and one["success"]
    return "\n".join(outputs), status, fine


def _texts(blocks: Sequence[object]) -> list[str]:
    found = [b.get("text") for b in blocks if isinstance(b, dict)]
    return [text for text in found if isinstance(text, str)]


def _shown(kind: ToolKind, args: Mapping[str, Any]) -> tuple[str, str]:
    """(what Tool.input says, the path or command that the call is about)."""
    text_of = toolcalls.text_of
    if kind == "shell":
        many = args.get("commands")
        lines = [one for one in many if isinstance(one, str)] if isinstance(many, list) else []
        command = "\n".join(lines) or text_of(args, "commands", "command")
        return command, command
    if kind == "edit":
        path = text_of(args, "path", "absolutePath")
        patch = text_of(args, "input", "diff")
        if patch:
            return f"{path}\n{patch}".strip("\n")[: toolcalls.DIFF_CHARS], f"{path} {patch[:500]}"
        changes = (text_of(args, "old_text"), text_of(args, "new_text", "content"))
        return toolcalls.edited(path, [changes]), path
    if kind == "read":
        files = args.get("files")
        paths = [
            one["path"]
            for one in (files if isinstance(files, list) else [])
            if isinstance(one, dict) and isinstance(one.get("path"), str)
        ]
        queries = args.get("queries")
        words = [q for q in queries if isinstance(q, str)] if isinstance(queries, list) else []
        shown = ", ".join([*paths, *words]) or text_of(args, "path", "regex", "query")
        return shown[: toolcalls.OTHER_CHARS], shown
    if kind == "agent":
        return text_of(args, "task", "prompt")[: toolcalls.OTHER_CHARS], ""
    return toolcalls.others(args), text_of(args, "path", "command")
