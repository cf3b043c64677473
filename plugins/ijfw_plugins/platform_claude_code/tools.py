"""A tool call of Claude Code as a `Tool`, the same from a hook's payload and from a transcript."""

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ijfw_hookspecs import Tool
from ijfw_plugins.platform_claude_code import text as texts

ToolKind = Literal["shell", "edit", "read", "mcp", "agent", "other"]

DIFF_LINES = 40  # by the contract of Tool.input
DIFF_CHARS = 4000
MATCHED_LINES = 200  # above it lines are not matched, which is quadratic
OTHER_CHARS = 500  # of the arguments of a tool we know nothing of
COMMAND_CHARS = 20_000  # of a command in which a run of our own tool is looked for

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
_OUR_FOLDER = re.compile(r"(?<![\w.-])\.ijfw(?![\w.-])")
# `ijfw` as the word that is run: first, after a separator or a runner; not a folder's name.
# Bounded repeats keep it linear.
_OUR_COMMAND = re.compile(
    r"(?:^|[;&|(`\n][ \t]*|\b(?:sudo|exec|time|env|uvx|(?:uv|pipx|uv tool) run|python3? -m)[ \t]+)"
    r"(?:\w{1,80}=\S{0,200}[ \t]{1,9}){0,8}(?:[\w.~/-]{0,300}/)?ijfw(?:_core)?(?=[\s;|&)]|$)"
)


class Call(NamedTuple):
    """What is known of a tool call before its result."""

    id: str
    name: str
    kind: ToolKind
    input: str
    ours: bool


def call(name: str, arguments: object, call_id: str) -> Call:
    """Describe a call. Tolerates arguments of any shape."""
    args: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    kind: ToolKind = "mcp" if name.startswith("mcp__") else _KINDS.get(name, "other")
    shown, subject = _shown(kind, args)
    ours = name.startswith(_OUR_SERVER) or _is_ours(kind, subject)
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
    tool = Tool(
        name=known.name,
        kind=known.kind,
        input=known.input,
        output=output,
        exit_code=None if said_no else code,
        failed=None if said_no else is_error,
        call_id=known.id,
        is_ours=known.ours,
    )
    return tool, said_no


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
    return texts.reply("\n".join(shown)), texts.human("\n".join(chosen))


def _question(question: Mapping[str, Any]) -> str:
    lines = [_text(question, "question")]
    options = question.get("options")
    for number, option in enumerate(options if isinstance(options, list) else [], 1):
        if isinstance(option, dict):
            parts = (_text(option, "label"), _text(option, "description"))
            lines.append(f"{number}. " + ": ".join(part for part in parts if part))
    return "\n".join(lines)


def _text(args: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = args.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def _shown(kind: ToolKind, args: Mapping[str, Any]) -> tuple[str, str]:
    """(what Tool.input says, the path or command it is about)."""
    if kind == "shell":
        command = _text(args, "command")
        return command, command
    if kind == "edit":
        path = _text(args, "file_path", "notebook_path", "path")
        return f"{path}\n{_diff(_changes(args))}".rstrip("\n"), path
    if kind == "read":
        path = _text(args, "file_path", "notebook_path", "path")
        pattern = _text(args, "pattern", "glob")
        both = f"{pattern} {path}".strip()
        return path or pattern, both
    if kind == "agent":
        return _text(args, "description", "prompt")[:OTHER_CHARS], ""
    shown = _text(args, "file_path", "path", "url", "query", "command", "description")
    if not shown:
        shown = ", ".join(f"{k}={v}" for k, v in list(args.items())[:8] if isinstance(v, str | int))
    return shown[:OTHER_CHARS], _text(args, "file_path", "path", "command")


def _is_ours(kind: ToolKind, subject: str) -> bool:
    if ".ijfw" in subject and _OUR_FOLDER.search(subject):
        return True
    return (
        kind == "shell"
        and "ijfw" in subject
        and _OUR_COMMAND.search(subject, 0, COMMAND_CHARS) is not None
    )


def _changes(args: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(old, new) texts of an edit."""
    edits = args.get("edits")
    if isinstance(edits, list):
        found = [e for e in edits[:DIFF_LINES] if isinstance(e, dict)]
        return [(_text(e, "old_string"), _text(e, "new_string")) for e in found]
    return [(_text(args, "old_string"), _text(args, "new_string", "content", "new_source"))]


def _diff(changes: list[tuple[str, str]]) -> str:
    """A short diff: lines that both ends share are left out. Linear in the texts."""
    lines: list[str] = []
    for old, new in changes:
        lines += _hunk(old, new, DIFF_LINES - len(lines))
        if len(lines) >= DIFF_LINES:
            break
    return "\n".join(lines)[:DIFF_CHARS]


def _differing(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """The lines that only one side has."""
    from difflib import SequenceMatcher

    gone: list[str] = []
    come: list[str] = []
    for op, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if op != "equal":
            gone += before[a:b]
            come += after[c:d]
    return gone, come


def _hunk(old: str, new: str, room: int) -> list[str]:
    before, after = old.splitlines(), new.splitlines()
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    shortest = min(len(before), len(after)) - start
    while end < shortest and before[-1 - end] == after[-1 - end]:
        end += 1
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    if max(len(before), len(after)) <= MATCHED_LINES:
        before, after = _differing(before, after)
    gone, come = ["-" + line for line in before], ["+" + line for line in after]
    half = max(room // 2, room - len(come), 0)
    gone = gone[:half]
    return gone + come[: max(room - len(gone), 0)]
