"""From scored entries to hits: time, phrases, names that lead on, likeness, what is left out."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ijfw_core.text import one_line
from ijfw_hookspecs import Entry, Hit, Query
from ijfw_plugins.search_bm25 import words
from ijfw_plugins.search_bm25.question import MAX_TERMS, Question, Term, normal, rarity
from ijfw_plugins.search_bm25.rank import Ranker, Scored
from ijfw_plugins.search_bm25.update import decode

NAME = "bm25"
TIE = 0.01  # most that being recent adds to a score of 0..1: it decides between equals only
NEWEST = 0.4  # share of a score that goes by age where the newest is asked for
IN_WINDOW = 0.15  # what being stored in the span that the question names adds
FLOOR = 0.08  # coverage below which an entry only shares a common word with the question
KNOWN = 0.3  # share of the question's weight below which memory does not know what is asked
BESIDE = 0.75  # of its score that an entry keeps that only its neighbours speak for
HOP = 0.3  # share of its score that an answer hands on to entries with a name from it
_HOPPED = 3  # answers that hand on
_HOP_TERMS = 6  # names taken from them
_WHOLE = 0.9  # coverage of an answer to all of the question, from which no hop starts
_ALIKE = 0.8  # share of words from which an entry says again what a better one said
_SNIPPET = 240  # characters
_PHRASE_DEPTH = 400  # entries looked through for a phrase
TAIL = 0.15  # share of the best score below which a hit is noise
BEFORE = 0.8  # of its score that an answer hands on to the entry that it took the place of
# A capital inside a sentence, camelCase, or a word with digits or marks in it.
_NAME_WORD = re.compile(
    r"(?<=[a-z,;:)] )[A-Z][\w-]{2,}|[a-z]+[A-Z]\w+|[A-Za-z]\w*(?:[._/:-]\w+)+|[A-Za-z]+\d\w*"
)


class Found:
    """An entry on its way to becoming a hit."""

    __slots__ = ("entry", "n", "parts", "stored")

    def __init__(self, scored: Scored, entry: Entry) -> None:
        self.n = scored.row.n
        self.stored = scored.row.stored
        self.entry = entry
        self.parts: dict[str, float] = {"words": scored.words}
        if scored.neighbours:
            share = 1.0 if scored.words else BESIDE
            self.parts["neighbours"] = scored.neighbours * share
        self.parts["coverage"] = scored.coverage

    @property
    def score(self) -> float:
        """The sum of the parts; coverage is told beside them."""
        return sum(value for name, value in self.parts.items() if name != "coverage")


def hits(ranker: Ranker, question: Question, query: Query, over: frozenset[int]) -> list[Hit]:
    """The hits for a question, best first; none where nothing is relevant.

    Args:
        ranker: on the index.
        question: what is asked.
        query: what it was made from.
        over: numbers of entries that are no longer valid; they come after all others.
    """
    want = min(max(query.limit, 0), 1000)
    pool = max(2 * want, 40)
    found = _load(ranker, ranker.answer(question, _PHRASE_DEPTH if question.phrases else pool))
    if question.phrases:
        found = _with_phrases(found, question.phrases) or found
    if max((one.parts["coverage"] for one in found), default=0.0) < KNOWN and _is_strange(question):
        return []
    found = [one for one in found if one.parts["coverage"] >= FLOOR or "neighbours" in one.parts]
    found += _hop(ranker, question, found)
    if query.include_superseded:
        found += _before(ranker, question, found)
    _weigh_time(found, question)
    found.sort(key=lambda one: (one.n in over, -one.score, -one.stored, one.entry.id))
    least = TAIL * max((one.score for one in found), default=0.0)
    found = _diverse([one for one in found if one.score >= least], want)
    needles = _needles(query.text)
    return [_hit(one, needles) for one in found[:want]]


def _is_strange(question: Question) -> bool:
    """Whether most of what is asked are words that memory does not have."""
    known = sum(term.weight for term in question.terms)
    return known < 0.5 * question.total


def newest(rows: Iterable[bytes], query: Query) -> list[Hit]:
    """Hits for filters alone: entries as they come."""
    return [
        Hit(entry=entry, score=0.0, snippet=entry.summary, retriever=NAME, parts={})
        for entry in map(decode, rows)
        if refers(entry, query.links)
    ][: query.limit]


def _load(ranker: Ranker, scored: Sequence[Scored]) -> list[Found]:
    numbers = [one.row.n for one in scored]
    marks = ",".join("?" * len(numbers))
    rows = ranker.db.execute(f"SELECT n, entry FROM docs WHERE n IN ({marks})", numbers)
    entries = {n: decode(blob) for n, blob in rows}
    return [Found(one, entries[one.row.n]) for one in scored if one.row.n in entries]


def _with_phrases(found: Sequence[Found], phrases: Sequence[str]) -> list[Found]:
    kept = []
    for one in found:
        text = f" {normal(_text(one.entry))} "
        if all(f" {phrase} " in text for phrase in phrases):
            one.parts["phrase"] = 0.5
            kept.append(one)
    return kept


def _text(entry: Entry) -> str:
    return "\n".join(
        (entry.summary, entry.content, entry.why, entry.how_to_apply, " ".join(entry.tags))
    )


def _weigh_time(found: Sequence[Found], question: Question) -> None:
    """Being recent decides between equals; it counts for more where the question asks for it."""
    if not found:
        return
    order = sorted({one.stored for one in found})
    place = {stored: at / max(len(order) - 1, 1) for at, stored in enumerate(order)}
    best = max(one.score for one in found)
    for one in found:
        recent = place[one.stored]
        if question.newest and one.score >= 0.5 * best:
            one.parts["recency"] = NEWEST * best * recent
        else:
            one.parts["recency"] = TIE * best * recent
        window = question.window
        if window and window.since.timestamp() <= one.stored < window.until.timestamp():
            one.parts["window"] = IN_WINDOW


def _hop(ranker: Ranker, question: Question, found: Sequence[Found]) -> list[Found]:
    """Entries that share a rare name with one of the best answers to a part of the question."""
    starts = [one for one in found[:_HOPPED] if one.parts["coverage"] < _WHOLE]
    if not starts or len(question.terms) < 2:
        return []
    asked = {term.text for term in question.terms}
    given: dict[str, float] = {}
    for one in starts:
        for term in _names(one.entry):
            if term not in asked and len(given) < _HOP_TERMS:
                given.setdefault(term, one.score)
    have = {one.n: one for one in found}
    gained: dict[int, float] = {}
    for name, handed in _known(ranker, given):
        for part in ranker.postings(name).all():
            for number in part.numbers:
                gained[number] = max(gained.get(number, 0.0), HOP * handed)
    for one in starts:
        gained.pop(one.n, None)
    fresh = sorted((n for n in gained if n not in have), reverse=True)[:50]
    for number, gain in gained.items():
        if number in have:
            have[number].parts["hop"] = gain * 0.5
    rows = [
        row for n, row in ranker.rows(fresh).items() if n not in ranker.dead and question.admits(n)
    ]
    more = _load(ranker, [Scored(row, 0.0, 0.0, 0.0) for row in rows])
    for one in more:
        one.parts["hop"] = gained[one.n]
    return more


def _before(ranker: Ranker, question: Question, found: Sequence[Found]) -> list[Found]:
    """What the best answers took the place of, where a question asks for what was."""
    have = {one.n for one in found}
    handed = {one.entry.id: one.score * BEFORE for one in found[:_HOPPED]}
    marks = ",".join("?" * len(handed))
    rows = ranker.db.execute(
        f"SELECT n, successor FROM docs WHERE successor IN ({marks}) AND successor != '' AND shown",
        list(handed),
    )
    gained = {n: handed[name] for n, name in rows if n not in have and question.admits(n)}
    more = _load(ranker, [Scored(row, 0, 0, 0) for row in ranker.rows(list(gained)).values()])
    for one in more:
        one.parts["before"] = gained[one.n]
    return more


def _known(ranker: Ranker, given: Mapping[str, float]) -> Iterator[tuple[Term, float]]:
    """The terms that few entries have; a name that everyone has leads nowhere."""
    marks = ",".join("?" * len(given))
    rows = ranker.db.execute(
        f"SELECT term, t, df FROM terms WHERE term IN ({marks}) AND df BETWEEN 2 AND 12",
        list(given),
    )
    for text, number, df in rows.fetchall():
        yield Term(text, number, df, rarity(ranker.count, df)), given[text]


def _names(entry: Entry) -> Iterator[str]:
    """Words of an entry that look like names: a capital inside a sentence, identifiers."""
    text = f"{entry.summary}\n{entry.content[:1000]}"
    for match in _NAME_WORD.finditer(text):
        yield from words.terms(match.group())[:1]


def _diverse(found: list[Found], want: int) -> list[Found]:
    """The same hits, those that say again what a better one said behind the others."""
    first: list[Found] = []
    again: list[Found] = []
    seen: list[set[str]] = []
    for at, one in enumerate(found):
        if len(first) >= want:
            return [*first, *again, *found[at:]]
        mine = set(f"{one.entry.summary} {one.entry.content[:400]}".lower().split())
        if any(len(mine & other) >= _ALIKE * len(mine | other) for other in seen):
            again.append(one)
        else:
            first.append(one)
            seen.append(mine)
    return [*first, *again]


def refers(entry: Entry, links: Sequence[str]) -> bool:
    """Whether an entry names each of these ids or titles, in its header or as `[[title]]`."""
    if not links:
        return True
    named = {entry.superseded_by.lower(), *(value.lower() for _, value in entry.extra)}
    text = _text(entry).lower()
    return all(link.lower() in named or f"[[{link.lower()}" in text for link in links)


def _needles(text: str) -> re.Pattern[str] | None:
    """Finds a word of the question, or one with the same beginning."""
    found = dict.fromkeys(term[:40] for term in words.terms(text)[:MAX_TERMS])
    stems = [re.escape(term) for term in sorted(found, key=len, reverse=True)]
    return re.compile(rf"(?<!\w)(?:{'|'.join(stems)})", re.I) if stems else None


def _hit(one: Found, needles: re.Pattern[str] | None) -> Hit:
    return Hit(
        entry=one.entry,
        score=round(one.score, 6),
        snippet=snippet(one.entry, needles),
        retriever=NAME,
        parts={name: round(value, 6) for name, value in one.parts.items()},
    )


def snippet(entry: Entry, needles: re.Pattern[str] | None) -> str:
    """The summary, or the place in the content that the question's words stand in."""
    if needles is None or needles.search(entry.summary):
        return entry.summary
    for text in (entry.content, entry.why, entry.how_to_apply):
        match = needles.search(text)
        if match:
            start = max(match.start() - _SNIPPET // 3, 0)
            if start:
                start = text.find(" ", start, match.start()) + 1 or start
            piece = one_line(text[start : start + _SNIPPET])
            left = "… " if start else ""
            right = " …" if start + _SNIPPET < len(text) else ""
            return f"{left}{piece}{right}"
    return entry.summary
