"""What a long list gives beyond the best ten: other sessions first, and what the best lead on to.

Whoever asks for more than ten hits wants to see all around a matter. The first ten stay as they
are; behind them an entry of each session that is new comes first, and where there is room, entries
of further sessions that share rare words with the best.
"""

from collections import defaultdict
from collections.abc import Sequence, Set

from ijfw_plugins.search_bm25 import words
from ijfw_plugins.search_bm25.question import Term, rarity
from ijfw_plugins.search_bm25.rank import Found, Ranker

FIRST = 10  # hits that are left as they are
TOGETHER = 0.5  # of its other hits' scores that count for a session
_FROM = 5  # hits that lead on
_WORDS = 12  # of them
_TEXT = 400  # characters of a content that are looked at
_COMMON = 400  # entries; a word that more have leads nowhere
RELATED = 0.9  # of the last hit's score that the best of what is related has


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
    spread = _spread(live)
    if len(live) == len(found) < want:  # else more would stand before what is over
        spread += _related(ranker, found, want - len(found))
    return [*spread, *(one for one in found if one.n in over)]


def _spread(found: list[Found]) -> list[Found]:
    """Behind the first ten, the best of each new session comes first."""
    head, tail = found[:FIRST], found[FIRST:]
    sums: dict[str, float] = defaultdict(float)
    for one in found:
        sums[one.entry.session] += one.score
    seen = {one.entry.session for one in head} | {""}
    new: list[Found] = []
    rest: list[Found] = []
    for one in tail:
        (rest if one.entry.session in seen else new).append(one)
        seen.add(one.entry.session)

    def worth(one: Found) -> float:
        return one.score + TOGETHER * (sums[one.entry.session] - one.score)

    return [*head, *sorted(new, key=worth, reverse=True), *rest]


def _related(ranker: Ranker, found: Sequence[Found], room: int) -> list[Found]:
    """One entry of each further session that shares rare words with the best hits."""
    shares: dict[int, float] = defaultdict(float)
    for term, worth in _leading(ranker, found):
        for number in ranker.postings(term).all().numbers:
            shares[number] += worth
    have = {one.n for one in found}
    numbers = [n for n in shares if n not in have and ranker.admits(n)]
    numbers = sorted(numbers, key=lambda n: (-shares[n], n))[: 4 * room]
    if not numbers:
        return []
    scale = RELATED * found[-1].score / shares[numbers[0]]
    places = ranker.places.of(numbers)
    fresh = [
        Found(n, places[n][3], scale * shares[n], {"related": scale * shares[n]}) for n in numbers
    ]
    seen = {one.entry.session for one in found} | {""}
    kept: list[Found] = []
    for one in ranker.load(fresh):
        if one.entry.session not in seen:
            seen.add(one.entry.session)
            kept.append(one)
    return kept[:room]


def _leading(ranker: Ranker, found: Sequence[Found]) -> list[tuple[Term, float]]:
    """The rare words of the best hits that the question does not hold, and their worth."""
    asked = {term.text for term in ranker.question.terms} | words.ASKING
    given: dict[str, float] = defaultdict(float)
    for one in found[:_FROM]:
        text = f"{one.entry.summary}\n{one.entry.content[:_TEXT]}"
        for name in set(words.terms(text)) - asked:
            given[name] += one.score
    marks = ",".join("?" * len(given))
    most = min(_COMMON, ranker.count // 10)
    rows = ranker.db.execute(
        f"SELECT term, t, df FROM terms WHERE term IN ({marks}) AND df BETWEEN 2 AND ?",
        [*given, most],
    )
    terms = [Term(text, n, df, rarity(ranker.count, df)) for text, n, df in rows]
    worths = [(term, term.weight * term.weight * given[term.text]) for term in terms]
    return sorted(worths, key=lambda pair: (-pair[1], pair[0].text))[:_WORDS]
