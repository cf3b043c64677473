"""Which entries answer a question, best first.

1. Accumulate: the lists of the terms, rarest first, summed up an entry. Once no single list that
   is left can lift a new entry into the pool, only entries that stand in two of them are new; once
   all of them together cannot, none is. From then on lists are looked up for entries that can win.
   The pool is the same as if every list had been added up.
2. Pool: of the best, and of their neighbours in the same session, BM25 again with the words of the
   neighbours (`field`).
3. Hop: names that the best answers bring in lead to entries that the question does not name.
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest

from ijfw_hookspecs import Entry
from ijfw_plugins.search_bm25 import field
from ijfw_plugins.search_bm25.index import Index
from ijfw_plugins.search_bm25.places import WHOLE, Place
from ijfw_plugins.search_bm25.postings import K1, PART, Postings, impacts
from ijfw_plugins.search_bm25.question import Question, Term
from ijfw_plugins.search_bm25.update import PARTS, decode
from ijfw_plugins.search_bm25.words import mark

_TABLE = 300  # entries of a list for which a table of scores pays off
_WORTH = 1000  # entries of a list that is worth a look whether it can be left out
LEADING = 16  # entries whose neighbours may answer in their place
ASKS = 0.2  # of its score that a question loses whose answer follows it
SPOKE = 0.1  # of its score that an entry gains whose speaker the question names
LED = 0.5  # of the best score that such an entry has; beside a poor answer stands noise
_AT_ONCE = 64  # parts read in one statement
_SORTED = 1000  # entries


# Score, number; of the score for its own words, for its neighbours, as a question, for who speaks.
_Row = tuple[float, int, float, float, float, float]


class Found:
    """An entry on its way to becoming a hit; each part of its score is a share of the best score
    that there could be."""

    __slots__ = ("entry", "head", "id", "n", "parts", "score", "stored")

    def __init__(self, n: int, stored: float, score: float, parts: dict[str, float]) -> None:
        self.n = n
        self.stored = stored  # seconds since 1970
        self.score = score
        self.parts = parts
        self.id = ""  # until the entry is loaded
        self.entry: Entry
        self.head: frozenset[str] | None = None  # words of the summary

    def add(self, name: str, value: float) -> None:
        """Add a part to the score."""
        self.parts[name] = value
        self.score += value


class Ranker:
    """Answers one question on one state of an index.

    Args:
        index: in a transaction.
        dead: numbers that must not answer.
        question: what is asked.
    """

    def __init__(self, index: Index, dead: frozenset[int], question: Question) -> None:
        self.db = index.db
        self.count = index.count
        self.highest = index.highest
        self.average = max(index.average, 1.0)
        self.places = index.places
        self.dead = dead
        self.question = question
        self.impacts = impacts(self.average)
        self._lists = [self.postings(term) for term in question.terms]
        self._read_small()
        self._asked = list(zip(question.terms, self._lists, strict=True))  # rarest first
        self._total = question.total * (K1 + 1) or 1.0

    def _read_small(self) -> None:
        """Read all lists at once where they are few and short."""
        parts = (self.highest >> PART) + 1
        terms = self.question.terms
        if parts * len(terms) > _AT_ONCE:
            return
        keys = [term.number * PARTS + part for term in terms for part in range(parts)]
        marks = ",".join("?" * len(keys))
        rows = self.db.execute(
            f"SELECT k, list FROM postings WHERE k IN ({marks}) ORDER BY k", keys
        )
        found: dict[int, list[bytes]] = {term.number: [] for term in terms}
        for key, blob in rows:
            found[key // PARTS].append(blob)
        for term, postings in zip(terms, self._lists, strict=True):
            postings.fill(found[term.number])

    def answer(self, pool: int, few: int = 0, tie: float = 0.0) -> list[Found]:
        """The best entries, scored by their words and those of their neighbours; in no order.

        Args:
            pool: how many are scored by their own words.
            few: how many are wanted, 0 = all.
            tie: share of the best score that can still decide between the last of them.
        """
        scores = self._accumulate(pool)
        best = _best(scores, pool)
        everyone = self.places.of(best)
        linked = [n for n in best if everyone[n][0] or everyone[n][1]]
        if linked:
            rows = self._in_sessions(scores, best, linked, everyone)
        else:
            rows = [(s := scores[n] / self._total, n, s, 0.0, 0.0, 0.0) for n in best]
        if 0 < few < len(rows):
            rows.sort(reverse=True)
            least = rows[few - 1][0] - tie * rows[0][0]
            rows = [row for row in rows if row[0] >= least]
        return [_found(row, everyone[row[1]]) for row in rows]

    def _in_sessions(
        self,
        scores: Mapping[int, float],
        best: Sequence[int],
        linked: Sequence[int],
        everyone: dict[int, Place],
    ) -> list[_Row]:
        """Scores with the words of neighbours; the neighbours of good answers may answer, too."""
        least = LED * scores[best[0]]
        leading = [n for n in linked[:LEADING] if scores[n] >= least]
        beside = {n for one in leading for n in everyone[one][:2] if n} - everyone.keys()
        everyone |= self.places.of(beside)
        answers = {everyone[n][1] for n in beside if everyone[n][4]} - everyone.keys() - {0}
        if answers:
            everyone |= self.places.of(answers)
            beside |= answers
        words = field.words_of(everyone, self._lists)
        named = {mark(term.text) for term in self.question.terms}
        rows: list[_Row] = []
        for n, own, more in field.scored(
            everyone, words, self.question.terms, self.average, self._total
        ):
            if own + more > 0 and (n not in beside or self.admits(n)):
                _, after, _, _, asks, speaker = everyone[n]
                score = own + more
                lost = -ASKS * asks / WHOLE * score if asks and after else 0.0
                spoke = SPOKE * score if speaker in named else 0.0
                rows.append((score + lost + spoke, n, own, more, lost, spoke))
        return rows

    def admits(self, number: int) -> bool:
        """Whether an entry may answer."""
        return number not in self.dead and self.question.admits(number)

    def of_kind(self) -> Mapping[int, float]:
        """Entries with something of a kind that the question names, and the share of the best score
        there could be that this is worth."""
        found: dict[int, float] = {}
        for term in self.question.kinds:
            worth = term.weight * (K1 + 1) / self._total
            for number in self.postings(term).all().numbers:
                if worth > found.get(number, 0.0):
                    found[number] = worth
        return {number: worth for number, worth in found.items() if self.admits(number)}

    def coverage(self, number: int) -> float:
        """The share of the question's weight whose terms stand in the entry itself."""
        covered = 0.0
        for term, postings in self._asked:
            if number in (postings.members or postings.read()):
                covered += term.weight
        return covered / (self.question.total or 1.0)

    def load(self, found: Sequence[Found]) -> list[Found]:
        """These, with their entries; one that is gone is left out."""
        wanted = [one.n for one in found if not one.id]
        marks = ",".join("?" * len(wanted))
        rows = self.db.execute(f"SELECT n, entry FROM docs WHERE n IN ({marks}) AND shown", wanted)
        entries = dict(rows.fetchall())
        for one in found:
            if one.n in entries:
                one.entry = decode(entries[one.n])
                one.id = one.entry.id
        return [one for one in found if one.id]

    # --- accumulating -------------------------------------------------------------------------

    def _accumulate(self, pool: int) -> dict[int, float]:
        scores: dict[int, float] = {}
        for at, (term, postings) in enumerate(self._asked):
            if term.df > _WORTH and len(scores) > pool:
                settled = self._settled(scores, pool, self._asked[at:])
                if settled is not None:
                    return settled
            _add(scores, postings, term.weight, self.impacts)
        return self._alive(scores)

    def _settled(
        self, scores: dict[int, float], pool: int, asked: Sequence[tuple[Term, Postings]]
    ) -> dict[int, float] | None:
        """The scores of all entries that can be in the pool, once the lists that are left need
        only be looked up; None where they must be added up."""
        scores = self._alive(scores)
        if len(scores) < pool:
            return None
        floor = _floor(scores, pool)
        most = [term.weight * postings.most(self.impacts) for term, postings in asked]
        if max(most) >= floor:
            return None
        fresh = _in_two(asked) if sum(most) >= floor else set()
        for n in fresh - scores.keys():
            if self.admits(n):
                scores[n] = 0.0
        for at, (term, postings) in enumerate(asked):
            rest = sum(most[at:])
            scores = {n: score for n, score in scores.items() if score + rest >= floor}
            for n, code in postings.codes_of(scores.keys()):
                scores[n] += term.weight * self.impacts[code]
        return scores

    def _alive(self, scores: dict[int, float]) -> dict[int, float]:
        allowed = self.question.allowed
        if allowed is not None:
            scores = {n: score for n, score in scores.items() if n in allowed}
        for number in self.dead:
            scores.pop(number, None)
        return scores

    def postings(self, term: Term) -> Postings:
        """The list of a term."""
        low = term.number * PARTS

        def fetch() -> Iterator[bytes]:
            rows = self.db.execute(
                "SELECT list FROM postings WHERE k BETWEEN ? AND ? ORDER BY k",
                (low, low + PARTS - 1),
            )
            return (blob for (blob,) in rows)

        return Postings(term.df, fetch)


def _add(
    scores: dict[int, float], found: Postings, weight: float, impacts: Sequence[float]
) -> None:
    """Add what a list gives to each of its entries."""
    part = found.all()
    if found.df > _TABLE:
        table = [weight * value for value in impacts]
        new = dict(zip(part.numbers, map(table.__getitem__, part.codes), strict=True))
    else:
        new = {n: weight * impacts[c] for n, c in zip(part.numbers, part.codes, strict=True)}
    for number in scores.keys() & new.keys():
        new[number] += scores[number]
    scores.update(new)
    found.members = new.keys()


def _in_two(asked: Sequence[tuple[Term, Postings]]) -> set[int]:
    """The entries that stand in two of the lists, or more."""
    once: set[int] = set()
    twice: set[int] = set()
    for _, postings in asked:
        members = postings.read()
        twice |= once & members
        once |= members
    return twice


def _found(row: _Row, place: Place) -> Found:
    score, n, *values = row
    names = ("words", "neighbours", "asks", "speaker")
    parts = {name: part for name, part in zip(names, values, strict=True) if part}
    return Found(n, place[3], score, parts)


def _best(scores: Mapping[int, float], pool: int) -> list[int]:
    """The numbers with the highest scores, best first."""
    floor = _floor(scores, pool) if len(scores) > pool else 0.0
    pairs = sorted([(-score, n) for n, score in scores.items() if score >= floor])
    return [n for _, n in pairs[:pool]]


def _floor(scores: Mapping[int, float], pool: int) -> float:
    """The score of the last in the pool; of few, sorting all is quicker than choosing."""
    if len(scores) < _SORTED:
        return sorted(scores.values())[-pool]
    return nlargest(pool, scores.values())[-1]
