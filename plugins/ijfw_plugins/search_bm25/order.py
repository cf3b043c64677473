"""From scored entries to hits: time, phrases, names that lead on, likeness, what is left out."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest

from ijfw_core.text import one_line
from ijfw_hookspecs import Entry, Hit, Query
from ijfw_plugins.search_bm25 import breadth, words
from ijfw_plugins.search_bm25.question import Question, Term, normal, rarity
from ijfw_plugins.search_bm25.rank import Found, Ranker
from ijfw_plugins.search_bm25.update import decode

NAME = "bm25"
TIE = 0.01  # most that being recent adds to a score of 0..1: it decides between equals only
NEWEST = 0.4  # share of a score that goes by age where the newest is asked for
IN_WINDOW = 0.15  # what being stored in the span that the question names adds
FLOOR = 0.05  # coverage below which an entry only shares a common word with the question
FEW = 50  # entries; in a smaller memory it says little that a word is common
SURE = 0.1  # score from which the coverage need not be looked at
KNOWN = 0.3  # share of the question's weight below which memory does not know what is asked
HOP = 0.3  # share of its score that an answer hands on to entries with a name from it
_HOPPED = 3  # answers that hand on
_HOP_TERMS = 6  # names taken from them
_WHOLE = 0.7  # coverage of an answer to nearly all of the question, from which no hop starts
_ALIKE = 0.95  # share of words from which an entry says again what a better one said
_SNIPPET = 240  # characters
_PHRASE_DEPTH = 400  # entries looked through for a phrase
PHRASE = 0.5  # what holding the exact phrase adds
CLOSE = 0.9  # share of a better score from which two entries may say the same
MOST = 1000  # hits
_LEAST_POOL = 40  # entries ranked, however few are wanted: neighbours lift some from behind
_SLACK = 8  # entries looked at beyond those wanted: some say the same, or too little
_NAMES_IN = 400  # characters of a content in which names are looked for
TAIL = 0.05  # share of the best score below which a hit is noise
BEFORE = 0.8  # of its score that an answer hands on to the entry that it took the place of
# A capital inside a sentence, camelCase, or a word with digits or marks in it.
_NAME_WORD = re.compile(
    r"(?<=[a-z,;:)] )[A-Z][\w-]{2,}|[a-z]+[A-Z]\w+|[A-Za-z]\w*(?:[._/:-]\w+)+|[A-Za-z]+\d\w*"
)


def hits(ranker: Ranker, query: Query, over: frozenset[int]) -> list[Hit]:
    """The hits for a question, best first; none where nothing is relevant.

    Args:
        ranker: of the question.
        query: what the question was made from.
        over: numbers of entries that are no longer valid; they come after all others.
    """
    question = ranker.question
    want = min(max(query.limit, 0), MOST)
    pool = _PHRASE_DEPTH if question.phrases else max(2 * want, _LEAST_POOL)
    timed = question.newest or question.window or (query.include_superseded and over)
    few = 0 if question.phrases or timed else want + _SLACK
    found = ranker.answer(pool, few, TIE)
    if question.phrases:
        exact = _with_phrases(ranker.load(found), question.phrases)
        if not _says_more(query):
            found = exact or found
    _weigh_time(found, question)
    found = _sorted(found, over)[: want + _SLACK]
    if (
        question.strange
        and ranker.count >= FEW
        and all(ranker.coverage(one.n) < KNOWN for one in found)
    ):
        return []
    if ranker.count >= FEW:
        found = [one for one in found if one.score >= SURE or ranker.coverage(one.n) >= FLOOR]
    best, rest = ranker.load(found[:want]), found[want:]  # of the rest most are not needed
    more = _hop(ranker, best, rest) + _of_kind(ranker, best, rest, want)
    if query.include_superseded:
        more += _before(ranker, best, rest)
    found = _sorted([*best, *rest, *more], over)
    least = TAIL * max((one.score for one in found), default=0.0)
    found = _diverse(ranker, [one for one in found if one.score >= least], want)
    if want > breadth.FIRST:
        found = breadth.widened(ranker, found, over, want)
    stems = [term.text for term in question.terms]
    return [_hit(ranker, one, stems) for one in found]


def newest(rows: Iterable[bytes], query: Query) -> list[Hit]:
    """Hits for filters alone: entries as they come."""
    found: list[Hit] = []
    for entry in map(decode, rows):
        if len(found) >= query.limit:
            break
        if refers(entry, query.links):
            found.append(Hit(entry=entry, score=0.0, snippet=entry.summary, retriever=NAME))
    return found


def _sorted(found: Iterable[Found], over: frozenset[int]) -> list[Found]:
    """Best first; what is over comes last, of equals the newest first."""
    return sorted(found, key=lambda one: (one.n in over, -one.score, -one.stored, one.n))


def _with_phrases(found: Sequence[Found], phrases: Sequence[str]) -> list[Found]:
    kept = []
    for one in found:
        text = f" {normal(_text(one.entry))} "
        if all(f" {phrase} " in text for phrase in phrases):
            one.add("phrase", PHRASE)
            kept.append(one)
    return kept


def _says_more(query: Query) -> bool:
    """Whether a query is more than its phrases: what answers a question about a title need not
    repeat the title."""
    return not set(words.terms(query.text)) <= set(words.terms(" ".join(query.phrases)))


def _text(entry: Entry) -> str:
    return "\n".join(
        (entry.summary, entry.content, entry.why, entry.how_to_apply, " ".join(entry.tags))
    )


def _weigh_time(found: Sequence[Found], question: Question) -> None:
    """Being recent decides between equals; it counts for more where the question asks for it."""
    if not found:
        return
    order = sorted({one.stored for one in found})
    best = max(one.score for one in found)
    step = TIE * best / max(len(order) - 1, 1)
    ages = {stored: step * at for at, stored in enumerate(order)}
    least, more = (0.5 * best, NEWEST / TIE) if question.newest else (math.inf, 1.0)
    for one in found:
        value = ages[one.stored]
        one.add("recency", value * more if one.score >= least else value)
    if question.window:
        since, until = (moment.timestamp() for moment in question.window)
        for one in found:
            if since <= one.stored < until:
                one.add("window", IN_WINDOW)


def _hop(ranker: Ranker, found: Sequence[Found], rest: Sequence[Found]) -> list[Found]:
    """Entries that share a rare name with one of the best answers to a part of the question."""
    starts = found[:_HOPPED]
    if len(ranker.question.terms) < 2 or not starts:
        return []
    if ranker.coverage(starts[0].n) >= _WHOLE:
        return []
    given = _given(ranker, starts)
    if not given:
        return []
    gained: dict[int, float] = {}
    for term, handed in _known(ranker, given):
        for number in ranker.postings(term).all().numbers:
            gained[number] = max(gained.get(number, 0.0), HOP * handed)
    for one in starts:
        gained.pop(one.n, None)
    for one in (*found, *rest):
        if one.n in gained:
            one.add("hop", gained.pop(one.n) / 2)
    return _gained(ranker, gained, "hop")


def _of_kind(
    ranker: Ranker, found: Sequence[Found], rest: Sequence[Found], want: int
) -> list[Found]:
    """Entries that name something of a kind that the question names; none for a phrase."""
    if not ranker.question.kinds or ranker.question.phrases:
        return []
    gained = dict(ranker.of_kind())
    for one in (*found, *rest):
        if one.n in gained:
            one.add("kind", gained.pop(one.n))
    most = nlargest(want, gained, key=lambda n: (gained[n], n))
    return _gained(ranker, {n: gained[n] for n in most}, "kind")


def _given(ranker: Ranker, starts: Sequence[Found]) -> dict[str, float]:
    """The names in entries that the question does not hold, with the score of the entry."""
    asked = {term.text for term in ranker.question.terms}
    given: dict[str, float] = {}
    for one in starts:
        for name in _names(one.entry):
            if name not in asked and len(given) < _HOP_TERMS:
                given.setdefault(name, one.score)
    return given


def _before(ranker: Ranker, found: Sequence[Found], rest: Sequence[Found]) -> list[Found]:
    """What the best answers took the place of, where a question asks for what was."""
    have = {one.n for one in (*found, *rest)}
    handed = {one.entry.id: one.score * BEFORE for one in found[:_HOPPED]}
    marks = ",".join("?" * len(handed))
    rows = ranker.db.execute(
        f"SELECT n, successor FROM docs WHERE successor IN ({marks}) AND successor != '' AND shown",
        list(handed),
    )
    gained = {n: handed[name] for n, name in rows if n not in have}
    return _gained(ranker, gained, "before")


def _gained(ranker: Ranker, gained: Mapping[int, float], name: str) -> list[Found]:
    """Entries whose whole score is what others handed on to them."""
    fresh = {n: score for n, score in gained.items() if ranker.admits(n)}
    places = ranker.places.of(fresh)
    return ranker.load([Found(n, places[n][3], score, {name: score}) for n, score in fresh.items()])


def _known(ranker: Ranker, given: Mapping[str, float]) -> Iterator[tuple[Term, float]]:
    """The names that few entries have; one that everyone has leads nowhere."""
    marks = ",".join("?" * len(given))
    rows = ranker.db.execute(
        f"SELECT term, t, df FROM terms WHERE term IN ({marks}) AND df BETWEEN 2 AND 12",
        list(given),
    )
    for text, number, df in rows.fetchall():
        yield Term(text, number, df, rarity(ranker.count, df)), given[text]


def _names(entry: Entry) -> Iterator[str]:
    """Words of an entry that look like names: a capital inside a sentence, identifiers."""
    for match in _NAME_WORD.finditer(f"{entry.summary}\n{entry.content[:_NAMES_IN]}"):
        yield from words.terms(match.group())[:1]


def _diverse(ranker: Ranker, found: Sequence[Found], want: int) -> list[Found]:
    """The first `want` hits, those that say again what a better one said behind the others.

    Such entries score almost the same, so only neighbours in the order are compared.
    """
    first: list[Found] = []
    again: list[Found] = []
    for at, one in enumerate(found):
        if len(first) >= want:
            break
        if not one.id:
            ranker.load(found[at:])
            if not one.id:
                continue
        for other in reversed(first):
            if one.score < CLOSE * other.score:  # and of all before it
                first.append(one)
                break
            if _alike(one, other):
                again.append(one)
                break
        else:
            first.append(one)
    return [*first, *again][:want]


def _alike(one: Found, other: Found) -> bool:
    """Whether two entries have nearly the same words; the summaries are compared first."""
    mine, theirs = _head(one), _head(other)
    if 2 * len(mine & theirs) < len(mine):
        return False
    mine = mine.union(one.entry.content[:400].lower().split())
    theirs = theirs.union(other.entry.content[:400].lower().split())
    return len(mine & theirs) >= _ALIKE * len(mine | theirs)


def _head(one: Found) -> frozenset[str]:
    if one.head is None:
        one.head = frozenset(one.entry.summary.lower().split())
    return one.head


def refers(entry: Entry, links: Sequence[str]) -> bool:
    """Whether an entry names each of these ids or titles, in its header or as `[[title]]`."""
    if not links:
        return True
    named = {entry.superseded_by.lower(), *(value.lower() for _, value in entry.extra)}
    text = _text(entry).lower()
    return all(link.lower() in named or f"[[{link.lower()}" in text for link in links)


def _hit(ranker: Ranker, one: Found, stems: Sequence[str]) -> Hit:
    parts = {name: round(value, 6) for name, value in one.parts.items()}
    parts["coverage"] = round(ranker.coverage(one.n), 4)
    return Hit(
        entry=one.entry,
        score=round(one.score, 6),
        snippet=snippet(one.entry, stems),
        retriever=NAME,
        parts=parts,
    )


def snippet(entry: Entry, stems: Sequence[str]) -> str:
    """The summary, or the place in the content that the question's words stand in."""
    summary = entry.summary.lower()
    for stem in stems:
        if stem in summary:
            return entry.summary
    for text in (entry.content, entry.why, entry.how_to_apply):
        lowered = text.lower()
        places = [at for stem in stems if (at := lowered.find(stem)) >= 0]
        if places and len(lowered) == len(text):
            start = max(min(places) - _SNIPPET // 3, 0)
            if start:
                start = text.find(" ", start, min(places)) + 1 or start
            piece = one_line(text[start : start + _SNIPPET])
            left = "… " if start else ""
            right = " …" if start + _SNIPPET < len(text) else ""
            return f"{left}{piece}{right}"
    return entry.summary
