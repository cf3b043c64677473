"""What was read of a file before: one that is as it was is not read again, of one that changed only
what is new is parsed.

The same bytes give the very same entries, so that whoever keeps a list of them can tell by identity
what is new. Wherever anything is unusual (an entry without an id of its own, marks of a merge, a
first block that changed) there is no answer, and the file is read as a whole.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Protocol

from ijfw_core.grammar.journal import is_copy
from ijfw_hookspecs import Entry, Tier

LARGEST = 16 << 20  # bytes of one file that are kept
MOST = 32 << 20  # bytes of all files together
MARKS = ("<<<<<<<", ">>>>>>>")  # of an unfinished merge
_MARK_BYTES = tuple(mark.encode() for mark in MARKS)

Key = tuple[Path, Tier, str]
Row = tuple[str, Entry | None]
Stamp = tuple[int, ...]  # of a file on disk: device, inode, size, times of change


class Reads(Protocol):
    """The part of a grammar that is needed here."""

    def split(self, text: str) -> list[str]: ...
    def read(
        self, blocks: Iterable[str], *, tier: Tier = ..., path: str = ...
    ) -> Iterator[tuple[str, Entry | None]]: ...


class Kept(NamedTuple):
    """A file as it was read. Its blocks follow each other, and end where `ends` says, in bytes."""

    grammar: Reads
    data: bytes
    rows: Sequence[Entry | None]  # of each block
    ends: Sequence[int]
    entries: tuple[Entry, ...]
    places: dict[str, int]  # id -> block
    stamp: Stamp | None  # None: it changed while it was read

    def raw(self, place: int) -> str:
        """A block's text."""
        start = self.ends[place - 1] if place else 0
        return self.data[start : self.ends[place]].decode("utf-8", "surrogateescape")

    def span(self, name: str) -> tuple[int, int]:
        """Where the block of an entry stands, in characters; (-1, -1) where there is none."""
        place = self.places.get(name)
        if place is None:
            return -1, -1
        start = self.ends[place - 1] if place else 0
        if not self.data.isascii():
            start = len(self.data[:start].decode("utf-8", "surrogateescape"))
        return start, start + len(self.raw(place))

    def before(self, place: int) -> str:
        """The id of the entry in front of a block, "" where there is none."""
        front = (self.rows[nth] for nth in range(place - 1, -1, -1))
        return next((one.id for one in front if one is not None), "")

    def blocks(self) -> list[tuple[str, str]]:
        """(id or "", text) of every block."""
        names = [one.id if one else "" for one in self.rows]
        return list(zip(names, map(self.raw, range(len(self.rows))), strict=True))


def entries_of(rows: Iterable[Entry | None]) -> tuple[Entry, ...]:
    """The entries among what the blocks of a file are read as; lines of the timeline are none."""
    return tuple([one for one in rows if one is not None and not is_copy(one)])


class Reader:
    """The entries of files, those of known bytes from memory."""

    def __init__(self) -> None:
        self._kept: dict[Key, Kept] = {}
        self._size = 0  # bytes of all

    def known(self, key: Key) -> Kept | None:
        """A file as it was read last, whatever became of it."""
        return self._kept.get(key)

    def entries(
        self,
        key: Key,
        data: bytes,
        grammar: Reads,
        whole: Callable[[], Iterable[Row]],
        stamp: Stamp | None = None,
    ) -> Sequence[Entry]:
        """The entries of a file that holds `data`; `whole` gives its blocks and what they are."""
        known = self._kept.get(key)
        if known is not None and known.grammar is grammar:
            again = known if data == known.data else _changed(known, key, data)
            if again is not None:
                self._keep(key, again._replace(stamp=stamp))
                return again.entries
        rows = list(whole())
        found = entries_of(one for _, one in rows)
        sizes = [len(raw.encode("utf-8", "surrogateescape")) for raw, _ in rows]
        fits = sum(sizes) == len(data) and not any(mark in data for mark in _MARK_BYTES)
        owners = [one for _, one in rows]
        if rows and fits and _own_ids([one for one in owners if one is not None]):
            ends = array("Q", accumulate(sizes))
            self._keep(key, Kept(grammar, data, owners, ends, found, _places(owners), stamp))
        else:
            self._keep(key, None)
        return found

    def _keep(self, key: Key, kept: Kept | None) -> None:
        old = self._kept.pop(key, None)
        self._size -= len(old.data) if old else 0
        if kept is not None and self._size + len(kept.data) <= MOST:
            self._kept[key] = kept
            self._size += len(kept.data)


def _changed(known: Kept, key: Key, data: bytes) -> Kept | None:
    """The file with what is new in it parsed; None where only a whole reading can tell.

    The blocks in front of the first byte that differs stay, but for the last of them, and those
    behind the last one, from the first that the grammar cuts off again. The first block must be
    the same: what is no entry there may be a document of its own.
    """
    ends, count = known.ends, len(known.rows)
    old = known.data
    same = _common(old, data)
    first = max(bisect_right(ends, same) - 1, 0)  # the block that is cut again
    start = ends[first - 1] if first else 0
    room = max(min(len(old), len(data)) - ends[first], 0)
    behind = _common_end(old[len(old) - room :], data[len(data) - room :])
    last = bisect_left(ends, len(old) - behind) + 1  # behind it all is as it was
    moved = len(data) - len(old)
    stop = ends[last] + moved if last < count else len(data)
    text = data[start:stop].decode("utf-8", "surrogateescape")
    raws = known.grammar.split(text)
    if any(mark in text for mark in MARKS) or not raws:
        return None
    if last < count and raws[-1] != known.raw(last):
        return None
    if first == 0 and raws[0] != known.raw(0):
        return None
    kept = {known.raw(nth): known.rows[nth] for nth in range(first, min(last + 1, count))}
    _, tier, path = key
    fresh: list[Entry | None] = []
    for raw in raws:
        if raw not in kept:
            kept[raw] = next(iter(known.grammar.read([raw], tier=tier, path=path)))[1]
        fresh.append(kept[raw])
    places = _placed(known, first, last, fresh)
    if places is None:
        return None
    rows = [*known.rows[:first], *fresh, *known.rows[last + 1 :]]
    before = len(known.entries) - len(entries_of(known.rows[first:]))
    found = known.entries[:before] + entries_of(rows[first:])
    sizes = [len(raw.encode("utf-8", "surrogateescape")) for raw in raws]
    middle = [start + end for end in accumulate(sizes)]
    rest = [end + moved for end in ends[last + 1 :]]
    cut = array("Q", [*ends[:first], *middle, *rest])
    return Kept(known.grammar, data, rows, cut, found, places, None)


def _placed(
    known: Kept, first: int, last: int, fresh: Sequence[Entry | None]
) -> dict[str, int] | None:
    """The places of the entries where `fresh` takes that of the blocks from `first` to `last`; None
    where an id is not one entry's own. What was known of them is used up."""
    old = known.rows[first : last + 1]
    gone = {one.id for one in old if one is not None}
    come = [one for one in fresh if one is not None]
    places = known.places
    if not _own_ids(come) or any(one.id in places and one.id not in gone for one in come):
        return None
    if last + 1 < len(known.rows) and len(fresh) != len(old):
        return _places([*known.rows[:first], *fresh, *known.rows[last + 1 :]])
    for name in gone:
        del places[name]
    places.update((one.id, at) for at, one in enumerate(fresh, first) if one is not None)
    return places


def _common(one: bytes, other: bytes) -> int:
    """With how many of the same bytes two texts begin."""
    if other.startswith(one):
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        same = one[low:middle] == other[low:middle]
        low, high = (middle, high) if same else (low, middle - 1)
    return low


def _common_end(one: bytes, other: bytes) -> int:
    """With how many of the same bytes two texts of one length end."""
    low, high, size = 0, len(one), len(one)
    while low < high:
        middle = (low + high + 1) // 2
        same = one[size - middle : size - low] == other[size - middle : size - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return low


def _places(rows: Sequence[Entry | None]) -> dict[str, int]:
    return {one.id: place for place, one in enumerate(rows) if one is not None}


def _own_ids(entries: Sequence[Entry]) -> bool:
    """Whether each entry has an id, and none that comes of its text."""
    ids = {one.id for one in entries}
    return len(ids) == len(entries) and not any(name.startswith("h-") for name in ids)
