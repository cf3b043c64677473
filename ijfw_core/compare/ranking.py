"""Which entries to compare with a candidate: those that share its rarest words, ranked."""

import math
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from datetime import datetime
from itertools import chain
from operator import is_
from typing import NamedTuple

from ijfw_core.compare import Verdict, body
from ijfw_core.compare.note import MAX_CHARS, Note
from ijfw_core.compare.packing import NOTHING, Saved, cut, packed, unpacked
from ijfw_core.compare.rule import judge, repeats
from ijfw_core.compare.sketch import Sketch, bits
from ijfw_core.text import tokens
from ijfw_hookspecs import Entry

CANDIDATES = 200  # entries that share a rare word
COMPARED = 20  # of these, the best, compared word by word
MANY = 64  # entries that may be new or gone however few there are
GONE = 1_000  # entries that left and are still held, beside as many as there are
POSTINGS = 8_000  # visited for one candidate: the bound of its cost
NOTES = 256  # that are kept taken apart; one takes 30 KB
SKETCHED = 20_000  # entries; more would take more than 20 MB
SLICE = 64  # of them at a time, some milliseconds
FEW = 8  # that are looked at while an answer waits
K1, B = 1.5, 0.75  # of BM25+, as its authors have them (Lv and Zhai, 2011)

_last: "Index | None" = None
_expected: Saved | None = None
_lived: "_Lived | None" = None


class _Lived(NamedTuple):
    """Which entries of memory lived when, and until when that holds if memory stays as it is."""

    given: Sequence[Entry]
    since: datetime
    until: datetime | None
    entries: tuple[Entry, ...]


def living(entries: Iterable[Entry], now: datetime) -> Sequence[Entry]:
    """The entries that hold now; the handoff is no memory of its own. Where memory answered the
    very same tuple before, the same tuple."""
    global _lived
    known = _lived
    same = known is not None and known.given is entries and known.since <= now
    if known and same and (known.until is None or now < known.until):
        return known.entries
    given = entries if isinstance(entries, tuple) else tuple(entries)
    found = tuple(
        [
            entry
            for entry in given
            if not entry.superseded_by
            and entry.tier != "handoff"
            and (entry.valid_to is None or entry.valid_to > now)
        ]
    )
    ends = [entry.valid_to for entry in found if entry.valid_to is not None]
    _lived = _Lived(given, now, min(ends, default=None), found)
    return found


def index_of(entries: Sequence[Entry]) -> "Index":
    """The index of these entries; kept, and brought up to date where memory holds others."""
    global _last, _expected
    if _expected is not None and (_last is None or not _last.entries):
        with suppress(ValueError, IndexError):  # it was cut: the entries are there
            _last = Index.restored(_expected, entries)
    _expected = None
    if _last is None or not _last.update(entries):
        _last = Index(entries)
    return _last


def expect(saved: Saved) -> None:
    """What an earlier process knew of entries: the first index begins with it."""
    global _expected
    _expected = saved


def saved(digests: Set[str]) -> Saved:
    """What is known of the entries with these digests, for a later process."""
    return NOTHING if _last is None else _last.saved(digests)


class Index:
    """Postings of the words of all entries."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Linear in the entries' text; of each, the part that is compared counts."""
        self.entries: list[Entry] = []  # by number; those that left keep theirs
        self._ids: dict[str, int] = {}  # of words
        self._postings: list[list[int]] = []  # by word
        self._words: list[array[int]] = []  # of each entry, once each
        self._repeated: dict[int, dict[int, int]] = {}  # entry -> word -> how often, beyond once
        self._lengths: list[int] = []
        self._digests: list[int] = []  # of all its words in order
        self._whole: dict[int, int] = {}  # such a digest -> the last such entry
        self._numbers: dict[int, int] = {}  # of the very object -> its number
        self._notes: dict[int, Note] = {}
        self._asked: tuple[str, Note] | None = None  # last, which is often stored then
        self._keys: defaultdict[str, list[int]] = defaultdict(list)
        self._sketch = Sketch()
        self._sketched = 0  # entries in it, the first ones
        for entry in entries:
            self._add(entry)
        self._given = entries

    @classmethod
    def restored(cls, saved: Saved, entries: Sequence[Entry]) -> "Index":
        """The index of those of these entries that were saved. Raises ValueError and IndexError
        where what was saved does not fit together."""
        found = cls(())
        found._ids = {word: number for number, word in enumerate(saved.words)}
        by_digest = {entry.digest: entry for entry in entries}
        held = cut(unpacked("I", saved.sizes), unpacked("I", saved.held))
        lengths, hashes = unpacked("I", saved.lengths), unpacked("q", saved.hashes)
        there = [by_digest.get(value) for value in saved.digests]
        rows = zip(there, held, lengths, hashes, strict=True)
        kept = [(one, row, size, value) for one, row, size, value in rows if one is not None]
        if len(kept) == len(there):
            places = unpacked("I", saved.postings).tolist()
            found._postings = cut(unpacked("I", saved.spread), places)
        else:
            found._postings = []
        found._take_all(kept, len(saved.words))
        numbers = {place: n for n, place in enumerate(nth for nth, e in enumerate(there) if e)}
        repeated = iter(unpacked("I", saved.repeated))
        for place, word, times in zip(repeated, repeated, repeated, strict=True):
            if place in numbers:
                found._repeated.setdefault(numbers[place], {})[word] = times
        found._given = tuple(found.entries)
        return found

    def _take_all(self, rows: Sequence[tuple[Entry, "array[int]", int, int]], words: int) -> None:
        """As `_take` for each of many, where nothing is noted yet; postings that are known stay."""
        count = range(len(rows))
        self.entries = [row[0] for row in rows]
        self._words = [row[1] for row in rows]
        self._lengths = [row[2] for row in rows]
        self._digests = [row[3] for row in rows]
        self._numbers = dict(zip(map(id, self.entries), count, strict=True))
        self._whole = dict(zip(self._digests, count, strict=True))
        for number, entry in enumerate(self.entries):
            for name, value in entry.extra:
                if name == "key":
                    self._keys[value].append(number)
        if not self._postings:
            self._postings = [[] for _ in range(words)]
            for number, held in enumerate(self._words):
                for word in held:
                    self._postings[word].append(number)

    def saved(self, digests: Set[str]) -> Saved:
        """What is known of the entries with these digests."""
        live = [n for n in self._numbers.values() if self.entries[n].digest in digests]
        places = {number: place for place, number in enumerate(live)}
        again = [
            (places[number], word, times)
            for number, held in self._repeated.items()
            if number in places
            for word, times in held.items()
        ]
        postings = [[places[n] for n in held if n in places] for held in self._postings]
        return Saved(
            words=list(self._ids),
            digests=[self.entries[n].digest for n in live],
            sizes=packed("I", [len(self._words[n]) for n in live]),
            held=packed("I", [*chain.from_iterable(self._words[n] for n in live)]),
            spread=packed("I", list(map(len, postings))),
            postings=packed("I", [*chain.from_iterable(postings)]),
            lengths=packed("I", [self._lengths[n] for n in live]),
            hashes=packed("q", [self._digests[n] for n in live]),
            repeated=packed("I", [*chain.from_iterable(again)]),
        )

    def update(self, entries: Sequence[Entry]) -> bool:
        """Take in what is new and let go what left, told by identity; False where so much changed
        that a new index is as quick."""
        if entries is self._given:
            return True
        known = len(self._given)
        if known <= len(entries) <= known + MANY and all(map(is_, entries, self._given)):
            for entry in entries[known:]:
                self._add(entry)
            self._given = entries
            return True
        wanted = {id(entry): entry for entry in entries}
        gone = self._numbers.keys() - wanted.keys()
        fresh = len(wanted) - (len(self._numbers) - len(gone))
        left = len(self.entries) - len(self._numbers) + len(gone)
        if len(gone) + fresh > MANY + len(wanted) // 4 or left > GONE + len(wanted):
            return False
        for name in gone:
            self._remove(self._numbers.pop(name))
        if fresh:
            for entry in [e for name, e in wanted.items() if name not in self._numbers]:
                self._add(entry)
        self._given = entries
        return True

    def _add(self, entry: Entry) -> None:
        ids = self._ids
        found = [ids.setdefault(word, len(ids)) for word in tokens(_text(entry))]
        self._postings += [[] for _ in range(len(ids) - len(self._postings))]
        once = array("I", dict.fromkeys(found))
        if len(once) < len(found):
            self._repeated[len(self.entries)] = _repeated(found)
        self._take(entry, once, len(found), _digest(found))

    def _take(self, entry: Entry, once: "array[int]", length: int, whole: int) -> None:
        """Note an entry with its different words, the number of all, and their digest."""
        number, postings = len(self.entries), self._postings
        self.entries.append(entry)
        self._words.append(once)
        self._lengths.append(length)
        self._numbers[id(entry)] = number
        self._digests.append(whole)
        self._whole[whole] = number
        for word in once:
            postings[word].append(number)
        for name, value in entry.extra:
            if name == "key":
                self._keys[value].append(number)

    def _remove(self, number: int) -> None:
        for word in self._words[number]:
            self._postings[word].remove(number)
        for name, value in self.entries[number].extra:
            if name == "key":
                self._keys[value].remove(number)
        self._notes.pop(number, None)
        self._repeated.pop(number, None)
        self._words[number] = array("I")
        if self._whole.get(self._digests[number]) == number:
            del self._whole[self._digests[number]]

    def verdicts(self, text: str, keys: set[str]) -> Iterator[tuple[Entry, Verdict]]:
        """The verdicts on a text for the entries most like it: those with its key, then best first.

        An entry of the same key and meaning is a duplicate, however it is worded. Behind one that
        the text replaces, only those that it repeats are told from "new". Entries of which it is
        plain that the text is new to them are left out.
        """
        again = None if keys else self._same_text(text)
        if again is not None:
            yield self.entries[again], Verdict("duplicate", "same words")
        note, replaced = Note(text), False
        self._asked = text[:MAX_CHARS], note
        same = [number for key in keys for number in self._keys.get(key, ())][:COMPARED]
        for number in same:
            verdict = judge(self._note(number), note)
            if verdict.verdict == "near":
                verdict = Verdict("duplicate", "the same signal, and " + verdict.reason)
            elif verdict.verdict == "new":
                verdict = Verdict("near", "the same signal")
            replaced = replaced or verdict.verdict == "update"
            yield self.entries[number], verdict
        likely = self._likely(note)
        known: dict[int, Verdict] = {}
        for number in bits(likely, COMPARED):
            known[number] = judge(self._note(number), note)
            if known[number].verdict != "new":
                break
        else:
            likely &= ~sum(1 << number for number in known)
        for number in self._ranked(tokens(text[:MAX_CHARS])) if likely else ():
            if number not in same and number != again and likely >> number & 1:
                compare = repeats if replaced else judge
                verdict = known.get(number) or compare(self._note(number), note)
                replaced = replaced or verdict.verdict == "update"
                yield self.entries[number], verdict

    def _same_text(self, text: str) -> int | None:
        """An entry with the very same text, which needs no comparison."""
        text = text[:MAX_CHARS]
        found = [self._ids.get(word, -1) for word in tokens(text)]
        number = self._whole.get(_digest(found)) if found else None
        return number if number is not None and _text(self.entries[number]) == text else None

    def sketch(self, seconds: float) -> bool:
        """Look at entries as long as there is time, so that later questions need to compare few of
        them; whether any is left. Of a very large memory none is looked at."""
        until = time.monotonic() + seconds
        while self._sketched < len(self.entries) <= SKETCHED:
            if time.monotonic() >= until:
                return True
            some = self.entries[self._sketched : self._sketched + SLICE]
            self._sketch.add(self._sketched, [self._note_of(_text(entry)) for entry in some])
            self._sketched += len(some)
        return False

    def catch_up(self) -> None:
        """Look at the few entries that came since the others were looked at."""
        if len(self.entries) - self._sketched <= FEW:
            self.sketch(1)

    def _likely(self, note: Note) -> int:
        """The entries that may be more than new, one bit each."""
        self.catch_up()
        found = None if self._sketched < len(self.entries) else self._sketch.candidates(note)
        return -1 if found is None else found

    def _note(self, number: int) -> Note:
        found = self._notes.get(number)
        if found is None:
            if len(self._notes) >= NOTES:
                del self._notes[next(iter(self._notes))]
            found = self._notes[number] = self._note_of(_text(self.entries[number]))
        return found

    def _note_of(self, text: str) -> Note:
        asked = self._asked
        return asked[1] if asked is not None and asked[0] == text else Note(text)

    def _ranked(self, query: Sequence[str]) -> list[int]:
        """The numbers of the entries to compare, best first."""
        known = [self._ids.get(word, -1) for word in query]
        overlap = self._sharing(set(query))
        if len(overlap) <= COMPARED:
            return overlap
        whole = self._whole.get(_digest(known))
        first = [] if whole is None else [whole]
        scores = self._scores(known, overlap)
        best = sorted(overlap, key=scores.__getitem__, reverse=True)[:COMPARED]
        return list(dict.fromkeys([*first, *best, *overlap[: COMPARED // 4]]))

    def _sharing(self, query: set[str], *, bar: bool = True) -> list[int]:
        """The entries of the greatest weight of words they share, rare ones first; best first.

        `bar`: those that a first choice shows to be too light are not sorted; the answer is the
        same without.
        """
        words = [(word, self._postings[self._ids[word]]) for word in query if word in self._ids]
        found = [(len(posting), word, posting) for word, posting in words if posting]
        weights: dict[int, float] = {}
        get = weights.get
        some: set[int] = set()  # the first choice
        visited = 0
        for size, _, posting in sorted(found):
            if visited and visited + size > POSTINGS:
                break
            visited += size
            if len(some) < 2 * CANDIDATES:
                some.update(posting)
            weight = math.log(1 + len(self._numbers) / size)
            for number in posting:
                weights[number] = get(number, 0.0) + weight
        least = sorted([weights[number] for number in some], reverse=True)[CANDIDATES - 1 :][:1]
        low = least[0] if least and bar else 0.0
        pairs = sorted([(-weight, n) for n, weight in weights.items() if weight >= low])
        return [number for _, number in pairs[:CANDIDATES]]

    def _scores(self, query: Sequence[int], numbers: Sequence[int]) -> dict[int, float]:
        """BM25+ of entries for a query, but for what is the same for all of them.

        Over these entries and the query alone, because the idf of Okapi is negative for a word that
        most documents have, as these do.
        """
        wanted = Counter(query)
        words = wanted.keys()
        shared = [words & self._words[number] for number in numbers]
        spread = Counter(chain(words, *shared))
        size = len(numbers) + 1
        gain = {w: math.log((size + 1) / spread[w]) * wanted[w] * (K1 + 1) for w in words}
        mean = (sum([self._lengths[n] for n in numbers]) + len(query)) / size
        scores = {}
        for number, held in zip(numbers, shared, strict=True):
            damp = K1 * (1 - B + B * self._lengths[number] / mean)
            score = sum([gain[word] for word in held]) / (damp + 1)
            for word, times in self._repeated.get(number, _NONE).items():
                if word in held:
                    score += gain[word] * (times / (damp + times) - 1 / (damp + 1))
            scores[number] = score
        return scores


_NONE: dict[int, int] = {}


def _text(entry: Entry) -> str:
    """The part of an entry that is compared."""
    return body(entry.summary, entry.content)[:MAX_CHARS]


def _repeated(words: Sequence[int]) -> dict[int, int]:
    """The words that stand more than once, and how often."""
    counts: dict[int, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return {word: times for word, times in counts.items() if times > 1}


def _digest(words: Sequence[int]) -> int:
    """Tells the words of one text from those of another; one that is not known is -1."""
    return hash(tuple(words))
