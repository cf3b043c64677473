"""Which entries are worth comparing with a candidate: those that share its rarest words, ranked."""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import is_

from ijfw_core.compare import Verdict, body
from ijfw_core.compare.note import MAX_CHARS, Note
from ijfw_core.compare.rule import judge
from ijfw_core.text import tokens
from ijfw_hookspecs import Entry

CANDIDATES = 200  # entries that share a rare word
COMPARED = 20  # of these, the best, compared word by word
MANY = 64  # entries that may be new or gone however few there are
GONE = 1_000  # entries that left and are still held, beside as many as there are
POSTINGS = 8_000  # visited for one candidate: the bound of its cost

_last: "Index | None" = None


def index_of(entries: Sequence[Entry]) -> "Index":
    """The index of these entries; kept, and brought up to date where memory holds others."""
    global _last
    if _last is None or not _last.update(entries):
        _last = Index(entries)
    return _last


class Index:
    """Postings of the words of all entries."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Linear in the entries' text; of each, the part that is compared counts."""
        self.entries: list[Entry] = []  # by number; those that left keep theirs
        self._bodies: list[str] = []
        self._words: list[list[str]] = []
        self._numbers: dict[int, int] = {}  # of the very object -> its number
        self._whole: dict[str, int] = {}
        self._notes: dict[int, Note] = {}
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        self._keys: defaultdict[str, list[int]] = defaultdict(list)
        for entry in entries:
            self._add(entry)
        self._given = entries

    def update(self, entries: Sequence[Entry]) -> bool:
        """Take in what is new and let go what left, told by identity; False where so much changed
        that a new index is as quick."""
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
        number = len(self.entries)
        text = body(entry.summary, entry.content)[:MAX_CHARS]
        found = tokens(text)
        self.entries.append(entry)
        self._bodies.append(text)
        self._words.append(found)
        self._numbers[id(entry)] = number
        self._whole[" ".join(found)] = number
        for word in set(found):
            self._postings[word].append(number)
        for name, value in entry.extra:
            if name == "key":
                self._keys[value].append(number)

    def _remove(self, number: int) -> None:
        words = self._words[number]
        if self._whole.get(" ".join(words)) == number:
            del self._whole[" ".join(words)]
        for word in set(words):
            self._postings[word].remove(number)
            if not self._postings[word]:
                del self._postings[word]
        for name, value in self.entries[number].extra:
            if name == "key":
                self._keys[value].remove(number)
        self._notes.pop(number, None)
        self._bodies[number], self._words[number] = "", []

    def verdicts(self, text: str, keys: set[str]) -> Iterator[tuple[Entry, Verdict]]:
        """The verdicts on a text for the entries most like it: those with its key, then best first.

        An entry of the same key and meaning is a duplicate, however it is worded.
        """
        note = Note(text)
        same = [number for key in keys for number in self._keys.get(key, ())][:COMPARED]
        for number in same:
            verdict = judge(self._note(number), note)
            if verdict.verdict == "near":
                verdict = Verdict("duplicate", "the same signal, and " + verdict.reason)
            elif verdict.verdict == "new":
                verdict = Verdict("near", "the same signal")
            yield self.entries[number], verdict
        for number in self._ranked(tokens(text[:MAX_CHARS])):
            if number not in same:
                yield self.entries[number], judge(self._note(number), note)

    def _note(self, number: int) -> Note:
        if number not in self._notes:
            self._notes[number] = Note(self._bodies[number])
        return self._notes[number]

    def _ranked(self, query: list[str]) -> list[int]:
        """The numbers of the entries to compare, best first."""
        overlap = self._sharing(query)
        if len(overlap) <= COMPARED:
            return list(overlap)
        whole = self._whole.get(" ".join(query))
        first = [] if whole is None else [whole]
        scores = _bm25(query, [self._words[number] for number in overlap])
        if scores is None:
            return list(dict.fromkeys([*first, *list(overlap)[:COMPARED]]))
        ranked = sorted(zip(scores, overlap, strict=True), key=lambda pair: -pair[0])
        best = [number for _, number in ranked[:COMPARED]]
        return list(dict.fromkeys([*first, *best, *list(overlap)[: COMPARED // 4]]))

    def _sharing(self, query: list[str]) -> dict[int, float]:
        """Entry -> weight of the words it shares, rare ones first, best first."""
        found = [(self._postings[word], word) for word in set(query) if word in self._postings]
        found.sort(key=lambda pair: (len(pair[0]), pair[1]))
        weights: defaultdict[int, float] = defaultdict(float)
        visited = 0
        for posting, _ in found:
            if visited and visited + len(posting) > POSTINGS:
                break
            visited += len(posting)
            weight = math.log(1 + len(self._numbers) / len(posting))
            for number in posting:
                weights[number] += weight
        best = heapq.nlargest(CANDIDATES, weights.items(), key=lambda pair: (pair[1], -pair[0]))
        return dict(best)


def _bm25(query: list[str], documents: list[list[str]]) -> list[float] | None:
    """Scores relative to the query's score of itself; None where rank_bm25 is missing.

    BM25Plus, because the idf of Okapi is negative for a word that most documents have, as these do.
    """
    try:
        from rank_bm25 import BM25Plus
    except ImportError:
        return None
    scores = BM25Plus([*documents, query]).get_scores(query)
    own = float(scores[-1]) or 1.0
    return [float(score) / own for score in scores[:-1]]
