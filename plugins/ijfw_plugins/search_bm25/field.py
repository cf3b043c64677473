"""The words of an entry's neighbours in its session, as a field of low weight of the entry.

What one message says, the next one goes on from. Of the best entries and of those beside them BM25
is taken again, over their own words and those of the entries up to two places away.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ijfw_plugins.search_bm25.places import Place
from ijfw_plugins.search_bm25.postings import FREQUENCIES, K1, SHORT, B, Postings
from ijfw_plugins.search_bm25.question import Term

NEAR, FAR = 0.3, 0.15  # weight of the words of an entry one and two places before
AFTER = 0.5  # of that, the weight of one that comes after: fewer texts are about what follows
BESIDE = 0.75  # of its score that an entry keeps that only its neighbours speak for
ASKED = 0.15  # what the weight of one two places before gains where a question stands between
_TENTHS = 10  # of a word, in which sizes are kept

Words = dict[int, list[tuple[int, float]]]  # entry -> (place of the term, weighted frequency)


def words_of(everyone: Mapping[int, Place], lists: Sequence[Postings]) -> Words:
    """The question's terms that stand in these entries and in those beside them."""
    numbers = set(everyone)
    for before, after, _, _, _, _ in everyone.values():
        numbers.add(before)
        numbers.add(after)
    numbers.discard(0)
    found: Words = {}
    for at, postings in enumerate(lists):
        for number, code in postings.codes_of(numbers):
            if number in found:
                found[number].append((at, FREQUENCIES[code >> 3]))
            else:
                found[number] = [(at, FREQUENCIES[code >> 3])]
    return found


def scored(
    everyone: Mapping[int, Place],
    words: Words,
    terms: Iterable[Term],
    average: float,
    total: float,
) -> Iterator[tuple[int, float, float]]:
    """Each entry with its score for its own words, and what its neighbours add.

    Args:
        everyone: the places of the entries.
        words: of them and of those beside them, see `words_of`.
        terms: that are asked for.
        average: weighted words of an entry.
        total: the best score there could be; a score is a share of it.
    """
    weights = [term.weight * (K1 + 1) / total for term in terms]
    least, longer = K1 * (1 - B), K1 * B / average / _TENTHS
    short = SHORT * average * _TENTHS
    for number, (before, after, size, _, _, _) in everyone.items():
        mine = words.get(number, ())
        norm = least + longer * (size if size > short else short)
        own = 0.0
        for at, value in mine:
            own += weights[at] * value / (value + norm)
        around = _around(everyone, words, before, after)
        if not around:
            yield number, own, 0.0
            continue
        sums = dict(mine)
        for share, theirs in around:
            for at, value in theirs:
                sums[at] = sums.get(at, 0.0) + share * value
        both = 0.0
        for at, value in sums.items():
            both += weights[at] * value / (value + norm)
        yield number, own, (both - own) * (1.0 if own else BESIDE)


def _around(
    everyone: Mapping[int, Place], words: Words, before: int, after: int
) -> list[tuple[float, list[tuple[int, float]]]]:
    """The words of those beside an entry, and how much they count; of strangers no more is known
    than where they stand."""
    found = []
    if before in words:
        found.append((NEAR, words[before]))
    if before in everyone:
        far, _, _, _, asks, _ = everyone[before]
        if far in words:
            found.append((FAR + ASKED if asks else FAR, words[far]))
    if after in words:
        found.append((NEAR * AFTER, words[after]))
    if after in everyone and (far := everyone[after][1]) in words:
        found.append((FAR * AFTER, words[far]))
    return found
