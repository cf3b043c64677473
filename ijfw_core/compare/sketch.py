"""Which of many entries may be more than new to a note, told for all of them at once.

Of each entry the words and runs of four characters are noted in bit maps, one bit an entry: a
question adds up some hundred maps. An entry that shares too little for every way in which the rule
finds one note to repeat, replace or resemble another is left out; whatever is left is compared in
full. Two words with one map only make an entry look more alike, so nothing is missed. Of the
few that seem to share enough content words these words themselves are counted.
"""

import sys
from array import array
from collections.abc import Iterable, Sequence

from ijfw_core.compare.note import Note, runs_of_four
from ijfw_core.compare.rule import NEAR_SHINGLES

MAPS = 4096  # of words, and as many of runs
SPREAD = 2_654_435_761  # over the maps
FEWEST = 4  # content words; with fewer any one of them decides
SIZES = (4, 8, 12, 16, 24, 32, 48, 64)  # content words from which an entry has to share more
COUNTED = 200  # entries of which the words themselves are counted for one note
STRICT = 0.375  # half of the words are different ones, and one in eight may be another


class Sketch:
    """Bit maps of entries by number."""

    def __init__(self) -> None:
        self._words = [0] * MAPS
        self._runs = [0] * MAPS
        self._sizes = [0] * len(SIZES)  # entries with so many content words
        self._odd = 0  # entries of which the maps say too little
        self._covered = 0
        self._exact: set[int] = set()  # digests of whole notes
        self._stems: list[tuple[int, array[int]]] = []  # content words of an entry, and hashes

    def add(self, first: int, notes: Sequence[Note]) -> None:
        """Note the entries with the next numbers, `first` and so on."""
        words: dict[int, int] = {}
        runs: dict[int, int] = {}
        for nth, note in enumerate(notes):
            bit = 1 << nth
            for place in {*_places(note.all_stems), *_places(map(_marked, note.texts))}:
                words[place] = words.get(place, 0) | bit
            for place in {(run * SPREAD >> 18) % MAPS for run in note.fours}:
                runs[place] = runs.get(place, 0) | bit
            self._exact.update(_digests(note))
            self._stems.append((len(note.stems), array("I", _hashes(note))))
            for at, size in enumerate(SIZES):
                if len(note.stems) >= size:
                    self._sizes[at] |= bit << first
            if _is_odd(note):
                self._odd |= bit << first
        for maps, found in ((self._words, words), (self._runs, runs)):
            for place, bits in found.items():
                maps[place] |= bits << first
        self._covered |= ((1 << len(notes)) - 1) << first

    def candidates(self, note: Note) -> int | None:
        """The entries that may be more than new to a note, one bit each; None: any may be."""
        if _is_odd(note) or not self._exact.isdisjoint(_digests(note)):
            return None
        stems = _Counts([self._words[place] for place in _places(note.all_stems)])
        found = 0
        for at, size in enumerate(SIZES):
            larger = self._sizes[at + 1] if at + 1 < len(SIZES) else 0
            found |= self._sizes[at] & ~larger & stems.at_least(_shared(size, len(note.stems)))
        found = self._really(found & self._covered, note) | self._odd
        texts = _Counts([self._words[place] for place in _places(map(_marked, note.texts))])
        found |= texts.at_least(max(int(STRICT * (len(note.strict) - 2) - 1), 1))
        starts, maps = _starts(note), self._runs
        runs = _Counts([maps[(start * SPREAD >> 18) % MAPS] for start in starts])
        return (found | runs.at_least(_least(len(note.shingles), len(starts)))) & self._covered

    def _really(self, found: int, note: Note) -> int:
        """Those of some entries that share as many content words with a note as they need to."""
        numbers = bits(found, COUNTED)
        if not numbers:
            return found
        wanted, size = set(_hashes(note)), len(note.stems)
        kept = 0
        for number in numbers:
            held, hashes = self._stems[number]
            if len(wanted.intersection(hashes)) >= _shared(held, size):
                kept |= 1 << number
        return kept


class _Counts:
    """How often each bit is set in some maps, as a binary number of one map a digit."""

    def __init__(self, maps: list[int]) -> None:
        digits: list[int] = []
        ones, weight = 0, maps  # maps of one weight are added two at a time to the sum of those
        while weight:
            carries = []
            pairs = iter(weight)
            for one in pairs:
                other = next(pairs, 0)
                mixed = one ^ other
                carries.append(one & other | ones & mixed)
                ones ^= mixed
            digits.append(ones)
            ones, weight = 0, carries if any(carries) else []
        self._digits = digits

    def at_least(self, least: int) -> int:
        """The bits that are set so often; `least` is 1 or more."""
        if least.bit_length() > len(self._digits):
            return 0
        more, same = 0, -1
        for place in range(len(self._digits) - 1, -1, -1):
            digit = self._digits[place]
            if least >> place & 1:
                same &= digit
            else:
                more |= same & digit
                same &= ~digit
        return more | same


def bits(number: int, most: int) -> list[int]:
    """The places of the bits that are set in a number, [] where it has more of them than `most` or
    is negative."""
    if number < 0 or number.bit_count() > most:
        return []
    found = []
    while number:
        found.append((number & -number).bit_length() - 1)
        number &= number - 1
    return found


def _is_odd(note: Note) -> bool:
    """Whether a note is too short, or says the same words too often, for its counts to tell."""
    strict = note.strict_texts
    few = len(note.stems) < FEWEST or len(note.spelled) < 5
    return few or 2 * len(set(strict)) < len(strict)


def _digests(note: Note) -> tuple[int, int, int, int]:
    """Of what makes two notes the same, however few words they share."""
    core = hash(tuple(note.core))
    return hash(note.joined), hash(tuple(note.strict_texts)), core, hash(note.tight)


def _shared(size: int, other: int) -> int:
    """How many content words a note of at least `size` of them shares with one of `other`, where
    it is more than new to it: half of the shorter one's but one, as for opposites, or half of its
    own but two, as for a word in the place of another. All else that `changes.py` and `rule.py`
    look for asks for more."""
    return max(_above(min((min(size, other) - 1) / 2, (size - 2) / 2)), 1)


def _least(shingles: int, starts: int) -> int:
    """How many starts of shingles a note of like spelling has: of two notes that share the half of
    all their shingles, each has half of the other's, and a start that is missing is one that is."""
    return max(_above(starts - (1 - NEAR_SHINGLES) * shingles), 1)


def _above(number: float) -> int:
    return -int(-number // 1)


def _hashes(note: Note) -> list[int]:
    """Of its content words and numbers; two of one hash only make notes look more alike."""
    return [hash(stem) & 0xFFFFFFFF for stem in note.all_stems]


def _starts(note: Note) -> set[int]:
    """The first four bytes of each shingle, as numbers."""
    if note.spelled.isascii() and len(note.spelled) > 4:
        return runs_of_four(note.spelled[:-1].encode())
    data = [shingle.encode("utf-8", "surrogatepass")[:4] for shingle in note.shingles]
    return {int.from_bytes(start, sys.byteorder) for start in data}


def _marked(text: str) -> str:
    return "=" + text


def _places(texts: Iterable[str]) -> set[int]:
    return {hash(text) % MAPS for text in texts}
