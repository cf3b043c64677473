"""What a long list gives beyond the best ten: other sessions first, and what the best lead on to.

Whoever asks for more than ten hits wants to see all around a matter. The first ten stay as they
are; behind them an entry of each session that is new comes first, the sessions for which most
speaks before the others; and where there is room, entries of further sessions that share rare
words with the best, or name something of the kind that is asked for.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from heapq import nsmallest

from ijfw_plugins.search_bm25 import words
from ijfw_plugins.search_bm25.question import COMMON, Term, rarity
from ijfw_plugins.search_bm25.rank import Found, Ranker
from ijfw_plugins.search_bm25.words import mark

FIRST = 10  # hits that are left as they are
SHARED = 0.3  # what sharing rare words with the best hits counts beside the hits of a session
KINDS = 0.2  # what something of the kind that is asked for counts beside them
RELATED = 0.9  # of the last hit's score that the best of what is related has
_FROM = 5  # hits that lead on
_WORDS = 12  # of them
_TEXT = 400  # characters of a content that are looked at
_DEPTH = 300  # entries with such words whose sessions are looked at
OTHERS = 0.5  # of what an entry is worth for its kind where the question names another speaker

Best = Mapping[str, tuple[float, int]]  # session -> the most that an entry has, 0..1; its number
_NOTHING = (0.0, 0)


def widened(ranker: Ranker, found: Sequence[Found], over: Set[int], want: int) -> list[Found]:
    """Loaded hits, best first, with more sessions among those behind the first ten.

    Args:
        ranker: of the question.
        found: what answers it.
        over: numbers of entries that are no longer valid; they stay behind.
        want: hits.
    """
    if want <= FIRST or not found:
        return list(found)
    live = [one for one in found if one.n not in over]
    lead = _by_session(ranker, _shares(ranker, live)), _by_session(ranker, _of_kind(ranker))
    spread = _spread(live, *lead)
    if len(live) == len(found) < want:  # else more would stand before what is over
        spread += _related(ranker, found, *lead)[: want - len(found)]
    return [*spread, *(one for one in found if one.n in over)]


def _spread(found: list[Found], shares: Best, kinds: Best) -> list[Found]:
    """Behind the first ten, the best of each new session comes first."""
    head, tail = found[:FIRST], found[FIRST:]
    worth = _worth(found, shares, kinds)
    seen = {one.entry.session for one in head} | {""}
    new: list[Found] = []
    rest: list[Found] = []
    for one in tail:
        (rest if one.entry.session in seen else new).append(one)
        seen.add(one.entry.session)
    return [*head, *sorted(new, key=lambda one: -worth[one.entry.session]), *rest]


def _worth(found: Sequence[Found], shares: Best, kinds: Best) -> Mapping[str, float]:
    """How much speaks for each session. Squares: many poor hits are not as good as one."""
    squares: dict[str, float] = defaultdict(float)
    for one in found:
        squares[one.entry.session] += one.score * one.score
    best = max(squares.values(), default=0.0) or 1.0
    return {
        name: square / best
        + SHARED * shares.get(name, _NOTHING)[0]
        + KINDS * kinds.get(name, _NOTHING)[0]
        for name, square in squares.items()
    }


def _related(ranker: Ranker, found: Sequence[Found], shares: Best, kinds: Best) -> list[Found]:
    """One entry of each further session that shares rare words with the best hits, the most first;
    then of each that only names something of the kind."""
    seen = {one.entry.session for one in found} | {""}
    pairs = [pair for name, pair in shares.items() if name not in seen]
    pairs += [pair for name, pair in kinds.items() if name not in seen and name not in shares]
    scale = RELATED * found[-1].score
    places = ranker.places.of(n for _, n in pairs)
    return ranker.load(
        [Found(n, places[n][3], scale * part, {"related": scale * part}) for part, n in pairs]
    )


def _by_session(ranker: Ranker, worths: Mapping[int, float]) -> Best:
    """The best entry of each session, the best session first."""
    numbers = nsmallest(_DEPTH, worths, key=lambda n: (-worths[n], n))
    marks = ",".join("?" * len(numbers))
    rows = ranker.db.execute(f"SELECT n, session FROM docs WHERE n IN ({marks})", numbers)
    sessions = dict(rows.fetchall())
    best: dict[str, tuple[float, int]] = {}
    for n in numbers:
        best.setdefault(sessions[n], (worths[n] / worths[numbers[0]], n))
    return best


def _of_kind(ranker: Ranker) -> Mapping[int, float]:
    """What entries are worth that name something of a kind that the question names."""
    worths = ranker.of_kind()
    named = {mark(term.text) for term in ranker.question.terms}
    places = ranker.places.of(worths)
    if not any(place[5] in named for place in places.values()):
        return worths
    return {n: worth if places[n][5] in named else OTHERS * worth for n, worth in worths.items()}


def _shares(ranker: Ranker, found: Sequence[Found]) -> Mapping[int, float]:
    """What entries share with the best hits in rare words."""
    shares: dict[int, float] = defaultdict(float)
    for term, worth in _leading(ranker, found):
        for number in ranker.postings(term).all().numbers:
            shares[number] += worth
    return {number: share for number, share in shares.items() if ranker.admits(number)}


def _leading(ranker: Ranker, found: Sequence[Found]) -> list[tuple[Term, float]]:
    """The rare words of the best hits that the question does not hold, and their worth."""
    asked = {term.text for term in ranker.question.terms} | words.ASKING
    given: dict[str, float] = defaultdict(float)
    for one in found[:_FROM]:
        text = f"{one.entry.summary}\n{one.entry.content[:_TEXT]}"
        for name in set(words.terms(text)) - asked:
            given[name] += one.score
    marks = ",".join("?" * len(given))
    most = min(COMMON, ranker.count // 10)
    rows = ranker.db.execute(
        f"SELECT term, t, df FROM terms WHERE term IN ({marks}) AND df BETWEEN 2 AND ?",
        [*given, most],
    )
    terms = [Term(text, n, df, rarity(ranker.count, df)) for text, n, df in rows]
    worths = [(term, term.weight * term.weight * given[term.text]) for term in terms]
    return sorted(worths, key=lambda pair: (-pair[1], pair[0].text))[:_WORDS]
