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

POOL = 40  # entries whose neighbours are looked at
NEAR, FAR = 0.3, 0.15  # weight of the words of an entry one and two places away in its session


class Row(NamedTuple):
    """Of an entry, what ranking needs."""

    n: int
    before: int
    after: int
    size: float
    stored: float


class Scored(NamedTuple):
    """An entry with the parts of its score, each as a share of the best score there could be."""

    row: Row
    words: float
    neighbours: float
    coverage: float  # share of the question's weight whose terms stand in the entry itself


class Ranker:
    """Answers questions on one state of an index.

    Args:
        db: its connection, in a transaction.
        count: how many entries there are.
        average: weighted words of an entry.
        dead: numbers that must not answer.
    """

    def __init__(
        self, db: sqlite3.Connection, count: int, average: float, dead: frozenset[int]
    ) -> None:
        self.db = db
        self.count = count
        self.average = max(average, 1.0)
        self.dead = dead
        self.impacts = impacts(self.average)

    def answer(self, question: Question, pool: int = POOL) -> list[Scored]:
        """The best entries, in the order of their words and those of their neighbours."""
        lists: list[Postings] = []
        scores = self._accumulate(question, max(pool, POOL), lists)
        best = nlargest(max(pool, POOL), scores.items(), key=lambda item: (item[1], -item[0]))
        rows = self.rows([n for n, _ in best])
        neighbours = self._neighbours(list(rows.values())[:POOL])
        total = question.total * (K1 + 1) or 1.0
        field = _Field(question.terms, lists, self.average)
        everyone = {**neighbours, **rows}
        may = [row for n, row in everyone.items() if n not in self.dead and question.admits(n)]
        found = [field.scored(row, everyone, total, question.total or 1.0) for row in may]
        found = [one for one in found if one.words + one.neighbours > 0]
        found.sort(key=lambda one: (-(one.words + one.neighbours), -one.row.stored, one.row.n))
        return found

    def rows(self, numbers: Sequence[int]) -> dict[int, Row]:
        """The rows of entries, in the order of `numbers`."""
        found: dict[int, Row] = {}
        marks = ",".join("?" * len(numbers))
        for n, before, after, size, stored in self.db.execute(
            f"SELECT n, before, after, size, stored FROM docs WHERE n IN ({marks}) AND shown",
            list(numbers),
        ):
            found[n] = Row(n, before, after, size / 10, stored)
        return {n: found[n] for n in numbers if n in found}

    def _neighbours(self, rows: Sequence[Row]) -> dict[int, Row]:
        have = {row.n for row in rows}
        wanted = {n for row in rows for n in (row.before, row.after) if n and n not in have}
        return self.rows(sorted(wanted)) if wanted else {}

    # --- accumulating -------------------------------------------------------------------------

    def _accumulate(self, question: Question, pool: int, lists: list[Postings]) -> dict[int, float]:
        terms = question.terms
        most = max(self.impacts)
        left = [0.0] * (len(terms) + 1)  # what the lists from here on can add at most
        for at in range(len(terms) - 1, -1, -1):
            left[at] = left[at + 1] + terms[at].weight * most
        lists += [self.postings(term) for term in terms]
        scores: dict[int, float] = {}
        for at, term in enumerate(terms):
            if len(scores) > pool and term.df > len(scores) // 4:
                scores = self._alive(scores, question.allowed)
                best = nlargest(pool, scores.values())
                if len(best) == pool and best[-1] > left[at]:
                    return self._finish(scores, best[-1], terms[at:], left[at:], lists[at:])
            _add(scores, lists[at], [term.weight * value for value in self.impacts])
        return self._alive(scores, question.allowed)

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


def _add(scores: dict[int, float], found: Postings, table: Sequence[float]) -> None:
    """Add what a list gives to each of its entries; `table` is code -> score."""
    for part in found.all():
        new = dict(zip(part.numbers, map(table.__getitem__, part.codes), strict=True))
        for number in scores.keys() & new.keys():
            new[number] += scores[number]
        scores.update(new)


class _Field:
    """BM25 over an entry's own words and those of its neighbours."""

    def __init__(self, terms: Sequence[Term], lists: Sequence[Postings], average: float) -> None:
        self.pairs = list(zip(terms, lists, strict=False))
        self.average = average
        self._found: dict[int, list[float]] = {}

    def own(self, number: int) -> list[float]:
        """The weighted frequency of each term in an entry."""
        known = self._found.get(number)
        if known is None:
            codes = [found.code_of(number) for _, found in self.pairs]
            known = self._found[number] = [frequency(c) if c >= 0 else 0.0 for c in codes]
        return known

    def scored(self, row: Row, everyone: Mapping[int, Row], total: float, weights: float) -> Scored:
        """An entry with the parts of its score."""
        own = self.own(row.n)
        norm = K1 * (1 - B + B * row.size / self.average)
        around = self._around(row, everyone)
        words = with_neighbours = covered = 0.0
        for at, (term, _) in enumerate(self.pairs):
            here = own[at]
            if here:
                words += term.weight * here * (K1 + 1) / (here + norm)
                covered += term.weight
            if around:
                here += around[at]
            if here:
                with_neighbours += term.weight * here * (K1 + 1) / (here + norm)
        return Scored(row, words / total, (with_neighbours - words) / total, covered / weights)

    def _around(self, row: Row, everyone: Mapping[int, Row]) -> list[float]:
        if not row.before and not row.after:
            return []
        sums = [0.0] * len(self.pairs)
        for step, backwards in ((row.before, True), (row.after, False)):
            if not step:
                continue
            self._sum(sums, step, NEAR)
            beyond = everyone.get(step)
            far = 0 if beyond is None else beyond.before if backwards else beyond.after
            if far:
                self._sum(sums, far, FAR)
        return sums

    def _sum(self, sums: list[float], number: int, weight: float) -> None:
        for at, value in enumerate(self.own(number)):
            if value:
                sums[at] += weight * value
