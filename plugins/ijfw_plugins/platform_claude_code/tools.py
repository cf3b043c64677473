"""A tool call of Claude Code as a `Tool`, the same from a hook's payload and from a transcript."""

import re
from collections.abc import Mapping
from typing import Any

from ijfw_core import toolcalls
from ijfw_core.toolcalls import Call, ToolKind, reply_end, text_of
from ijfw_hookspecs import Tool
from ijfw_plugins.platform_claude_code import text as texts

_KINDS: dict[str, ToolKind] = {
    "Bash": "shell",
    "PowerShell": "shell",
    "Edit": "edit",
    "Write": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Read": "read",
    "Glob": "read",
    "Grep": "read",
    "LS": "read",
    "NotebookRead": "read",
    "Task": "agent",
    "Agent": "agent",
}
_EXIT = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})\b")
_OUR_SERVER = ("mcp__ijfw__", "mcp__plugin_ijfw_")


def call(name: str, arguments: object, call_id: str) -> Call:
    """Describe a call. Tolerates arguments of any shape."""
    args: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    kind: ToolKind = "mcp" if name.startswith("mcp__") else _KINDS.get(name, "other")
    shown, subject = _shown(kind, args)
    ours = name.startswith(_OUR_SERVER) or toolcalls.is_ours(kind, subject)
    return Call(call_id, name, kind, shown, ours)


def finish(known: Call, output: str, *, is_error: bool, ok_code: int | None) -> tuple[Tool, bool]:
    """The finished tool, and whether nobody's command failed but a person said no.

    `ok_code` is the exit status of a call that did not fail, where the platform tells it.
    """
    said_no = is_error and texts.rejected(output)
    output = texts.output(output)
    code = ok_code
    if is_error:
        match = _EXIT.match(output)
        code = int(match.group(1)) if match else None
    if said_no:
        return known.done(output, exit_code=None, failed=None), True
    return known.done(output, exit_code=code, failed=is_error), False


def answered(name: str, response: object) -> tuple[str, str] | None:
    """(the questions with their options, what the person chose) of a question the agent asked.

    A choice among offered options is a person's word, although it comes as a tool's result.
    """
    if name != "AskUserQuestion" or not isinstance(response, dict):
        return None
    answers = response.get("answers")
    if not isinstance(answers, dict):
        return None
    chosen = [value for value in answers.values() if isinstance(value, str) and value]
    if not chosen:
        return None
    asked = response.get("questions")
    shown = [_question(q) for q in asked if isinstance(q, dict)] if isinstance(asked, list) else []
    return reply_end("\n".join(shown)), texts.human("\n".join(chosen))


def _question(question: Mapping[str, Any]) -> str:
    lines = [text_of(question, "question")]
    options = question.get("options")
    for number, option in enumerate(options if isinstance(options, list) else [], 1):
        if isinstance(option, dict):
            parts = (text_of(option, "label"), text_of(option, "description"))
            lines.append(f"{number}. " + ": ".join(part for part in parts if part))
    return "\n".join(lines)


def _shown(kind: ToolKind, args: Mapping[str, Any]) -> tuple[str, str]:
    """(what Tool.input says, the path or command it is about)."""
    if kind == "shell":
        command = text_of(args, "command")
        return command, command
    if kind == "edit":
        path = text_of(args, "file_path", "notebook_path", "path")
        return toolcalls.edited(path, _changes(args)), path
    if kind == "read":
        path = text_of(args, "file_path", "notebook_path", "path")
        pattern = text_of(args, "pattern", "glob")
        both = f"{pattern} {path}".strip()
        return path or pattern, both
    if kind == "agent":
        return text_of(args, "description", "prompt")[: toolcalls.OTHER_CHARS], ""
    return toolcalls.others(args), text_of(args, "file_path", "path", "command")


def _changes(args: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(old, new) texts of an edit."""
    edits = args.get("edits")
    if isinstance(edits, list):
        found = [e for e in edits[: toolcalls.DIFF_LINES] if isinstance(e, dict)]
        return [(text_of(e, "old_string"), text_of(e, "new_string")) for e in found]
    return [
        (
            text_of(args, "old_string"),
            text_of(args, "new_string", "content", "new_source"),
        )
    ]
