"""The records of project-journal.md, one line each, and body lines with two blanks in front.

    - [time] **kind** [tags]: summary <!-- ijfw id=.. session=.. confidence=.. sum=.. -->
      body

A decision or preference stands in knowledge.md; its record here is a line of the timeline, marked
with `copy=knowledge` (`is_copy`), and no entry: what is taken out of knowledge.md is gone.

The right-most comment counts; a `<` or `>` of a value is escaped in it, so that nothing ends it
early. Every other line is a foreign block and kept as it is. Lines of the Node implementation have
no comment: where they have the head of a record with one of the four kinds they are read as the
user's entries with a `hand_id`, and never rewritten (`is_foreign`); `session-end` lines and the
like are no entries.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, get_args

from msgspec.structs import replace

from ijfw_core.grammar.body import compose, decompose
from ijfw_core.grammar.fields import EPOCH, Names, body_of, differing, fill, grouped, rows
from ijfw_core.grammar.scalars import Atom, atom, atoms, flow, scalar, unflow, unscalar
from ijfw_core.text import digest, format_time, parse_time
from ijfw_hookspecs import Entry, Kind, Tier

_HEAD = re.compile(r"- \[([^\]\n]*)\] \*\*([A-Za-z][A-Za-z0-9_-]{0,63})\*\* ?")
_TIME = re.compile(r"[^\]\n\r]+\Z")
_OPEN = " <!-- ijfw "
_CLOSE = " -->"
COPY = ("copy", "knowledge")  # of a record whose entry stands in knowledge.md
_IN_HEAD = ("type", "summary", "stored", "tags")


class _Record(NamedTuple):
    """A record cut into pieces; `prefix` + comment + `tail` + `rest` is the block."""

    time: str
    kind: str
    tags: tuple[str, ...]
    summary: str
    meta: list[Atom]
    prefix: str  # the head line up to the comment
    comment: str
    tail: str  # behind the comment: the line end
    rest: str  # raw body lines


def split(text: str) -> list[str]:
    """Cut a journal into records and foreign lines; joining them gives the text back."""
    blocks: list[list[str]] = []
    in_record = False
    for line in text.split("\n"):
        if in_record and line.startswith("  "):
            blocks[-1].append(line)
        else:
            blocks.append([line])
            in_record = _HEAD.match(line) is not None
    joined = ["\n".join(lines) + "\n" for lines in blocks]
    joined[-1] = joined[-1][:-1]
    return joined if joined[-1] else joined[:-1]


def parse(block: str, *, tier: Tier = "journal", path: str = "", nth: int = 0) -> Entry | None:
    """The entry in a record, or None where the block is foreign."""
    record = _record(block)
    if record is None or (not record.meta and record.kind not in get_args(Kind)):
        return None
    lines = record.rest.split("\n")
    if lines[-1] == "":
        lines.pop()
    if record.tail.startswith("\r"):
        lines = [line.removesuffix("\r") for line in lines]
    body = decompose("\n".join(line[2:] for line in lines))
    stored = parse_time(record.time)
    pairs = [(a.name, a.value) for a in record.meta]
    if stored is None:
        pairs.append(("stored", record.time))
    entry = Entry(
        id="",
        kind=record.kind,
        summary=record.summary,
        stored=stored or EPOCH,
        tags=record.tags,
        content=body.content,
        why=body.why,
        how_to_apply=body.how_to_apply,
        tier=tier,
        path=path,
        digest=digest(block),
    )
    return _keep_head(fill(entry, pairs, nth), entry)


def read(
    blocks: Iterable[str], *, tier: Tier = "journal", path: str = ""
) -> Iterator[tuple[str, Entry | None]]:
    """The blocks of one journal with their entries, each with an id of its own in that file."""
    names = Names()
    for block in blocks:
        entry = parse(block, tier=tier, path=path)
        yield block, names.name(entry) if entry else None


def is_foreign(block: str) -> bool:
    """Whether we did not write this block: it has no comment of ours, and is never rewritten."""
    record = _record(block)
    return record is None or not record.meta


def is_copy(entry: Entry) -> bool:
    """Whether a record only tells that an entry was put into knowledge.md."""
    return COPY in entry.extra and entry.tier == "journal"


def render(entry: Entry) -> str:
    """The record of an entry; `parse` gives it back. Raises ValueError like `entry.render`."""
    meta = " ".join(f"{name}={atom(value)}" for name, value in _meta(entry))
    return f"{_head(entry)}{_OPEN}{meta}{_CLOSE}\n{_body(entry, '')}"


def update(block: str, entry: Entry) -> str:
    """The record with the wanted state of its entry; head, values and body that did not change keep
    their bytes. Raises ValueError for a foreign block."""
    record = _record(block)
    old = parse(block, tier=entry.tier, path=entry.path)
    if record is None or old is None or not record.meta:
        raise ValueError("not a record of ours")
    want, have = grouped(_meta(entry)), grouped(_meta(replace(old, id=entry.id)))
    changed = differing(want, have)
    new_head, new_body = _head(entry) != _head(old), body_of(entry) != body_of(old)
    if not (changed or new_head or new_body):
        return block
    if entry.id != next((a.value for a in record.meta if a.name == "id"), ""):
        changed.add("id")
    if "sum" in changed:
        changed.add("origin")
    parts: list[str] = []
    written: set[str] = set()
    for item in record.meta:
        if item.name not in changed:
            parts.append(record.comment[item.start : item.end])
        elif item.name not in written:
            written.add(item.name)
            parts += [f"{item.name}={atom(value)}" for value in want.get(item.name, [])]
    for name in [name for name in want if name in changed and name not in written]:
        parts += [f"{name}={atom(value)}" for value in want[name]]
    head = _head(entry) if new_head else record.prefix
    rest = _body(entry, record.tail[:-1]) if new_body else record.rest
    return f"{head}{_OPEN}{' '.join(parts)}{_CLOSE}{record.tail}{rest}"


def _record(block: str) -> _Record | None:
    """The pieces of a record, or None."""
    line, newline, rest = block.partition("\n")
    match = _HEAD.match(line)
    if match is None:
        return None
    tags: list[str] = []
    at = match.end()
    if line.startswith("[", at):
        found = unflow(line, at)
        if found is None:
            return None
        tags, at = found
    if not line.startswith(":", at):
        return None
    meta: list[Atom] = []
    bare = line.removesuffix("\r")
    opened = bare.rfind(_OPEN, at)
    prefix, comment = line, ""
    if opened >= 0 and bare.endswith(_CLOSE):
        inner = bare[opened + len(_OPEN) : -len(_CLOSE)]
        meta, end = atoms(inner)
        if end != len(inner):
            meta = []
        if meta:
            prefix, comment = line[:opened], inner
    tail = line[len(bare) :] + newline if meta else newline
    summary = unscalar(prefix[at + 1 :])
    return _Record(match[1], match[2], tuple(tags), summary, meta, prefix, comment, tail, rest)


def _keep_head(entry: Entry, head: Entry) -> Entry:
    """Head values win over a comment that repeats them."""
    return replace(entry, stored=head.stored, tags=head.tags)


def _meta(entry: Entry) -> list[tuple[str, str]]:
    """The values of the comment: all but those of the head."""
    unread = [(name, value) for name, value in entry.extra if name in _IN_HEAD]
    if ("stored", _time(entry)) in unread:
        unread.remove(("stored", _time(entry)))
    return [row for row in rows(entry) if row[0] not in _IN_HEAD] + unread


def _time(entry: Entry) -> str:
    """The time of the head: as it was read where it could not be understood."""
    raw = next((value for name, value in entry.extra if name == "stored"), "")
    return raw if raw and entry.stored == EPOCH and _TIME.match(raw) else format_time(entry.stored)


def _head(entry: Entry) -> str:
    summary = scalar(entry.summary)
    return f"- [{_time(entry)}] **{entry.kind}** {flow(entry.tags)}: {summary}"


def _body(entry: Entry, carriage: str) -> str:
    text = compose(body_of(entry))
    return "".join(f"  {line}{carriage}\n" for line in text.split("\n")) if text else ""
