"""Which entries answer a question, best first.

1. Accumulate: the lists of the terms, rarest first, summed up an entry. Once the lists that are
   left cannot lift a new entry into the pool, they are only looked up for entries that can win.
   The pool is the same as if every list had been read to its end.
2. Pool: of the best, and of their neighbours in the same session, BM25 again with the words of the
   neighbours as a field of low weight. What one message asks, the next one answers.
3. Hop: names that the best answers bring in lead to entries that the question does not name.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from ijfw_plugins.search_bm25.postings import (
    K1,
    PART,
    B,
    Part,
    Postings,
    frequency,
    impacts,
    unpack,
)
from ijfw_plugins.search_bm25.question import Question, Term
from ijfw_plugins.search_bm25.update import PARTS

_TABLE = 300  # entries of a list for which a table of scores pays off
_LARGE = 4096  # numbers of a list that is worth a look whether it can be left out
_LEADING = 16  # entries whose neighbours may answer in their place
_AT_ONCE = 64  # parts read in one statement
POOL = 40  # entries whose neighbours are looked at
NEAR, FAR = 0.3, 0.15  # weight of the words of an entry one and two places away in its session


class Row(NamedTuple):
    """Of an entry, what ranking needs."""

    n: int
    id: str
    before: int
    after: int
    size: float
    stored: float
    entry: bytes


class Scored(NamedTuple):
    """An entry with the parts of its score, each as a share of the best score there could be."""

    row: Row
    words: float
    neighbours: float


class Ranker:
    """Answers one question on one state of an index.

    Args:
        db: its connection, in a transaction.
        count: how many entries there are.
        highest: the highest number of an entry.
        average: weighted words of an entry.
        dead: numbers that must not answer.
        question: what is asked.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        count: int,
        highest: int,
        average: float,
        dead: frozenset[int],
        question: Question,
    ) -> None:
        self.db = db
        self.count = count
        self.highest = highest
        self.average = max(average, 1.0)
        self.dead = dead
        self.question = question
        self.impacts = impacts(self.average)
        self._lists = [self.postings(term) for term in question.terms]
        self._read_small()
        self._total = question.total * (K1 + 1) or 1.0

    def _read_small(self) -> None:
        """Read all lists at once where they are few and short."""
        parts = (self.highest >> PART) + 1
        terms = self.question.terms
        if parts * len(terms) > _AT_ONCE:
            return
        keys = [term.number * PARTS + part for term in terms for part in range(parts)]
        marks = ",".join("?" * len(keys))
        rows = self.db.execute(f"SELECT k, list FROM postings WHERE k IN ({marks})", keys)
        found: dict[int, dict[int, Part]] = {term.number: {} for term in terms}
        for key, blob in rows:
            found[key // PARTS][key % PARTS] = unpack(blob)
        for term, postings in zip(terms, self._lists, strict=True):
            postings.fill(found[term.number])

    def answer(self, pool: int) -> list[Scored]:
        """The best entries, in the order of their words and those of their neighbours."""
        scores = self._accumulate(pool)
        if len(scores) > pool:
            floor = nlargest(pool, scores.values())[-1]
            scores = {n: score for n, score in scores.items() if score >= floor}
        order = sorted(scores, key=lambda n: (-scores[n], n))[:pool]
        rows = self.rows(order)
        linked = [row for row in rows.values() if row.before or row.after][:POOL]
        if not linked:
            return [Scored(row, scores[n] / self._total, 0.0) for n, row in rows.items()]
        everyone = {**rows, **self._neighbours(linked[:_LEADING])}
        field = _Field(self.question.terms, self._lists, self.average, self._total, everyone)
        found = []
        for n, row in everyone.items():
            if row.before or row.after:
                if n in rows or self.admits(n):
                    found.append(field.scored(row))
            else:
                found.append(Scored(row, scores[n] / self._total, 0.0))
        return [one for one in found if one.words + one.neighbours > 0]

    def admits(self, number: int) -> bool:
        """Whether an entry may answer."""
        return number not in self.dead and self.question.admits(number)

    def coverage(self, number: int) -> float:
        """The share of the question's weight whose terms stand in the entry itself."""
        pairs = zip(self.question.terms, self._lists, strict=True)
        covered = 0.0
        for term, found in pairs:
            if found.has(number):
                covered += term.weight
        return covered / (self.question.total or 1.0)

    def rows(self, numbers: Sequence[int]) -> dict[int, Row]:
        """The rows of entries, in the order of `numbers`."""
        marks = ",".join("?" * len(numbers))
        rows = self.db.execute(
            "SELECT n, id, before, after, size / 10.0, stored, entry FROM docs"
            f" WHERE n IN ({marks}) AND shown",
            numbers,
        )
        found = {row[0]: row for row in map(Row._make, rows)}
        return {n: found[n] for n in numbers if n in found}

    def _neighbours(self, rows: Sequence[Row]) -> dict[int, Row]:
        have = {row.n for row in rows}
        wanted = {n for row in rows for n in (row.before, row.after) if n and n not in have}
        return self.rows(sorted(wanted)) if wanted else {}

    # --- accumulating -------------------------------------------------------------------------

    def _accumulate(self, pool: int) -> dict[int, float]:
        terms, lists, allowed = self.question.terms, self._lists, self.question.allowed
        most = max(self.impacts)
        left = [0.0] * (len(terms) + 1)  # what the lists from here on can add at most
        for at in range(len(terms) - 1, -1, -1):
            left[at] = left[at + 1] + terms[at].weight * most
        scores: dict[int, float] = {}
        for at, term in enumerate(terms):
            if term.df > _LARGE and len(scores) > pool and term.df > len(scores) // 4:
                scores = self._alive(scores, allowed)
                best = nlargest(pool, scores.values())
                if len(best) == pool and best[-1] > left[at]:
                    return self._finish(scores, best[-1], terms[at:], left[at:], lists[at:])
            _add(scores, lists[at], term.weight, self.impacts)
        return self._alive(scores, allowed)

    def _finish(
        self,
        scores: dict[int, float],
        floor: float,
        terms: Sequence[Term],
        left: Sequence[float],
        lists: Sequence[Postings],
    ) -> dict[int, float]:
        """Look up the lists that are left for the entries that can still be in the pool."""
        for term, found, rest in zip(terms, lists, left, strict=False):
            scores = {n: score for n, score in scores.items() if score + rest >= floor}
            found.load({n >> PART for n in scores})
            for number in scores:
                value = found.code_of(number)
                if value >= 0:
                    scores[number] += term.weight * self.impacts[value]
        return scores

    def _alive(self, scores: dict[int, float], allowed: frozenset[int] | None) -> dict[int, float]:
        if allowed is not None:
            scores = {n: score for n, score in scores.items() if n in allowed}
        for number in self.dead:
            scores.pop(number, None)
        return scores

    def postings(self, term: Term) -> Postings:
        """The list of a term."""
        low = term.number * PARTS

        def fetch(parts: set[int] | None) -> dict[int, Part]:
            if parts is not None and len(parts) < 200:
                keys = [low + part for part in sorted(parts)]
                marks = ",".join("?" * len(keys))
                rows = self.db.execute(f"SELECT k, list FROM postings WHERE k IN ({marks})", keys)
            else:
                rows = self.db.execute(
                    "SELECT k, list FROM postings WHERE k BETWEEN ? AND ?", (low, low + PARTS - 1)
                )
            return {key - low: unpack(blob) for key, blob in rows}

        return Postings(term.df, fetch)


def _add(
    scores: dict[int, float], found: Postings, weight: float, impacts: Sequence[float]
) -> None:
    """Add what a list gives to each of its entries."""
    table = [weight * value for value in impacts] if found.df > _TABLE else None
    for at, part in found.all():
        if table is None:
            new = {n: weight * impacts[c] for n, c in zip(part.numbers, part.codes, strict=True)}
        else:
            new = dict(zip(part.numbers, map(table.__getitem__, part.codes), strict=True))
        found.seen[at] = new
        for number in scores.keys() & new.keys():
            new[number] += scores[number]
        scores.update(new)


class _Field:
    """BM25 over an entry's own words and those of its neighbours."""

    def __init__(
        self,
        terms: Sequence[Term],
        lists: Sequence[Postings],
        average: float,
        total: float,
        everyone: Mapping[int, Row],
    ) -> None:
        self.weights = [term.weight * (K1 + 1) / total for term in terms]
        self._least = K1 * (1 - B)
        self._longer = K1 * B / average
        self._everyone = everyone
        self._own = self._found(lists)  # entry -> (place of the term, weighted frequency)

    def _found(self, lists: Sequence[Postings]) -> dict[int, list[tuple[int, float]]]:
        """The terms that stand in the entries and in those up to two places away."""
        wanted: dict[int, set[int]] = {}
        for row in self._everyone.values():
            for number in (row.n, row.before, row.after):
                if number:
                    wanted.setdefault(number >> PART, set()).add(number)
        found: dict[int, list[tuple[int, float]]] = {}
        for at, codes in enumerate(lists):
            for number, code in codes.codes_of(wanted):
                found.setdefault(number, []).append((at, frequency(code)))
        return found

    def scored(self, row: Row) -> Scored:
        """An entry with the parts of its score."""
        known, everyone, weights = self._own, self._everyone, self.weights
        norm = self._least + self._longer * row.size
        mine = known.get(row.n, ())
        own = 0.0
        for at, value in mine:
            own += weights[at] * value / (value + norm)
        # Of what stands next to it and, where that is known, of what stands behind that.
        sums = dict(mine)
        grew = False
        for step, backwards in ((row.before, True), (row.after, False)):
            if not step:
                continue
            if step in known:
                grew = True
                for at, value in known[step]:
                    sums[at] = sums.get(at, 0.0) + NEAR * value
            beyond = everyone.get(step)
            far = 0 if beyond is None else beyond.before if backwards else beyond.after
            if far in known:
                grew = True
                for at, value in known[far]:
                    sums[at] = sums.get(at, 0.0) + FAR * value
        if not grew:
            return Scored(row, own, 0.0)
        both = 0.0
        for at, value in sums.items():
            both += weights[at] * value / (value + norm)
        return Scored(row, own, both - own)
