"""Our hooks in Claude Code's settings, put in and taken out as text: all else keeps its bytes.

Full setup (MCP server, skill, backup) is the kernel's; this file knows only `settings.json`.
"""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ijfw_hookspecs import AdapterStatus, FileEdit

# Event -> seconds the client waits. A session end gets 1.5 s unless these settings say more.
# Only what is used: each event is a process, and none is async (an async hook that still runs when
# the client exits is killed, and SessionEnd does not fire then).
EVENTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 10,
    "PostToolUse": 10,
    "PostToolUseFailure": 10,
    "Stop": 10,
    "SessionEnd": 10,
}
_TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure")  # the client matches these by tool name
_OURS = re.compile(
    r"\b(?:hook\.py|ijfw)\b.*\bclaude-code\W+(?:" + "|".join(EVENTS) + r")\s*$", re.S
)
_SPACE = re.compile(r"[ \t\r\n]*")
_BLANK = "\ufeff \t\r\n"
_decoder = json.JSONDecoder()
_FRESH = "{\n}\n"  # what we start from where there is no file


class Item(NamedTuple):
    """A member of an object or an item of a list, by its place in the text."""

    key: str
    start: int  # of the key or the item
    value: int  # of the value
    end: int


def install(path: Path, command: Sequence[str]) -> list[FileEdit]:
    """Add `command` and the event's name as a hook to each event we listen to.

    Raises ValueError, with the line, where the file is no JSON object.
    """
    before = _read(path)
    text = _without_ours(before, path) if before is not None else None
    after = _with_ours(text, command)
    return [] if after == before else [FileEdit(path=str(path), before=before, after=after)]


def uninstall(path: Path) -> list[FileEdit]:
    """Take our hooks out again. A file that holds nothing else goes."""
    before = _read(path)
    if before is None:
        return []
    after: str | None = _without_ours(before, path)
    if after == before:
        return []
    if after == _FRESH:
        after = None
    return [FileEdit(path=str(path), before=before, after=after)]


def status(paths: Sequence[Path]) -> AdapterStatus:
    """What the settings files say; whether a hook ever fired is known to the kernel only."""
    for path in paths:
        try:
            text = _read(path)
            if text is not None and _without_ours(text, path) != text:
                return AdapterStatus(state="standing by", detail=f"hooks in {path}")
        except (OSError, ValueError) as error:
            return AdapterStatus(state="broken", detail=str(error))
    return AdapterStatus(state="untouched", detail="no hook of ours in the settings")


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _with_ours(text: str | None, command: Sequence[str]) -> str:
    """Settings with our hooks; `text` holds none of them."""
    text = text if text and text.strip(_BLANK) else _FRESH
    root = _skip(text, text.startswith("\ufeff"))
    if not any(item.key == "hooks" for item in _items(text, root)):
        events = {event: [_group(event, command)] for event in EVENTS}
        return _append(text, root, "hooks", events, depth=1)
    for event in EVENTS:
        hooks = _member(text, root, "hooks")
        found = next((item for item in _items(text, hooks) if item.key == event), None)
        group = _group(event, command)
        if found is None:
            text = _append(text, hooks, event, [group], depth=2)
        else:
            text = _append(text, found.value, "", group, depth=3)
    return text


def _group(event: str, command: Sequence[str]) -> dict[str, object]:
    hook = {
        "type": "command",
        "command": shlex.join([*command, event]),
        "timeout": EVENTS[event],
    }
    matcher = {"matcher": "*"} if event in _TOOL_EVENTS else {}
    return {**matcher, "hooks": [hook]}


def _append(text: str, start: int, key: str, value: object, *, depth: int) -> str:
    """Add an item at the end of the object or list at `start`, on lines of its own."""
    indent = "\n" + "  " * depth
    shown = json.dumps(value, indent=2, ensure_ascii=False).replace("\n", indent)
    piece = (f"{json.dumps(key)}: " if key else "") + shown
    items = _items(text, start)
    if items:
        end = items[-1].end
        return f"{text[:end]},{indent}{piece}{text[end:]}"
    return f"{text[: start + 1]}{indent if depth == 1 else ''}{piece}{text[start + 1 :]}"


def _without_ours(text: str, path: Path) -> str:
    """Settings without our hooks: the exact reverse of `_with_ours`."""
    root = _checked_root(text, path)
    if root is None:
        return text
    for event in EVENTS:
        if not any(item.key == "hooks" for item in _items(text, root)):
            return text
        text = _without_event(text, root, event)
    return text


def _without_event(text: str, root: int, event: str) -> str:
    hooks = _member(text, root, "hooks")
    if text[hooks] != "{":
        return text
    found = next((item for item in _items(text, hooks) if item.key == event), None)
    if found is None or text[found.value] != "[":
        return text
    groups = _items(text, found.value)
    ours = [number for number, item in enumerate(groups) if _is_ours(text, item)]
    made = len(ours) == len(groups) > 0 and _is_made(text, found.value)
    for number in reversed(ours):
        text = _cut(text, found.value, number)
    if made:
        members = _items(text, hooks)
        last = len(members) == 1 and _is_made(text, hooks)
        text = _cut(text, hooks, [item.key for item in members].index(event))
        if last:
            text = _cut(text, root, [item.key for item in _items(text, root)].index("hooks"))
    return text


def _is_made(text: str, start: int) -> bool:
    """Whether we made this object or list: then its items stand on lines of their own.

    One that was there, and empty, holds them right behind its bracket.
    """
    return text[start + 1] == "\n"


def _cut(text: str, start: int, number: int) -> str:
    """Take one item out of an object or list, with the comma that joined it."""
    items = _items(text, start)
    item = items[number]
    if number:
        return text[: items[number - 1].end] + text[item.end :]
    if len(items) > 1:
        return text[: item.start] + text[items[1].start :]
    return text[: start + 1] + text[item.end :]


def _is_ours(text: str, item: Item) -> bool:
    group, _ = _decoder.raw_decode(text, item.value)
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list) or len(hooks) != 1 or not isinstance(hooks[0], dict):
        return False
    command = hooks[0].get("command")
    return isinstance(command, str) and _OURS.search(command) is not None


def _checked_root(text: str, path: Path) -> int | None:
    """Where the settings object starts; None for a blank file."""
    if not text.strip(_BLANK):
        return None
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from error
    hooks = value.get("hooks", {}) if isinstance(value, dict) else None
    if not isinstance(hooks, dict):
        raise ValueError(f"{path}: not an object with hooks by event")
    if any(not isinstance(hooks.get(event, []), list) for event in EVENTS):
        raise ValueError(f"{path}: the hooks of an event are not a list")
    return _skip(text, text.startswith("\ufeff"))


def _member(text: str, start: int, key: str) -> int:
    return next(item.value for item in _items(text, start) if item.key == key)


def _items(text: str, start: int) -> list[Item]:
    """The members of the object, or items of the list, at `start`; the text is valid JSON."""
    found: list[Item] = []
    keyed = text[start] == "{"
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        key, begin = "", at
        if keyed:
            key, at = _decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _decoder.raw_decode(text, at)
        found.append(Item(key, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    """The next place that is not white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at
