"""Which entries hold a term, and how strongly: lists of (number, code) in blocks of numbers.

A code is one byte: how often the term stands there (weighted) and how long the entry is, both
on a logarithmic scale. It depends on the entry alone, so an index that grew entry by entry equals
one that was built at once; what depends on all entries is put in when a query is answered.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

PART = 12  # bits: a list is cut into parts of 4,096 numbers, so that an insert rewrites little
K1 = 0.9  # of BM25; .9 and .4 did best on conversations, longer texts want a larger B
B = 0.5

_LEAST, _STEP = 0.25, 1.17  # frequency of the first of 32 levels, and the ratio between two
_LENGTHS = (6.0, 12.0, 24.0, 48.0, 96.0, 192.0, 384.0, 768.0)  # middle of each of 8 levels
_FREQUENCIES = tuple(_LEAST * _STEP**level for level in range(32))


class Part(NamedTuple):
    """A piece of a list: numbers in rising order, and the code of each."""

    numbers: "array[int]"
    codes: bytes


EMPTY = Part(array("I"), b"")


@lru_cache(maxsize=1 << 12)
def code(frequency: float, length: int) -> int:
    """The byte for a term of this weighted frequency in an entry of this length level."""
    level = round(math.log(max(frequency, _LEAST) / _LEAST, _STEP))
    return min(level, 31) << 3 | length


def length_level(size: float) -> int:
    """The level, 0..7, of an entry of this weighted size."""
    return min(max(round(math.log2(max(size, 1.0) / _LENGTHS[0])), 0), 7)


@lru_cache(maxsize=8)
def impacts(average: float) -> list[float]:
    """Code -> BM25 without the weight of the term, 0..K1+1, for this mean size of an entry."""
    average = max(average, 1.0)
    return [
        frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average))
        for frequency in _FREQUENCIES
        for length in _LENGTHS
    ]


def frequency(value: int) -> float:
    """The weighted frequency that a code stands for."""
    return _FREQUENCIES[value >> 3]


def unpack(blob: bytes) -> Part:
    """A stored part."""
    count = len(blob) // 5
    numbers = array("I")
    numbers.frombytes(blob[: count * 4])
    return Part(numbers, blob[count * 4 : count * 5])


def pack(part: Part) -> bytes:
    """A part as it is stored: numbers of 4 bytes, then the codes."""
    return part.numbers.tobytes() + part.codes


def changed(part: Part, new: Mapping[int, int], gone: Sequence[int]) -> Part:
    """A part with other numbers: `new` is number -> code, `gone` leaves."""
    if not gone and new and (not part.codes or min(new) > part.numbers[-1]):
        fresh = sorted(new)
        return Part(part.numbers + array("I", fresh), part.codes + bytes([new[n] for n in fresh]))
    rows = dict(zip(part.numbers, part.codes, strict=True))
    for number in gone:
        rows.pop(number, None)
    rows.update(new)
    numbers = sorted(rows)
    return Part(array("I", numbers), bytes([rows[number] for number in numbers]))


class Postings:
    """The list of one term, whose parts are read when they are needed.

    Args:
        df: in how many entries the term stands.
        fetch: gives the stored parts with these numbers, or all of them for None.
    """

    def __init__(self, df: int, fetch: Callable[[set[int] | None], dict[int, Part]]) -> None:
        self.df = df
        self._fetch = fetch
        self._parts: dict[int, Part | None] = {}
        self._whole = False
        self.seen: dict[int, Mapping[int, float]] = {}  # part -> by number, where all were read

    def fill(self, parts: dict[int, Part]) -> None:
        """Take every part, read elsewhere."""
        self._parts = dict(parts)
        self._whole = True

    def all(self) -> list[tuple[int, Part]]:
        """Every part with its number."""
        if not self._whole:
            self._parts = dict(self._fetch(None))
            self._whole = True
        return [(at, part) for at, part in self._parts.items() if part is not None]

    def load(self, parts: set[int]) -> None:
        """Read several parts at once."""
        missing = parts - self._parts.keys()
        if missing and not self._whole:
            found = self._fetch(missing)
            self._parts.update({at: found.get(at) for at in missing})

    def codes_of(self, wanted: Mapping[int, set[int]]) -> Iterator[tuple[int, int]]:
        """(number, code) of the entries among `wanted`, which are sorted by part, that hold the
        term."""
        if not self.seen:
            self.load(set(wanted))
        for at, numbers in wanted.items():
            seen = self.seen.get(at)
            some = numbers if not self.seen else seen.keys() & numbers if seen else ()
            for number in some:
                code = self.code_of(number)
                if code >= 0:
                    yield number, code

    def has(self, number: int) -> bool:
        """Whether the term stands in an entry."""
        if self.seen:
            return number in self.seen.get(number >> PART, ())
        return self.code_of(number) >= 0

    def code_of(self, number: int) -> int:
        """The code for an entry, -1 where the term does not stand in it."""
        at = number >> PART
        if at not in self._parts and not self._whole:
            self.load({at})
        part = self._parts.get(at)
        if part is None:
            return -1
        place = bisect_left(part.numbers, number)
        if place == len(part.numbers) or part.numbers[place] != number:
            return -1
        return part.codes[place]
