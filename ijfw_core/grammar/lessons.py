"""The lines of LESSONS.md, the audit log.

    - [time] **op** run=.. session=.. entry=.. slug=.. ... before=.. after=..: reason

One line an operation. An absent value is `-`. The log holds no memory text but slug and reason.
"""

import re
from datetime import datetime

from msgspec import Struct

from ijfw_core.grammar.scalars import atom, atoms, quote, scalar, unscalar
from ijfw_core.text import format_time, parse_time

_HEAD = re.compile(r"- \[([^\]\n]{1,40})\] \*\*([a-z][a-z_-]{0,31})\*\* ")
_ABSENT = "-"
_KEYS = (
    "run",
    "session",
    "entry",
    "slug",
    "key",
    "confidence",
    "target",
    "change",
    "plugin",
    "before",
    "after",
)


class Lesson(Struct, frozen=True, kw_only=True):
    """One operation on memory. `before` and `after` are 12 hex digits of the block's digest."""

    at: datetime
    op: str  # write, supersede, archive, stage, reject, drop, revert, ...
    run: str = ""
    session: str = ""
    entry: str = ""
    slug: str = ""
    key: str = ""  # digest of the key of its evidence, shared with the entry
    confidence: float = 1.0  # 0..1
    target: str = ""  # the file
    change: str = ""
    plugin: str = ""
    before: str = ""
    after: str = ""
    reason: str = ""


def split(text: str) -> list[str]:
    """The lines of the log with their ends; `"".join(split(text)) == text` for every text."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def render(lesson: Lesson) -> str:
    """The line of an operation; `parse` gives it back. Raises ValueError where `op` is no word."""
    values = " ".join(f"{key}={_write(lesson, key)}" for key in _KEYS)
    reason = quote(_ABSENT) if lesson.reason == _ABSENT else scalar(lesson.reason or _ABSENT)
    head = f"- [{format_time(lesson.at)}] **{lesson.op}** "
    if not _HEAD.fullmatch(head):
        raise ValueError(f"not an operation: {lesson.op[:40]!r}")
    return f"{head}{values}: {reason}\n"


def parse(line: str) -> Lesson | None:
    """The operation of a line, or None where it is none. Unknown keys are passed over."""
    line = line.removesuffix("\n")
    head = _HEAD.match(line)
    at = parse_time(head[1]) if head else None
    if head is None or at is None:
        return None
    found, end = atoms(line, head.end())
    if not found or not line.startswith(": ", end):
        return None
    known = {a.name: "" if a.plain and a.value == _ABSENT else a.value for a in reversed(found)}
    try:
        confidence = float(known.pop("confidence", "1")[:32] or "1")
    except ValueError:
        return None
    raw = line[end + 2 :].strip(" \t\r")
    texts = {key: known[key] for key in _KEYS if key in known}
    reason = "" if raw == _ABSENT else unscalar(raw)
    return Lesson(at=at, op=head[2], confidence=confidence, reason=reason, **texts)


def read(text: str) -> list[Lesson]:
    """Every operation of a log, in its order; what cannot be read is left out."""
    return [lesson for line in split(text) if (lesson := parse(line))]


def _write(lesson: Lesson, key: str) -> str:
    if key == "confidence":
        return repr(float(lesson.confidence))
    value: str = getattr(lesson, key)
    return quote(_ABSENT) if value == _ABSENT else atom(value or _ABSENT)
