"""For adapters: how a tool call, a time and a reply of any agent are described."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from ijfw_core.text import clean, parse_time
from ijfw_hookspecs import Tool

ToolKind = Literal["shell", "edit", "read", "mcp", "agent", "other"]

REPLY_LIMIT = 16 * 1024  # bytes of an assistant message, by the contract of AgentEvent
DIFF_LINES = 40  # by the contract of Tool.input
DIFF_CHARS = 4000
MATCHED_LINES = 200  # above it lines are not matched, which is quadratic
OTHER_CHARS = 500  # of the arguments of a tool we know nothing of
COMMAND_CHARS = 20_000  # of a command in which a run of our own tool is looked for
MILLISECONDS = 100_000_000_000  # a larger number is no count of seconds: they reach it in year 5138

_OUR_FOLDER = re.compile(r"(?<![\w.-])\.ijfw(?![\w.-])")
# `ijfw` as the word that is run: first, after a separator or a runner; not a folder's name.
# Bounded repeats keep it linear.
_OUR_COMMAND = re.compile(
    r"(?:^|[;&|(`\n][ \t]*|\b(?:sudo|exec|time|env|uvx|(?:uv|pipx|uv tool) run|python3? -m)[ \t]+)"
    r"(?:\w{1,80}=\S{0,200}[ \t]{1,9}){0,8}(?:[\w.~/-]{0,300}/)?"
    r"ijfw(?:_core[\w.]{0,80})?(?=[\s;|&)]|$)"
)


class Call(NamedTuple):
    """What is known of a tool call before its result."""

    id: str
    name: str
    kind: ToolKind
    input: str
    ours: bool

    def done(self, output: str, *, exit_code: int | None, failed: bool | None) -> Tool:
        """The finished tool."""
        return Tool(
            name=self.name,
            kind=self.kind,
            input=self.input,
            output=output,
            exit_code=exit_code,
            failed=failed,
            call_id=self.id,
            is_ours=self.ours,
        )


def is_ours(kind: ToolKind, subject: str) -> bool:
    """Whether a call runs our command line or touches our folder: it is never captured.

    `subject` is the command, the path or the pattern that the call is about.
    """
    if ".ijfw" in subject and _OUR_FOLDER.search(subject):
        return True
    found = kind == "shell" and "ijfw" in subject
    return found and _OUR_COMMAND.search(subject, 0, COMMAND_CHARS) is not None


def text_of(fields: object, *names: str) -> str:
    """The first of these fields that is a text and not empty; "" where there are no fields."""
    if isinstance(fields, Mapping):
        for name in names:
            value = fields.get(name)
            if isinstance(value, str) and value:
                return value
    return ""


def fields_of(fields: object, name: str) -> dict[str, Any]:
    """The object that is the field `name`; {} where it is none."""
    value = fields.get(name) if isinstance(fields, Mapping) else None
    return value if isinstance(value, dict) else {}


def exit_code(value: object) -> int | None:
    """An exit status that a platform gives; None where it is no number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def others(arguments: Mapping[str, Any]) -> str:
    """The arguments of a tool we know nothing of, in at most 500 characters."""
    shown = text_of(arguments, "path", "file_path", "url", "query", "command", "description")
    if not shown:
        few = list(arguments.items())[:8]
        shown = ", ".join(f"{key}={value}" for key, value in few if isinstance(value, str | int))
    return shown[:OTHER_CHARS]


def edited(path: str, changes: Iterable[tuple[str, str]]) -> str:
    """What `Tool.input` says of an edit: the path, then a short diff of (old, new) texts."""
    return f"{path}\n{diff(changes)}".rstrip("\n")


def diff(changes: Iterable[tuple[str, str]]) -> str:
    """A short diff: lines that both ends share are left out. Linear in the texts."""
    lines: list[str] = []
    for old, new in changes:
        lines += _hunk(old, new, DIFF_LINES - len(lines))
        if len(lines) >= DIFF_LINES:
            break
    return "\n".join(lines)[:DIFF_CHARS]


def reply_end(text: str) -> str:
    """The end of an assistant message, at most 16 KB: the question or the options stand last."""
    text = clean(text).strip()
    data = text.encode("utf-8", "replace")
    if len(data) <= REPLY_LIMIT:
        return text
    return data[-REPLY_LIMIT:].decode("utf-8", "ignore")


def moment(value: object) -> datetime | None:
    """A time that a platform gives: ISO 8601, or a number of seconds or of milliseconds.

    None for all else. Platforms mix both numbers, and they differ by a factor of 1,000.
    """
    if isinstance(value, str):
        return parse_time(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = value / 1000 if abs(value) >= MILLISECONDS else value
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


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
