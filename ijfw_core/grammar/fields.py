"""The named values of an entry, the same in a header and in the comment of a journal record."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from msgspec.structs import replace

from ijfw_core.grammar.body import Body, compose
from ijfw_core.grammar.scalars import flow, is_name, quote, scalar, unflow, words
from ijfw_core.text import digest, format_time, parse_time
from ijfw_hookspecs import Entry, Fact, Origin

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)  # `stored` of an entry that does not say it
_FIRST = {"type": 0, "summary": 1, "stored": 2, "tags": 3}  # the order the Node reader needs
_ID = re.compile(r"[^\W_][^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]{0,127}\Z")
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")
_NODE_FLAGS = ("superseded", "superseded_by_date")
_MARKS = frozenset({"sum", *_NODE_FLAGS})
_DEFAULTS = {"stored": format_time(EPOCH), "tags": "[]", "origin": "user"}


def checksum(entry: Entry) -> str:
    """16 hex digits over summary, body and facts as written: it tells a hand edit."""
    facts = [_write_fact(fact) for fact in entry.facts]
    return digest("\x00".join([scalar(entry.summary), *facts, compose(body_of(entry))]))


def body_of(entry: Entry) -> Body:
    """The texts of an entry."""
    return Body(entry.content, entry.why, entry.how_to_apply)


def hand_id(path: str, summary: str, stored: datetime, nth: int = 0) -> str:
    """The id of an entry that has none: "h-" and 10 hex digits; `nth` counts equal ones."""
    return "h-" + digest(f"{path}\n{scalar(summary)}\n{format_time(stored)}\n{nth}", 5)


def is_id(text: str) -> bool:
    """Whether a text can be an id: a letter or digit first, no blanks, at most 128 characters."""
    return _ID.match(text) is not None


def rows(entry: Entry) -> list[tuple[str, str]]:
    """Every named value of an entry, in the order in which it is written.

    A key that could not be read is in `extra` with its raw text; it is written from there.

    Raises ValueError for an id, kind or key that no reader would take.
    """
    if not _KIND.match(entry.kind):
        raise ValueError(f"not a kind: {entry.kind[:40]!r}")
    if not is_id(entry.id):
        raise ValueError(f"not an id: {entry.id[:40]!r}")
    if bad := next((name for name, _ in entry.extra if not is_name(name)), None):
        raise ValueError(f"not a header key: {bad[:40]!r}")
    superseded = bool(entry.superseded_by)
    found = [
        ("type", entry.kind),
        ("summary", entry.summary),
        ("stored", format_time(entry.stored)),
        ("tags", flow(entry.tags)),
        ("id", entry.id),
        ("session", entry.session),
        ("origin", entry.origin),
        ("confidence", "" if entry.confidence == 1 else repr(float(entry.confidence))),
        ("sum", checksum(entry)),
        ("seen", flow(entry.seen) if entry.seen else ""),
        ("valid_from", format_time(entry.valid_from) if entry.valid_from else ""),
        ("valid_to", format_time(entry.valid_to) if entry.valid_to else ""),
        ("superseded_by", entry.superseded_by),
        ("superseded", "true" if superseded else ""),
        ("superseded_by_date", _date(entry.valid_to) if superseded else ""),
    ]
    unread = {name for name, _ in entry.extra}
    kept = [
        (name, value)
        for name, value in found
        if (value or name == "summary") and not (name in unread and _DEFAULTS.get(name) == value)
    ]
    kept += [("fact", _write_fact(fact)) for fact in entry.facts]
    kept += entry.extra
    kept.sort(key=lambda row: _FIRST.get(row[0], len(_FIRST)))
    return kept


def grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The values of each name, in their order."""
    groups: dict[str, list[str]] = {}
    for name, value in pairs:
        groups.setdefault(name, []).append(value)
    return groups


def fill(entry: Entry, pairs: Iterable[tuple[str, str]], nth: int = 0) -> Entry:
    """`entry`, which has its texts already, with the named values that were read.

    Of a repeated key the first that can be read counts; what cannot be read goes to `extra`. The
    origin is "user" unless `sum` fits the text. An entry without a usable id gets a `hand_id`.
    """
    values: dict[str, Any] = {}
    facts: list[Fact] = []
    extra: list[tuple[str, str]] = []
    marks: dict[str, str] = {}
    for name, text in pairs:
        if name in _MARKS and name not in marks:
            marks[name] = text
        elif name == "fact" and (fact := _read_fact(text)):
            facts.append(fact)
        elif name in values or (value := _READERS.get(name, _unknown)(text)) is None:
            extra.append((name, text))
        else:
            values[name] = value
    entry = replace(entry, **values, facts=tuple(facts))
    flags = [(name, marks[name]) for name in _NODE_FLAGS if name in marks]
    entry = _superseded(replace(entry, extra=tuple(extra)), flags)
    if marks.get("sum") != checksum(entry):
        entry = replace(entry, origin="user")
    if entry.id:
        return entry
    return replace(entry, id=hand_id(entry.path, entry.summary, entry.stored, nth))


def _superseded(entry: Entry, flags: list[tuple[str, str]]) -> Entry:
    """Take in the Node reader's flags: they end an entry of which we know no successor."""
    if entry.superseded_by:
        ours = {("superseded", "true"), ("superseded_by_date", _date(entry.valid_to))}
        return replace(entry, extra=entry.extra + tuple(f for f in flags if f not in ours))
    words_of = dict(flags)
    valid_to = entry.valid_to
    if words_of.get("superseded", "").lower() == "true" and valid_to is None:
        valid_to = parse_time(words_of.get("superseded_by_date", "")) or entry.stored
    return replace(entry, extra=entry.extra + tuple(flags), valid_to=valid_to)


def differing(want: Mapping[str, list[str]], have: Mapping[str, list[str]]) -> set[str]:
    """The names whose values are not the same."""
    return {name for name in want.keys() | have if want.get(name) != have.get(name)}


def rewritten(
    lines: Iterable[tuple[str, str]],
    want: Mapping[str, list[str]],
    changed: Collection[str],
    write: Callable[[str, str], str],
) -> list[str]:
    """Header lines (name, raw) with the values of `changed` written anew, each name where the first
    of its lines stood; new names come last."""
    found: list[str] = []
    written: set[str] = set()
    for name, raw in lines:
        if name not in changed:
            found.append(raw)
        elif name not in written:
            written.add(name)
            found += [write(name, value) for value in want.get(name, [])]
    for name, values in want.items():
        if name in changed and name not in written:
            found += [write(name, value) for value in values]
    return found


class Names:
    """Gives every entry of one file an id of its own: equal entries without id, and copies of one
    with its id, are counted."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._equal: Counter[str] = Counter()

    def name(self, entry: Entry) -> Entry:
        """The entry, with another id where an earlier one of the file has the same."""
        if entry.id in self._taken:
            first = hand_id(entry.path, entry.summary, entry.stored)
            while entry.id in self._taken:
                self._equal[first] += 1
                nth = self._equal[first]
                entry = replace(entry, id=hand_id(entry.path, entry.summary, entry.stored, nth))
        self._taken.add(entry.id)
        return entry


def _date(moment: datetime | None) -> str:
    return format_time(moment)[:10] if moment else ""


def _write_fact(fact: Fact) -> str:
    return "[" + ", ".join(quote(part) for part in fact) + "]"


def _read_fact(text: str) -> Fact | None:
    found = unflow(text.strip(" \t\r"))
    if found is None or len(found[0]) != 3:
        return None
    return found[0][0], found[0][1], found[0][2]


def _unknown(_text: str) -> None:
    return None


def _read_confidence(text: str) -> float | None:
    try:
        value = float(text[:32])
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1 else None


_READERS: dict[str, Callable[[str], Any]] = {
    "id": lambda text: text if is_id(text) else None,
    "session": lambda text: text or None,
    "origin": lambda text: text if text in get_args(Origin) else None,
    "confidence": _read_confidence,
    "seen": words,
    "valid_from": parse_time,
    "valid_to": parse_time,
    "superseded_by": lambda text: text or None,
    "stored": parse_time,
    "tags": words,
}
