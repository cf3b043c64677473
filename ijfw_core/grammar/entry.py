"""The entry block of knowledge.md, of team, global and staged files.

    block  = "---" LF header "---" LF body LF LF
    header = at most 64 lines `key: value`, the first of them `type: word`

A file is a list of blocks and joining them gives the file back, whatever it holds. Text in front of
the first entry (byte order mark, schema comment, heading) is one block that is no entry. A block
whose header lines end in CR LF is read as if it had plain line ends, and keeps its own.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from ijfw_core.grammar.body import chop, compose, decompose
from ijfw_core.grammar.fields import (
    EPOCH,
    Names,
    body_of,
    differing,
    fill,
    grouped,
    rewritten,
    rows,
)
from ijfw_core.grammar.scalars import scalar, unscalar
from ijfw_core.text import digest
from ijfw_hookspecs import Entry, Tier

MAX_HEADER = 64  # lines; a longer header is no header, so that a stray fence swallows nothing
_TYPE = re.compile(r"type:[ \t]+[A-Za-z][A-Za-z0-9_-]{0,63}[ \t\r]*\Z")
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*)|\r?)\Z", re.S)


class _Header(NamedTuple):
    """Header lines with their raw text, the line end they use, and where the body starts."""

    lines: list[tuple[str, str, str]]  # key, value, raw line with its line end
    fences: tuple[str, str]
    eol: str
    body: int


def split(text: str) -> list[str]:
    """Cut a file into blocks; `"".join(split(text)) == text` for every text."""
    cuts: list[int] = []
    at = 0
    while (hit := text.find("\ntype:", at)) >= 0:
        start = text.rfind("\n", at, hit) + 1 or at
        if start == 0 and text.startswith("\ufeff"):
            start = 1
        header = _header(text, start) if _is_fence(text[start:hit]) else None
        if header:
            cuts.append(start)
        at = header.body if header else hit + 1
    edges = [0, *cuts, len(text)]
    return [text[a:b] for a, b in pairwise(edges) if a < b]


def parse(block: str, *, tier: Tier = "knowledge", path: str = "", nth: int = 0) -> Entry | None:
    """The entry in a block, or None. `nth` counts equal entries without id in front of it."""
    header = _header(block, 0)
    if header is None:
        return None
    text = block[header.body :]
    if header.eol == "\r\n":
        text = text.replace("\r\n", "\n")
    body = decompose(chop(text, 2))
    values = {key: value for key, value, _ in reversed(header.lines)}
    pairs = [(key, unscalar(value)) for key, value, _ in header.lines[1:]]
    summary = unscalar(values.get("summary", ""))
    if "summary" in values:
        pairs.remove(("summary", summary))
    return fill(
        Entry(
            id="",
            kind=header.lines[0][1].strip(" \t\r"),
            summary=summary,
            stored=EPOCH,
            content=body.content,
            why=body.why,
            how_to_apply=body.how_to_apply,
            tier=tier,
            path=path,
            digest=digest(block),
        ),
        pairs,
        nth,
    )


def read(
    blocks: Iterable[str], *, tier: Tier = "knowledge", path: str = ""
) -> Iterator[tuple[str, Entry | None]]:
    """The blocks of one file with their entries, each with an id of its own in that file."""
    names = Names()
    for block in blocks:
        entry = parse(block, tier=tier, path=path)
        yield block, names.name(entry) if entry else None


def render(entry: Entry) -> str:
    """The block of an entry; `parse` gives the entry back.

    Raises ValueError where no reader would take it: kind, id or key no word, or a header too long.
    """
    lines = _bounded([_line(name, value, "\n") for name, value in rows(entry)])
    return f"---\n{lines}---\n{compose(body_of(entry))}\n\n"


def update(block: str, entry: Entry) -> str:
    """The block with the wanted state of its entry: only header lines that changed, and the body if
    its text changed, are written anew. An unchanged entry gives the block itself.

    A `sum` that no longer fitted stays so (the entry is its user's), unless the text changes:
    then the origin is written with it.
    """
    header = _header(block, 0)
    old = parse(block, tier=entry.tier, path=entry.path)
    if header is None or old is None:
        raise ValueError("not an entry block")
    want, have = grouped(rows(entry)), grouped(rows(replace(old, id=entry.id)))
    changed = differing(want, have)
    new_body = body_of(entry) != body_of(old)
    if not changed and not new_body:
        return block
    if entry.id != next((unscalar(v) for k, v, _ in header.lines if k == "id"), ""):
        changed.add("id")
    if "sum" in changed:
        changed.add("origin")
    old_lines = ((name, raw) for name, _, raw in header.lines)
    lines = rewritten(old_lines, want, changed, lambda name, value: _line(name, value, header.eol))
    text = (compose(body_of(entry)) + "\n\n").replace("\n", header.eol)
    body = text if new_body else block[header.body :]
    return header.fences[0] + _bounded(lines) + header.fences[1] + body


def _header(text: str, start: int) -> _Header | None:
    """The header at `start`, or None. Looks at no more than 65 lines."""
    end = text.find("\n", start)
    if end < 0 or not _is_fence(text[start:end]):
        return None
    opening = text[start : end + 1]
    lines: list[tuple[str, str, str]] = []
    at = end + 1
    for _ in range(MAX_HEADER + 1):
        end = text.find("\n", at)
        line = text[at:end] if end >= 0 else text[at:]
        if _is_fence(line):
            after = end + 1 if end >= 0 else len(text)
            eol = "\r\n" if line.endswith("\r") else "\n"
            return _Header(lines, (opening, text[at:after]), eol, after) if lines else None
        match = _KEY.match(line) if lines else _TYPE.match(line)
        if match is None or end < 0:
            return None
        name, _, value = line.partition(":")
        lines.append((name, value, text[at : end + 1]))
        at = end + 1
    return None


def _is_fence(line: str) -> bool:
    return line.startswith("---") and line.rstrip(" \t\r") == "---"


def _line(name: str, value: str, eol: str) -> str:
    return f"{name}: {scalar(value)}{eol}"


def _bounded(lines: list[str]) -> str:
    if len(lines) > MAX_HEADER:
        raise ValueError(f"a header holds at most {MAX_HEADER} lines, not {len(lines)}")
    return "".join(lines)
