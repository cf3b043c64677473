"""What was read of a file before: one that only grew is parsed from where it ended.

The same bytes give the very same entries, so that whoever keeps a list of them can tell by identity
what is new. Wherever anything is unusual (an entry without an id of its own, marks of a merge, a
last block that grew) there is no answer, and the file is read as a whole.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

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
    last: str  # the raw of its last block
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
        if known is not None and known.grammar is grammar and data.startswith(known.data):
            grown = _grown(known, key, data)
            if grown is not None:
                self._keep(key, grown)
                return grown.entries
        rows = list(whole())
        last = rows[-1][0] if rows else ""
        found = [one for _, one in rows if one is not None]
        ids = {one.id for one in found}
        plain = len(ids) == len(found) and not any(name.startswith("h-") for name in ids)
        if last and plain and not any(mark in data for mark in _MARK_BYTES):
            self._keep(key, Kept(grammar, data, last, found, ids))
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
    ids = {one.id for one in fresh}
    usual = len(ids) == len(fresh) and not any(name.startswith("h-") for name in ids)
    if not usual or not ids.isdisjoint(known.ids):
        return None
    entries = [*known.entries, *fresh]
    return Kept(known.grammar, data, blocks[-1], entries, known.ids | ids)
