"""What a query asks the index for: terms with weights, what may answer, and how time counts."""

import math
import re
import sqlite3
from collections.abc import Sequence, Set
from typing import NamedTuple

from ijfw_hookspecs import Context, Query
from ijfw_plugins.search_bm25 import kinds, words
from ijfw_plugins.search_bm25.words import Window

MAX_TERMS = 48  # of a query; a pasted page asks for its rarest words
DATE_WEIGHT = 0.7  # of a date beside a word: a field of weight .5 did best on conversations
ASKING_WEIGHT = 0.5  # of a word that questions are made of, such as "decide" or "current"
GUESS_WEIGHT = 0.5  # of a longer word that stands in for one that memory does not have
_GUESSES = 3
KIND_WEIGHT = 0.3  # of a word that names a kind, for one that belongs to the kind
COMMON = 400  # entries; a word that more have leads nowhere, nor one that more than a tenth have
_FEW = 5  # entries that may have it in any memory
_SHORTEST_GUESS = 4  # characters
_NEWEST = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|current(?:ly)?|right now|nowadays|at the moment"
    r"|as of now|these days|up[- ]to[- ]date)\b|\bnow\b(?!\s+that)"
    r"|\blast\b(?!\s+(?:week|month|year|night|name|line|two|three|\d))",
    re.I,
)


class Term(NamedTuple):
    """A term that is asked for."""

    text: str
    number: int  # of the term in the index, 0 = memory does not have it
    df: int
    weight: float  # rarity times the weight of its kind


class Question(NamedTuple):
    """A query as the index sees it."""

    terms: tuple[Term, ...]  # that memory has, rarest first
    total: float  # of the weights, of terms that memory does not have too
    phrases: tuple[str, ...]  # normalised
    allowed: frozenset[int] | None  # numbers that pass the filters; None = all
    strange: bool  # memory does not have most of the words
    newest: bool
    window: Window | None
    kinds: tuple[Term, ...] = ()  # what belongs to the kinds that it names, as far as memory has it

    def admits(self, number: int) -> bool:
        """Whether an entry passes the filters."""
        return self.allowed is None or number in self.allowed


def ask(db: sqlite3.Connection, count: int, query: Query, context: Context) -> Question:
    """The question that a query puts to an index of `count` entries."""
    now = query.as_of or context.now
    wanted: dict[str, float] = {}
    heads: set[str] = set()  # the first term of each word; the others are parts of it
    for word in query.text[: words.MAX_CHARS].split():
        found = words.word_terms(word)
        heads.update(found[:1])
        wanted |= {term: ASKING_WEIGHT if term in words.ASKING else 1.0 for term in found}
    dates = words.dates(query.text)
    if dates:  # what is said by a date need not stand in the text
        heads -= {term for term in heads if term in words.DATED or term.isdigit()}
    wanted |= dict.fromkeys(dates, DATE_WEIGHT)
    terms = _terms(db, count, wanted)
    of_kind = _of_kinds(db, count, terms)
    return Question(
        terms=tuple(sorted((t for t in terms if t.number), key=lambda t: (t.df, t.text))),
        total=sum(term.weight for term in terms if term.number or term.text in heads),
        phrases=tuple(normal(phrase) for phrase in query.phrases if normal(phrase)),
        allowed=_allowed(db, query),
        strange=_is_strange(terms, heads, of_kind.keys()),
        newest=query.newest or bool(_NEWEST.search(query.text)),
        window=words.window(query.text, now),
        kinds=tuple(term for some in of_kind.values() for term in some),
    )


def _is_strange(terms: Sequence[Term], heads: set[str], named: Set[str]) -> bool:
    """Whether memory has less than half of the words that say what is asked, or of their kinds."""
    wanted = heads - words.ASKING
    said = [bool(term.number) or term.text in named for term in terms if term.text in wanted]
    return 2 * sum(said) < len(said)


def most_common(count: int) -> int:
    """Of how many entries a word may stand in that leads to others."""
    return min(COMMON, max(count // 10, _FEW))


def _of_kinds(db: sqlite3.Connection, count: int, terms: Sequence[Term]) -> dict[str, list[Term]]:
    """What memory has of the kinds that a question names, by the term that names one.

    The rarer a member, the more it has of the weight: "go" is a verb more often than a language.
    """
    named = kinds.members({term.text for term in terms})
    found: dict[str, list[Term]] = {}
    if not named:
        return found
    weights = {term.text: term.weight for term in terms}
    rarest = rarity(count, 1)
    for name, members in named.items():
        marks = ",".join("?" * len(members))
        rows = db.execute(
            f"SELECT term, t, df FROM terms WHERE term IN ({marks}) AND df BETWEEN 1 AND ?",
            [*members, most_common(count)],
        ).fetchall()
        if rows:
            most = KIND_WEIGHT * weights[name] / rarest
            found[name] = [Term(text, n, df, most * rarity(count, df)) for text, n, df in rows]
    return found


def normal(text: str) -> str:
    """A text for the comparison of phrases: its words in lower case, without accents."""
    return " ".join(words.plain_words(text))


def rarity(count: int, df: int) -> float:
    """The weight of a term that `df` of `count` entries have: BM25's idf, never negative."""
    return math.log(1 + (count - df + 0.5) / (df + 0.5))


def _terms(db: sqlite3.Connection, count: int, wanted: dict[str, float]) -> list[Term]:
    names = list(wanted)[: MAX_TERMS * 8]
    marks = ",".join("?" * len(names))
    rows = db.execute(f"SELECT term, t, df FROM terms WHERE term IN ({marks})", names)
    found = {term: (number, df) for term, number, df in rows}
    terms = []
    for name in names:
        number, df = found.get(name, (0, 0))
        terms.append(Term(name, number, df, rarity(count, df) * wanted[name]))
        if not number and not name.startswith("@"):
            terms += _guesses(db, count, name, set(found))
    terms.sort(key=lambda term: -term.weight)
    return terms[:MAX_TERMS]


def _guesses(db: sqlite3.Connection, count: int, name: str, have: set[str]) -> list[Term]:
    """Terms that begin with one that memory does not have: "auth" for "authentication"."""
    if len(name) < _SHORTEST_GUESS or not name.isalnum():
        return []
    rows = db.execute(
        "SELECT term, t, df FROM terms WHERE term > ? AND term < ? ORDER BY df DESC LIMIT ?",
        (name, name + "\U0010ffff", _GUESSES),
    )
    weight = GUESS_WEIGHT
    return [
        Term(term, number, df, rarity(count, df) * weight)
        for term, number, df in rows
        if term not in have
    ]


def _allowed(db: sqlite3.Connection, query: Query) -> frozenset[int] | None:
    """The numbers of entries that pass the filters; None where there are no filters."""
    tests: list[str] = []
    values: list[object] = []
    for column, choice in (("kind", query.kinds), ("tier", query.tiers)):
        if choice:
            tests.append(f"{column} IN ({','.join('?' * len(choice))})")
            values += choice
    if query.session:
        tests.append("session = ?")
        values.append(query.session)
    if query.since:
        tests.append("stored >= ?")
        values.append(query.since.timestamp())
    if query.until:
        tests.append("stored < ?")
        values.append(query.until.timestamp())
    for tag in query.tags:
        tests.append("n IN (SELECT n FROM tags WHERE tag = ? OR (tag > ? AND tag < ?))")
        lowered = tag.lower()
        values += [lowered, lowered + "/", lowered + "0"]
    if not tests:
        return None
    rows = db.execute(f"SELECT n FROM docs WHERE shown AND {' AND '.join(tests)}", values)
    return frozenset(n for (n,) in rows)
