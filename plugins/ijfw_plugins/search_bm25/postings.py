"""Which entries hold a term, and how strongly: lists of (number, code) in blocks of numbers.

A code is one byte: how often the term stands there (weighted) and how long the entry is, both
on a logarithmic scale. It depends on the entry alone, so an index that grew entry by entry equals
one that was built at once; what depends on all entries is put in when a query is answered.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

PART = 12  # bits: a list is cut into parts of 4,096 numbers, so that an insert rewrites little
K1 = 0.9  # of BM25; .9 and .4 did best on conversations, longer texts want a larger B
B = 0.5
SHORT = 1.5  # mean sizes of an entry up to which one is not the better for being short

_LEAST, _STEP = 0.25, 1.17  # frequency of the first of 32 levels, and the ratio between two
_LENGTHS = (6.0, 12.0, 24.0, 48.0, 96.0, 192.0, 384.0, 768.0)  # middle of each of 8 levels
# Code >> 3 -> the weighted frequency that it stands for.
FREQUENCIES = tuple(_LEAST * _STEP**level for level in range(32))


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
        frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * max(length / average, SHORT)))
        for frequency in FREQUENCIES
        for length in _LENGTHS
    ]


def unpack(*blobs: bytes) -> Part:
    """Stored parts, in the order of their numbers, as one."""
    numbers = array("I")
    codes: list[bytes] = []
    for blob in blobs:
        count = len(blob) // 5
        numbers.frombytes(blob[: count * 4])
        codes.append(blob[count * 4 : count * 5])
    return Part(numbers, b"".join(codes))


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
    """The list of one term, read when it is needed.

    Args:
        df: in how many entries the term stands.
        fetch: gives the stored parts in order.
    """

    def __init__(self, df: int, fetch: Callable[[], Iterable[bytes]]) -> None:
        self.df = df
        self._fetch = fetch
        self._whole: Part | None = None
        self.members: Set[int] | None = None  # the entries, once the list was gone through

    def fill(self, blobs: Iterable[bytes]) -> Part:
        """Take the stored parts, read elsewhere."""
        self._whole = unpack(*blobs)
        return self._whole

    def all(self) -> Part:
        """The whole list."""
        return self._whole or self.fill(self._fetch())

    def read(self) -> Set[int]:
        """The entries of the list."""
        if self.members is None:
            self.members = set(self.all().numbers)
        return self.members

    def most(self, impacts: Sequence[float]) -> float:
        """The highest impact in the list."""
        return max(map(impacts.__getitem__, set(self.all().codes)), default=0.0)

    def codes_of(self, wanted: Set[int]) -> list[tuple[int, int]]:
        """(number, code) of the entries among `wanted` that hold the term."""
        numbers, codes = self.all()
        return [(n, codes[bisect_left(numbers, n)]) for n in self.read() & wanted]
