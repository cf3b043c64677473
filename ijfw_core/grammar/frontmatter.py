"""Headers of plain YAML, as far as frontmatter goes: keys with values, folded ones, short lists.

Not a YAML parser: it reads what writers of frontmatter write, raises on no text, and keeps the raw
lines of every key, so that an update leaves what it does not change as it was.
"""

import re
from typing import NamedTuple

from ijfw_core.grammar.scalars import flow, quote, unscalar

MAX_HEADER = 64  # lines, as in an entry block
KEY = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*)|[ \t\r]*)\Z", re.S)
_LISTS = ("tags", "seen", "facts", "extra")  # written by `flow`, or as they were read
_VALUES = ("stored", "valid_from", "valid_to", "superseded_by_date", "confidence", "superseded")
_VALUE = re.compile(r"[\w.:+-]+\Z", re.A)
_PLAIN = re.compile(r"[^\W_][\w ./()+,;%-]*(?<! )\Z")  # a value that YAML takes as it is
_WORDS = re.compile(r"(?:true|false|null|yes|no|on|off|[\d.]+)\Z", re.I)  # ... but as no text
_FORCED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")


class Item(NamedTuple):
    """One key of a header with the raw lines that belong to it; "" for a comment or blank line."""

    key: str
    value: str
    raw: str


class Header(NamedTuple):
    """A header: its keys, its fences, the line end it uses, and where the body starts."""

    items: list[Item]
    fences: tuple[str, str]  # with what stands in front of the first
    eol: str
    body: int


def header_of(block: str) -> Header | None:
    """The header of a block, or None. Looks at no more than 66 lines."""
    start = 1 if block.startswith("\ufeff") else 0
    end = block.find("\n", start)
    if end < 0 or not _is_fence(block[start:end]):
        return None
    fence = block[: end + 1]
    items: list[Item] = []
    at = end + 1
    for _ in range(MAX_HEADER + 1):
        end = block.find("\n", at)
        line = block[at:end] if end >= 0 else block[at:]
        raw = block[at : end + 1] if end >= 0 else line
        if _is_fence(line):
            eol = "\r\n" if line.endswith("\r") else "\n"
            return Header(items, (fence, raw), eol, at + len(raw)) if items else None
        if end < 0:
            return None
        match = KEY.match(line)
        if match:
            items.append(Item(match[1], match[2] or "", raw))
        elif not line.strip() or line.startswith("#"):
            items.append(Item("", "", raw))
        elif items and line[0] in " \t-":
            items[-1] = items[-1]._replace(raw=items[-1].raw + raw)
        else:
            return None
        at = end + 1
    return None


def value_of(first: str, more: list[str]) -> str:
    """A value as YAML writers give it: quoted, folded over lines, or a list of lines."""
    first = first.strip(" \t\r")
    if more and not first and all(line.startswith("- ") for line in more):
        return flow(value_of(line[2:], []) for line in more)
    if first.rstrip("+-0123456789") in (">", "|"):
        return ("\n" if first[0] == "|" else " ").join(more)
    text = " ".join([first, *more]) if more else first
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return unscalar(text)


def line_of(name: str, value: str, eol: str) -> str:
    """A key with its value, with the line end."""
    bare = (name in _LISTS and value.startswith("[")) or (name in _VALUES and _VALUE.match(value))
    written = value if bare else scalar(value)
    return f"{name}: {written}{eol}"


def scalar(value: str) -> str:
    """A value that our reader and those of YAML take for the same text."""
    if _PLAIN.match(value) and not _WORDS.match(value):
        return value
    if _FORCED.search(value):
        return quote(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def bounded(lines: list[str]) -> str:
    """The lines joined. Raises ValueError for more than a reader takes."""
    if len(lines) > MAX_HEADER:
        raise ValueError(f"a header holds at most {MAX_HEADER} lines, not {len(lines)}")
    return "".join(lines)


def _is_fence(line: str) -> bool:
    return line.startswith("---") and line.rstrip(" \t\r") == "---"
