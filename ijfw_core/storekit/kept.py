"""What was read of a file before: one that only grew is parsed from where it ended, of one that was
edited only what is new.

The same bytes give the very same entries, so that whoever keeps a list of them can tell by identity
what is new. Wherever anything is unusual (an entry without an id of its own, marks of a merge, a
last block that grew) there is no answer, and the file is read as a whole.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ijfw_core.text import digest
from ijfw_hookspecs import Entry, Tier

LARGEST = 16 << 20  # bytes of one file that are kept
MOST = 32 << 20  # bytes of all files together
MARKS = ("<<<<<<<", ">>>>>>>")  # of an unfinished merge
_MARK_BYTES = tuple(mark.encode() for mark in MARKS)

Key = tuple[Path, Tier, str]
Row = tuple[str, Entry | None]


class Reads(Protocol):
    """The part of a grammar that is needed here."""

    def split(self, text: str) -> list[str]: ...
    def read(
        self, blocks: Iterable[str], *, tier: Tier = ..., path: str = ...
    ) -> Iterator[tuple[str, Entry | None]]: ...


class Kept(NamedTuple):
    """A file as it was read."""

    grammar: Reads
    data: bytes
    first: str  # the raw of its first block
    last: str  # of its last
    entries: Sequence[Entry]
    ids: set[str]


class Reader:
    """The entries of files, those of known bytes from memory."""

    def __init__(self) -> None:
        self._kept: dict[Key, Kept] = {}
        self._size = 0  # bytes of all

    def entries(
        self, key: Key, data: bytes, grammar: Reads, whole: Callable[[], Iterable[Row]]
    ) -> Sequence[Entry]:
        """The entries of a file that holds `data`; `whole` gives its blocks and what they are."""
        known = self._kept.get(key)
        if known is not None and known.grammar is grammar:
            again = _grown(known, key, data) if data.startswith(known.data) else None
            again = again or _edited(known, key, data)
            if again is not None:
                self._keep(key, again)
                return again.entries
        rows = list(whole())
        first, last = (rows[0][0], rows[-1][0]) if rows else ("", "")
        found = [one for _, one in rows if one is not None]
        ids = _ids(found)
        if last and ids is not None and not any(mark in data for mark in _MARK_BYTES):
            self._keep(key, Kept(grammar, data, first, last, found, ids))
        else:
            self._keep(key, None)
        return found

    def _keep(self, key: Key, kept: Kept | None) -> None:
        old = self._kept.pop(key, None)
        self._size -= len(old.data) if old else 0
        if kept is not None and self._size + len(kept.data) <= MOST:
            self._kept[key] = kept
            self._size += len(kept.data)


def _grown(known: Kept, key: Key, data: bytes) -> Kept | None:
    """The file with what was added; None where only a whole reading can tell."""
    if len(data) == len(known.data):
        return known
    _, tier, path = key
    raw = known.last.encode("utf-8", "surrogateescape") + data[len(known.data) :]
    text = raw.decode("utf-8", "surrogateescape")
    blocks = known.grammar.split(text)
    if blocks[0] != known.last or any(mark in text for mark in MARKS):
        return None
    fresh = [one for _, one in known.grammar.read(blocks[1:], tier=tier, path=path) if one]
    ids = _ids(fresh)
    if ids is None or not ids.isdisjoint(known.ids):
        return None
    entries = [*known.entries, *fresh]
    return Kept(known.grammar, data, known.first, blocks[-1], entries, known.ids | ids)


def _edited(known: Kept, key: Key, data: bytes) -> Kept | None:
    """The file with what is new in it parsed; None where only a whole reading can tell.

    Its first block must be the same: what is no entry there may be a document of its own.
    """
    text = data.decode("utf-8", "surrogateescape")
    blocks = known.grammar.split(text)
    if not blocks or blocks[0] != known.first or any(mark in text for mark in MARKS):
        return None
    _, tier, path = key
    before = {one.digest: one for one in known.entries}
    found: list[Entry] = []
    for raw in blocks:
        one = before.get(digest(raw))
        if one is None:
            one = next(iter(known.grammar.read([raw], tier=tier, path=path)))[1]
        if one is not None:
            found.append(one)
    ids = _ids(found)
    return None if ids is None else Kept(known.grammar, data, blocks[0], blocks[-1], found, ids)


def _ids(entries: Sequence[Entry]) -> set[str] | None:
    """The ids of entries; None where one has none of its own, or two have the same."""
    ids = {one.id for one in entries}
    usual = len(ids) == len(entries) and not any(name.startswith("h-") for name in ids)
    return ids if usual else None
